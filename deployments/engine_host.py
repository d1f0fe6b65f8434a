"""An engine behind its admission: one call a state, one engine run a canvas. What a replica is, without Ray."""

import asyncio
from collections.abc import Sequence

from canvas import CanvasPlan, CanvasRead, ModelCard
from deployments.admission import Admission
from deployments.engines.engine import Engine


class EngineHost:
    """Runs a state's canvases together: the first failure or a cancellation cancels the rest."""

    def __init__(self, engine: Engine, admission: Admission) -> None:
        self._engine = engine
        self._admission = admission

    @property
    def card(self) -> ModelCard:
        return self._engine.card

    async def run_many(self, plans: Sequence[CanvasPlan]) -> tuple[CanvasRead, ...]:
        """Reads in the plans' order. Raises Overloaded before any work, or what the engine raised."""
        async with self._admission.admit(len(plans)):
            runs = [asyncio.ensure_future(self._run(plan)) for plan in plans]
            try:
                return tuple(await asyncio.gather(*runs))
            except BaseException:
                for run in runs:
                    run.cancel()
                await asyncio.gather(*runs, return_exceptions=True)
                raise

    async def _run(self, plan: CanvasPlan) -> CanvasRead:
        async with self._admission.seat():
            return await self._engine.run(plan)

    async def check_health(self) -> None:
        await self._engine.check_health()
