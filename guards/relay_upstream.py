"""An OpenAI-compatible server, relayed byte for byte over a pooled client. Knows no verdicts."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpx

from guards.errors import UpstreamFailed
from guards.upstream import UpstreamReply, UpstreamRequest

# RFC 9110 section 7.6.1, and what no longer holds once the body has been buffered or decoded here.
_DROPPED: Final = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "content-length", "content-encoding", "server", "date", "set-cookie"}
)
# No connection could be made. Whatever fails later may already be generating, a closed connection too.
_RETRIED: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class RelayUpstream:
    """Sends what the caller sent; only the model's name changes, where the upstream's differs.

    The client is shared and closed by its owner: one pool for all models, not one for each request.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        base_url: str,
        *,
        model: str = "",
        api_key: str = "",
        timeout_s: float = 600.0,
        retries: int = 1,
    ) -> None:
        self._client = client
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._model = model
        self._headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, 10.0))
        self._retries = retries

    async def start(self) -> None:
        """Nothing to make ready: the upstream may come up after us."""

    @asynccontextmanager
    async def send(self, request: UpstreamRequest) -> AsyncGenerator[UpstreamReply]:
        reply = await self._open(request)
        try:
            headers = {name: value for name, value in reply.headers.items() if name.lower() not in _DROPPED}
            yield UpstreamReply(reply.status_code, headers, _body(reply))
        finally:
            await reply.aclose()

    async def close(self) -> None:
        """The client belongs to whoever made it."""

    async def _open(self, request: UpstreamRequest) -> httpx.Response:
        body = request.body
        if self._model and request.fields.get("model") != self._model:
            body = json.dumps({**request.fields, "model": self._model}, ensure_ascii=False).encode(
                "utf-8", "surrogatepass"
            )
        headers = {
            **request.headers,
            "content-type": "application/json",
            "accept-encoding": "identity",  # so that the bytes relayed are the bytes sent
            **self._headers,
        }
        for attempt in range(self._retries + 1):
            sent = self._client.build_request("POST", self._url, content=body, headers=headers, timeout=self._timeout)
            try:
                return await self._client.send(sent, stream=True)
            except _RETRIED as error:
                if attempt == self._retries:
                    raise UpstreamFailed(f"the upstream cannot be reached: {type(error).__name__}") from error
            except httpx.TimeoutException as error:
                raise UpstreamFailed("the upstream did not answer in time", status=504) from error
            except httpx.HTTPError as error:
                raise UpstreamFailed(f"the upstream failed: {type(error).__name__}") from error
        raise AssertionError("a retry loop ends by returning or raising")


async def _body(reply: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in reply.aiter_bytes():
            yield chunk
    except httpx.TimeoutException as error:
        raise UpstreamFailed("the upstream stopped answering", status=504) from error
    except httpx.HTTPError as error:
        raise UpstreamFailed(f"the upstream broke off: {type(error).__name__}") from error
