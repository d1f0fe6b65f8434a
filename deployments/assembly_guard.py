"""Settings to the guard proxy: policies, upstreams, audit, and its router. Knows nothing of Ray."""

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
from fastapi import APIRouter
from starlette.requests import Request

from deployments.bodies import read_body
from deployments.errors import BadRequest
from deployments.metrics import Metrics
from deployments.secrets import read_secret
from deployments.serving import Serving
from deployments.settings import AuditSettings, ModelSettings, PolicySettings, Settings
from deployments.starting import StartingUpstream
from guards.audit import AuditSink, FileAudit, NoAudit, StreamAudit
from guards.chat_proxy import ChatProxy
from guards.chat_router import build_chat_router
from guards.litellm_upstream import LitellmUpstream
from guards.loader import load_directory
from guards.policy_book import PolicyBook
from guards.relay_upstream import RelayUpstream
from guards.screen import Caller, Guard
from guards.upstream import Upstream

# A held completion keeps its connection for as long as the model writes, so httpx's 100 would queue callers behind slow
# answers. 1,000 and 100 are what OpenAI's own client allows itself; file descriptors run out next (two a caller).
# Idle connections are given up after 4 s: uvicorn, so vLLM, closes them after 5, and a reused one would then break.
POOL: Final = httpx.Limits(max_connections=1000, max_keepalive_connections=100, keepalive_expiry=4.0)


@dataclass(frozen=True, slots=True)
class Upstreams:
    """The models behind the proxy, and the one connection pool that they share."""

    by_name: Mapping[str, Upstream]
    client: httpx.AsyncClient

    async def start(self) -> None:
        """Raises guards.errors.InvalidUpstream."""
        for upstream in self.by_name.values():
            await upstream.start()

    async def close(self) -> None:
        for upstream in self.by_name.values():
            await upstream.close()
        await self.client.aclose()


def build_upstreams(models: Mapping[str, ModelSettings], environ: Mapping[str, str]) -> Upstreams:
    """Raises SecretMissing."""
    # No proxy and no .netrc from the environment: prompts and keys go where the settings say and nowhere else.
    # The certificate authorities still come from SSL_CERT_FILE or SSL_CERT_DIR, which private upstreams need.
    client = httpx.AsyncClient(limits=POOL, trust_env=False, verify=httpx.create_ssl_context(trust_env=True))
    return Upstreams({name: _upstream(model, client, environ) for name, model in models.items()}, client)


def _upstream(model: ModelSettings, client: httpx.AsyncClient, environ: Mapping[str, str]) -> Upstream:
    key = read_secret(model.api_key, environ) if model.api_key else ""
    if model.upstream is not None:
        return RelayUpstream(
            client,
            model.upstream,
            model=model.upstream_model or "",
            api_key=key,
            timeout_s=model.timeout_s,
            retries=model.retries,
        )
    return StartingUpstream(
        LitellmUpstream(
            model.litellm or "",
            api_key=key,
            mock_response=model.mock_response,
            timeout_s=model.timeout_s,
            retries=model.retries,
        )
    )


def load_policies(policies: PolicySettings) -> PolicyBook:
    """Raises PolicyError with file and line, or UnknownPolicy."""
    loaded = load_directory(Path(policies.directory))
    return PolicyBook(loaded, policies.default, tuple(policies.routes.items()))


def build_chat(
    settings: Settings, serving: Serving, book: PolicyBook, upstreams: Upstreams, metrics: Metrics
) -> APIRouter:
    """The route of guarded chat completions, under the server's own keys and limits."""
    guard = Guard(serving.reader, audit=_audit(settings.audit), meter=metrics, clock_s=time.monotonic, now_s=time.time)
    proxy = ChatProxy(
        guard,
        book,
        upstreams.by_name,
        new_id=lambda: uuid.uuid4().hex,
        clock_s=time.monotonic,
        now_s=time.time,
    )

    async def authenticate(request: Request) -> Caller:
        caller = serving.caller(request)
        serving.keyring.admit(caller)
        return caller

    async def body(request: Request) -> bytes:
        found = await read_body(request.headers, request.stream(), serving.limits)
        if found.parts:
            raise BadRequest("chat completions take application/json")
        return found.json

    def request_id(request: Request) -> str:
        return request.state.request_id

    return build_chat_router(proxy, authenticate=authenticate, read_body=body, request_id=request_id)


def _audit(audit: AuditSettings) -> AuditSink:
    if audit.file is not None:
        return FileAudit(Path(audit.file))
    return StreamAudit() if audit.stdout else NoAudit()
