"""How much an engine replica takes on: canvases running and canvases queued. Refuses before any work."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final

from deployments.engines.engine import Overloaded

_SMOOTHING: Final = 0.1  # an average over about the last ten canvases follows a change of load within a second


class Admission:
    """At most `running` canvases at once and `queued` more waiting; `clock` is monotonic seconds.

    The queue is here and not in Serve's router: saturated replicas behind the router's back-off ran at 42-51 % of
    ideal, behind their own semaphore at 89-98 % (measured on ray 2.60).
    """

    def __init__(self, *, running: int, queued: int, clock: Callable[[], float]) -> None:
        self._seats = asyncio.Semaphore(running)
        self._running_limit = running
        self._limit = running + queued
        self._clock = clock
        self._canvas_s = 0.05  # until the first is measured; one read on one H200 took 39-130 ms
        self.admitted = 0

    @asynccontextmanager
    async def admit(self, canvases: int) -> AsyncGenerator[None]:
        """Hold places for one call's canvases. Raises Overloaded with the time the queue needs to drain.

        A call larger than the whole limit is taken when nothing else is there: it could never be otherwise.
        """
        if self.admitted and self.admitted + canvases > self._limit:
            wait_s = self.admitted * self._canvas_s / self._running_limit
            raise Overloaded(
                f"the engine has {self.admitted} canvases in work or queued, the limit is {self._limit}",
                retry_after_s=min(max(wait_s, 0.05), 5.0),
            )
        self.admitted += canvases
        try:
            yield
        finally:
            self.admitted -= canvases

    @asynccontextmanager
    async def seat(self) -> AsyncGenerator[None]:
        """One canvas's turn at the engine."""
        async with self._seats:
            began = self._clock()
            yield
            self._canvas_s += _SMOOTHING * (self._clock() - began - self._canvas_s)
