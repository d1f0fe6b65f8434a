"""The whole proxy over real HTTP: caller -> proxy on a port -> upstream on another port."""

import contextlib
import itertools
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field

import httpx
from fastapi import FastAPI
from starlette.requests import Request

from guards.chat_proxy import ChatProxy
from guards.chat_router import build_chat_router
from guards.policy import Policy
from guards.policy_book import PolicyBook
from guards.relay_upstream import RelayUpstream
from guards.screen import Caller, Guard
from guards.upstream import Upstream
from tests.guards.fakes import CountingMeter, FakeUpstream, ListAudit, ScriptedReader, Someone, serving

CHAT = "/v1/chat/completions"


@dataclass
class Rig:
    """`policies`' first is the default; `client` talks to the proxy."""

    client: httpx.AsyncClient
    url: str
    upstream: FakeUpstream
    reader: ScriptedReader
    audit: ListAudit = field(default_factory=ListAudit)
    meter: CountingMeter = field(default_factory=CountingMeter)

    async def chat(
        self, content: object = "Hello", headers: Mapping[str, str] | None = None, **more: object
    ) -> httpx.Response:
        body = {"model": "gpt", "messages": [{"role": "user", "content": content}], **more}
        return await self.client.post(CHAT, json=body, headers=dict(headers or {}))


def build_app(
    guard: Guard, policies: PolicyBook, upstreams: Mapping[str, Upstream], *, keep_alive_s: float = 15.0, caller: Caller
) -> FastAPI:
    async def authenticate(_: Request) -> Caller:
        return caller

    async def read_body(request: Request) -> bytes:
        return await request.body()

    ids = itertools.count()
    proxy = ChatProxy(
        guard, policies, upstreams, new_id=lambda: f"test{next(ids)}", clock_s=time.perf_counter, now_s=time.time
    )
    app = FastAPI()
    app.include_router(
        build_chat_router(
            proxy,
            authenticate=authenticate,
            read_body=read_body,
            request_id=lambda request: request.headers.get("x-request-id", "none"),
            keep_alive_s=keep_alive_s,
        )
    )
    return app


@contextlib.asynccontextmanager
async def rig(
    *policies: Policy, keep_alive_s: float = 15.0, allowed: frozenset[str] | None = None, model: str = ""
) -> AsyncGenerator[Rig]:
    upstream, reader, audit, meter = FakeUpstream(), ScriptedReader(), ListAudit(), CountingMeter()
    guard = Guard(reader, audit=audit, meter=meter, clock_s=time.perf_counter, now_s=time.time)
    book = PolicyBook({policy.name: policy for policy in policies}, policies[0].name)
    async with contextlib.AsyncExitStack() as stack:
        upstream_url = await stack.enter_async_context(serving(upstream.app))
        pool = await stack.enter_async_context(httpx.AsyncClient())
        relay = RelayUpstream(pool, f"{upstream_url}/v1", model=model, api_key="upstream-key", timeout_s=10)
        app = build_app(guard, book, {"gpt": relay}, keep_alive_s=keep_alive_s, caller=Someone(policies=allowed))
        url = await stack.enter_async_context(serving(app))
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=url, timeout=20))
        yield Rig(client, url, upstream, reader, audit, meter)
