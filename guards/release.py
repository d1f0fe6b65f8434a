"""Releases nothing before the verdict: the ASGI response of a held answer. Knows no policies and no API.

A stream's status is not sent while the answer is held, so a block can be a real HTTP error. Only when holding takes
longer than `keep_alive_s` does the stream begin, with comments that carry no text; what follows then is the outcome in
its form as events. A client that leaves takes the work, and so the upstream's, with it.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

KEEP_ALIVE_S: Final = 15.0  # proxies and load balancers commonly give up an idle connection after 60 s
KEEP_ALIVE: Final = b": keep-alive\n\n"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the caller gets: as a response, or as `events` when the stream's status has already been sent."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    events: bytes = b""


class HeldResponse(Response):
    """Runs the work and sends its outcome."""

    def __init__(
        self, work: Coroutine[None, None, Outcome], *, stream: bool, keep_alive_s: float = KEEP_ALIVE_S
    ) -> None:
        super().__init__()
        self._work = work
        self._stream = stream
        self._keep_alive_s = keep_alive_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 (ASGI's signature)
        working = asyncio.ensure_future(self._send(send))
        leaving = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                working.result()
        finally:
            for task in (working, leaving):
                task.cancel()
            await asyncio.gather(working, leaving, return_exceptions=True)

    async def _send(self, send: Send) -> None:
        held = asyncio.ensure_future(self._work)
        try:
            if not self._stream or (await asyncio.wait((held,), timeout=self._keep_alive_s))[0]:
                outcome = await held
                await _start(send, outcome.status, {**outcome.headers, "content-length": str(len(outcome.body))})
                await send({"type": "http.response.body", "body": outcome.body})
                return
            await _start(send, 200, {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"})
            while not held.done():
                await send({"type": "http.response.body", "body": KEEP_ALIVE, "more_body": True})
                await asyncio.wait((held,), timeout=self._keep_alive_s)
            outcome = await held
            await send({"type": "http.response.body", "body": outcome.events})
        finally:
            held.cancel()
            await asyncio.gather(held, return_exceptions=True)


async def _start(send: Send, status: int, headers: Mapping[str, str]) -> None:
    raw = [(name.lower().encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
