"""An upstream that becomes ready behind a server that already answers. Knows nothing of what it wraps."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from guards.errors import InvalidUpstream, UpstreamFailed
from guards.upstream import Upstream, UpstreamReply, UpstreamRequest


class StartingUpstream:
    """`start` begins the work and returns; a request that comes before its end waits for it.

    Importing litellm takes 4 s and more on two busy cores, and half of the APIs need none of it.
    """

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._started: asyncio.Future[None] | None = None

    async def start(self) -> None:
        self._started = asyncio.ensure_future(self._upstream.start())

    @asynccontextmanager
    async def send(self, request: UpstreamRequest) -> AsyncGenerator[UpstreamReply]:
        """As the wrapped one; raises UpstreamFailed with 503 when it could not start."""
        if self._started is None:
            raise UpstreamFailed("the upstream has not started", status=503)
        try:
            await asyncio.shield(self._started)
        except InvalidUpstream as error:
            raise UpstreamFailed(str(error), status=503) from error
        async with self._upstream.send(request) as reply:
            yield reply

    async def close(self) -> None:
        if self._started is not None:
            self._started.cancel()
            await asyncio.gather(self._started, return_exceptions=True)
        await self._upstream.close()
