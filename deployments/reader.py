"""One read, top to bottom: plan, look up, run what is missing, decode. Knows no wire and no cluster."""

import asyncio
import math
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Protocol

from canvas import CanvasPlan, CanvasRead, Decision, InvalidCalibration, Question, ReadOptions, State
from canvas.calibration import NO_CALIBRATION
from canvas.planner import Planner
from deployments.cache import Cache, cache_key, pack_read, unpack_read
from deployments.engines.engine import EngineTimeout
from deployments.flights import Flights


class CanvasRunner(Protocol):
    """Whoever runs the canvases of one state: an engine in this process, or a replica elsewhere."""

    async def run_many(self, plans: Sequence[CanvasPlan]) -> Sequence[CanvasRead]:
        """One read a plan, in order. Raises guards.reader.ReadFailed or canvas.InvalidRead."""
        ...


class ReadMeter(Protocol):
    """Who counts canvases."""

    def canvases(self, *, read: int, cached: int) -> None: ...


class CanvasReader:
    """The Reader protocol over a planner, a cache and a runner.

    `fingerprint` names all that moves probabilities. Reads whose labels held less than `min_label_mass` are not
    kept, nor are errors. A read that takes longer than `deadline_s` is an EngineTimeout.
    """

    def __init__(
        self,
        planner: Planner,
        runner: CanvasRunner,
        cache: Cache,
        meter: ReadMeter,
        *,
        fingerprint: str,
        deadline_s: float,
        min_label_mass: float = 0.0,
    ) -> None:
        self._planner = planner
        self._cache = cache
        self._meter = meter
        self._flights = Flights(runner.run_many)
        self._fingerprint = fingerprint
        self._deadline_s = deadline_s
        self._min_label_mass = min_label_mass

    @property
    def cache_kind(self) -> str:
        return self._cache.kind

    async def read(
        self,
        state: State,
        questions: Sequence[Question],
        options: ReadOptions,
        *,
        tenant: str = "",
        use_cache: bool = True,
        calibration: str = "",
    ) -> Decision:
        """As guards.reader.Reader says."""
        if calibration:
            raise InvalidCalibration(f"calibration {calibration!r} is not loaded: this version reads uncalibrated")
        rounds = self._planner.read(state, questions, options, NO_CALIBRATION)
        try:
            async with asyncio.timeout(self._deadline_s):
                return await self._drive(rounds, tenant, use_cache=use_cache)
        except TimeoutError as error:
            raise EngineTimeout(f"the read took longer than {self._deadline_s:g} s") from error
        finally:
            rounds.close()

    async def _drive(
        self,
        rounds: Generator[tuple[CanvasPlan, ...], tuple[CanvasRead, ...], Decision],
        tenant: str,
        *,
        use_cache: bool,
    ) -> Decision:
        cached = 0
        try:
            plans = next(rounds)
            while True:
                reads, found = await self._run(plans, tenant, use_cache=use_cache)
                cached += found
                plans = rounds.send(reads)
        except StopIteration as stop:
            decision: Decision = stop.value
            return replace(decision, usage=replace(decision.usage, cached_canvases=cached))

    async def _run(
        self, plans: tuple[CanvasPlan, ...], tenant: str, *, use_cache: bool
    ) -> tuple[tuple[CanvasRead, ...], int]:
        """The reads of one round, and how many of them came from the cache."""
        key = cache_key(self._fingerprint, tenant, plans[0].state_digest)
        reads: list[CanvasRead | None] = [None] * len(plans)
        if use_cache:
            reads = await self._look_up(key, plans)
        missing = [index for index, read in enumerate(reads) if read is None]
        if missing:
            wanted = [plans[index] for index in missing]
            # A caller that bypasses the cache must not be given a read that began before it asked.
            run = self._flights.run if use_cache else self._alone
            fresh = await run([key + plan.digest for plan in wanted], wanted)
            for index, read in zip(missing, fresh, strict=True):
                reads[index] = read
            if use_cache:
                await self._keep(key, wanted, fresh)
        self._meter.canvases(read=len(missing), cached=len(plans) - len(missing))
        return tuple(read for read in reads if read is not None), len(plans) - len(missing)

    async def _alone(self, keys: Sequence[bytes], plans: Sequence[CanvasPlan]) -> list[CanvasRead]:
        apart = Flights(self._flights.run_many)
        return await apart.run(keys, plans)

    async def _look_up(self, key: bytes, plans: Sequence[CanvasPlan]) -> list[CanvasRead | None]:
        values = await self._cache.get(key, [plan.digest for plan in plans])
        return [
            unpack_read(value, plan) if value is not None else None for value, plan in zip(values, plans, strict=True)
        ]

    async def _keep(self, key: bytes, plans: Sequence[CanvasPlan], reads: Sequence[CanvasRead]) -> None:
        values = {
            plan.digest: pack_read(read)
            for plan, read in zip(plans, reads, strict=True)
            if all(sum(map(math.exp, slot)) >= self._min_label_mass for slot in read)
        }
        if values:
            await self._cache.put(key, values)
