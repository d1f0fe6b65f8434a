"""Releases nothing before the verdict: the ASGI response of a held answer, or of one that nothing is to judge.

A stream's status is not sent while the answer is held, so a block can be a real HTTP error. Only when holding takes
longer than `keep_alive_s` does the stream begin, with comments that carry no text; what follows then is the outcome in
its form as events. A client that leaves takes the work, and so the upstream's, with it. Knows no policies and no API.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Final, assert_never

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


@dataclass(frozen=True, slots=True)
class Relay:
    """A stream that no check judges, so that there is nothing to hold it for: each piece goes as it comes.

    `close` ends the upstream's work, whether or not all pieces were taken.
    """

    status: int
    headers: Mapping[str, str]
    pieces: AsyncIterator[bytes]
    close: Callable[[], Awaitable[None]]


class HeldResponse(Response):
    """Runs the work and sends its outcome, or passes on the stream that it opened."""

    def __init__(
        self, work: Coroutine[None, None, Outcome | Relay], *, stream: bool, keep_alive_s: float = KEEP_ALIVE_S
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
            begun = self._stream and not (await asyncio.wait((held,), timeout=self._keep_alive_s))[0]
            if begun:
                events = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
                await _start(send, 200, events)
            while begun and not held.done():
                await send({"type": "http.response.body", "body": KEEP_ALIVE, "more_body": True})
                await asyncio.wait((held,), timeout=self._keep_alive_s)
            outcome = await held
            match outcome:
                case Outcome():
                    await _finish(send, outcome, begun=begun)
                case Relay():
                    if not begun:
                        await _start(send, outcome.status, outcome.headers)
                    async for piece in outcome.pieces:
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
                    await send({"type": "http.response.body", "body": b""})
                case _:
                    assert_never(outcome)
        finally:
            held.cancel()
            (result,) = await asyncio.gather(held, return_exceptions=True)
            if isinstance(result, Relay):
                await result.close()


async def _finish(send: Send, outcome: Outcome, *, begun: bool) -> None:
    if not begun:
        await _start(send, outcome.status, {**outcome.headers, "content-length": str(len(outcome.body))})
    await send({"type": "http.response.body", "body": outcome.events if begun else outcome.body})


async def _start(send: Send, status: int, headers: Mapping[str, str]) -> None:
    raw = [(name.lower().encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
