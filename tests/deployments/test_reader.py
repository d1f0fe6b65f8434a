"""One read, top to bottom: cached, shared, bounded in time, cancelled with its caller."""

import asyncio
import time
from typing import Any

import pytest

from canvas import InvalidCalibration, InvalidRead, Planner, Predicate, ReadOptions, State
from canvas.fingerprint import fingerprint
from deployments.admission import Admission
from deployments.cache import MemoryCache
from deployments.engine_host import EngineHost
from deployments.engines.engine import EngineTimeout, EngineUnavailable
from deployments.engines.scripted_engine import SCRIPTED_CARD, ScriptedEngine
from deployments.metrics import Metrics
from deployments.reader import CanvasReader
from tests.toy_tokenizer import make

STATE = State(("The invoice was charged twice.",))
QUESTIONS = (Predicate("a", "Is it urgent?"), Predicate("b", "Is it about money?"))


async def reader_over(engine: ScriptedEngine, **changes: Any) -> CanvasReader:  # noqa: ANN401 - keyword arguments
    await engine.start()
    tokenizer = make()
    settings: dict[str, Any] = {"deadline_s": 5.0, **changes}
    return CanvasReader(
        Planner(tokenizer, SCRIPTED_CARD),
        EngineHost(engine, Admission(running=8, queued=100, clock=time.monotonic)),
        MemoryCache(2**20),
        Metrics(),
        fingerprint=fingerprint(SCRIPTED_CARD, tokenizer.digest),
        **settings,
    )


async def test_a_second_read_comes_from_the_cache_and_says_so() -> None:
    engine = ScriptedEngine()
    reader = await reader_over(engine)
    first = await reader.read(STATE, QUESTIONS, ReadOptions())
    second = await reader.read(STATE, QUESTIONS, ReadOptions())
    assert engine.started_runs == 2
    assert (first.usage.cached_canvases, second.usage.cached_canvases) == (0, 2)
    assert first.answers == second.answers


async def test_another_tenant_does_not_see_the_cache() -> None:
    engine = ScriptedEngine()
    reader = await reader_over(engine)
    await reader.read(STATE, QUESTIONS, ReadOptions(), tenant="a")
    await reader.read(STATE, QUESTIONS, ReadOptions(), tenant="b")
    assert engine.started_runs == 4


async def test_bypassing_the_cache_reads_again_and_keeps_nothing() -> None:
    engine = ScriptedEngine()
    reader = await reader_over(engine)
    for _ in range(2):
        await reader.read(STATE, QUESTIONS, ReadOptions(), use_cache=False)
    await reader.read(STATE, QUESTIONS, ReadOptions())
    assert engine.started_runs == 6


async def test_a_read_with_too_little_label_mass_is_not_kept() -> None:
    engine = ScriptedEngine(script=lambda plan: [[0.01, 0.01] for _ in plan.slots])
    reader = await reader_over(engine, min_label_mass=0.05)
    for _ in range(2):
        await reader.read(STATE, QUESTIONS, ReadOptions())
    assert engine.started_runs == 4


@pytest.mark.parametrize("error", [EngineUnavailable("gone"), InvalidRead("cut")])
async def test_an_error_is_not_kept(error: EngineUnavailable | InvalidRead) -> None:
    engine = ScriptedEngine()
    reader = await reader_over(engine)
    engine.failure = error
    with pytest.raises(type(error)):
        await reader.read(STATE, QUESTIONS, ReadOptions())
    engine.failure = None
    assert len((await reader.read(STATE, QUESTIONS, ReadOptions())).answers) == 2


async def test_a_read_beyond_its_deadline_is_a_timeout_and_ends_the_work() -> None:
    engine = ScriptedEngine(latency_s=30)
    reader = await reader_over(engine, deadline_s=0.05)
    with pytest.raises(EngineTimeout, match=r"longer than 0\.05 s"):
        await reader.read(STATE, QUESTIONS, ReadOptions())
    await asyncio.sleep(0.05)
    assert engine.cancelled_runs == engine.started_runs


async def test_a_callers_cancellation_ends_the_work() -> None:
    engine = ScriptedEngine(latency_s=30)
    reader = await reader_over(engine)
    reading = asyncio.create_task(reader.read(STATE, QUESTIONS, ReadOptions()))
    await asyncio.sleep(0.05)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await asyncio.sleep(0.05)
    assert engine.cancelled_runs == 2


async def test_many_identical_requests_at_once_are_one_read() -> None:
    engine = ScriptedEngine(latency_s=0.05)
    reader = await reader_over(engine)
    decisions = await asyncio.gather(*(reader.read(STATE, QUESTIONS, ReadOptions()) for _ in range(10)))
    assert engine.started_runs == 2
    assert len({decision.answers for decision in decisions}) == 1


async def test_a_calibration_that_is_not_loaded_is_refused() -> None:
    reader = await reader_over(ScriptedEngine())
    with pytest.raises(InvalidCalibration, match="not loaded"):
        await reader.read(STATE, QUESTIONS, ReadOptions(), calibration="support-1")
