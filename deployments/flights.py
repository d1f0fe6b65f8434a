"""Canvases being read right now: each is computed once, however many ask, and not at all once nobody does."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from dataclasses import dataclass, field

from canvas import CanvasPlan, CanvasRead

RunMany = Callable[[Sequence[CanvasPlan]], Awaitable[Sequence[CanvasRead]]]


@dataclass(eq=False, slots=True)
class _Batch:
    """One call to the engine, and how many requests wait for it."""

    task: asyncio.Task[Sequence[CanvasRead]]
    keys: tuple[bytes, ...]
    waiters: int = field(default=0)


class Flights:
    """Single-flight by canvas. A request's own cancellation ends the engine's work only when it was the last."""

    def __init__(self, run_many: RunMany) -> None:
        self.run_many = run_many
        self._places: dict[bytes, tuple[_Batch, int]] = {}

    @property
    def in_flight(self) -> int:
        return len(self._places)

    async def run(self, keys: Sequence[bytes], plans: Sequence[CanvasPlan]) -> list[CanvasRead]:
        """Reads in the plans' order; a key names what may be shared. Raises what the engine raised."""
        fresh = {key: plan for key, plan in zip(keys, plans, strict=True) if key not in self._places}
        if fresh:
            self._depart(tuple(fresh), tuple(fresh.values()))
        places = [self._places[key] for key in keys]
        batches = {id(batch): batch for batch, _ in places}.values()
        for batch in batches:
            batch.waiters += 1
        try:
            for batch in batches:
                await asyncio.shield(batch.task)
        finally:
            for batch in batches:
                self._leave(batch)
        return [batch.task.result()[index] for batch, index in places]

    def _depart(self, keys: tuple[bytes, ...], plans: tuple[CanvasPlan, ...]) -> None:
        # A context of its own: it belongs to no request. Ray Serve cancels the calls made in a request's context when
        # that request's client leaves, and with them the reads of everybody who shares them.
        batch = _Batch(asyncio.get_running_loop().create_task(self._call(plans), context=Context()), keys)
        for index, key in enumerate(keys):
            self._places[key] = (batch, index)
        batch.task.add_done_callback(lambda _: self._land(batch))

    async def _call(self, plans: tuple[CanvasPlan, ...]) -> Sequence[CanvasRead]:
        return await self.run_many(plans)

    def _leave(self, batch: _Batch) -> None:
        batch.waiters -= 1
        if batch.waiters == 0 and not batch.task.done():
            self._land(batch)
            batch.task.cancel()

    def _land(self, batch: _Batch) -> None:
        """Forget the batch's canvases, and take its error as seen: its waiters have it, or nobody wants it."""
        for key in batch.keys:
            if self._places.get(key, (None, 0))[0] is batch:
                del self._places[key]
        if batch.task.done() and not batch.task.cancelled():
            batch.task.exception()
