"""What an engine replica takes on: counted in canvases, refused before any work, free again afterwards."""

import asyncio

import pytest

from canvas import CanvasPlan, InvalidRead, Slot
from deployments.admission import Admission
from deployments.engine_host import EngineHost
from deployments.engines.engine import Overloaded
from deployments.engines.scripted_engine import ScriptedEngine

PLANS = tuple(CanvasPlan((number,), (0,) * 16, (Slot(0, ((1,), (2,))),), b"s") for number in range(4))


async def host_over(engine: ScriptedEngine, *, running: int, queued: int) -> EngineHost:
    await engine.start()
    return EngineHost(engine, Admission(running=running, queued=queued, clock=lambda: 0.0))


async def test_more_canvases_than_the_limit_are_refused_with_a_time_to_come_back() -> None:
    engine = ScriptedEngine(latency_s=0.05)
    host = await host_over(engine, running=2, queued=2)
    first = asyncio.create_task(host.run_many(PLANS))
    await asyncio.sleep(0)
    with pytest.raises(Overloaded, match="limit is 4") as caught:
        await host.run_many(PLANS[:1])
    assert (caught.value.retry_after_s or 0) > 0
    assert len(await first) == 4
    assert engine.started_runs == 4
    assert len(await host.run_many(PLANS)) == 4


async def test_one_call_above_the_whole_limit_is_taken_when_nothing_else_is_there() -> None:
    host = await host_over(ScriptedEngine(), running=1, queued=0)
    assert len(await host.run_many(PLANS)) == 4


async def test_a_failure_cancels_the_calls_other_canvases_and_frees_their_places() -> None:
    def broken(plan: CanvasPlan) -> list[list[float]]:
        if plan.prompt_ids == (0,):
            raise InvalidRead("cut")
        return [[0.5, 0.5]]

    host = await host_over(ScriptedEngine(script=broken), running=1, queued=3)
    with pytest.raises(InvalidRead):
        await host.run_many(PLANS)
    assert len(await host.run_many(PLANS[1:])) == 3


async def test_a_cancelled_call_frees_its_places() -> None:
    engine = ScriptedEngine(latency_s=30)
    host = await host_over(engine, running=1, queued=3)
    call = asyncio.create_task(host.run_many(PLANS))
    await asyncio.sleep(0.01)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    engine.latency_s = 0.0
    assert len(await host.run_many(PLANS)) == 4
