"""The scripted engine keeps the engine contract, and does what it is told."""

import asyncio
import math
from collections.abc import AsyncIterator

import pytest

from canvas import Image, InvalidRead
from deployments.engines.engine import Engine, EngineTimeout, EngineUnavailable
from deployments.engines.scripted_engine import SCRIPTED_CARD, ScriptedEngine
from tests.engine_contract import EngineContract, hand_made_plan


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    scripted = ScriptedEngine()
    await scripted.start()
    yield scripted
    await scripted.close()


@pytest.fixture
async def spare_engine() -> Engine:
    scripted = ScriptedEngine()
    await scripted.start()
    return scripted


class TestScriptedEngine(EngineContract):
    """The contract, without a model."""


async def _started(scripted: ScriptedEngine) -> ScriptedEngine:
    await scripted.start()
    return scripted


async def test_an_engine_that_was_never_started_refuses_reads() -> None:
    with pytest.raises(EngineUnavailable, match="start it"):
        await ScriptedEngine().run(hand_made_plan(SCRIPTED_CARD, 1))


async def test_a_scripts_probabilities_come_back_as_logprobs() -> None:
    scripted = await _started(ScriptedEngine(script=lambda _: [(0.7, 0.2)]))
    ((yes, no),) = await scripted.run(hand_made_plan(SCRIPTED_CARD, 1))
    assert math.exp(yes) == pytest.approx(0.7)
    assert math.exp(no) == pytest.approx(0.2)


async def test_a_script_may_be_certain() -> None:
    scripted = await _started(ScriptedEngine(script=lambda _: [(1.0, 0.0)]))
    assert await scripted.run(hand_made_plan(SCRIPTED_CARD, 1)) == ((0.0, -math.inf),)


@pytest.mark.parametrize("wrong", [float("nan"), 1.5])
async def test_a_script_that_gives_no_probability_is_an_invalid_read(wrong: float) -> None:
    scripted = await _started(ScriptedEngine(script=lambda _: [(wrong, 0.2)]))
    with pytest.raises(InvalidRead, match="no log-probability"):
        await scripted.run(hand_made_plan(SCRIPTED_CARD, 1))


@pytest.mark.parametrize("failure", [EngineUnavailable("gone"), EngineTimeout("late"), InvalidRead("cut")])
async def test_an_engine_told_to_fail_raises_just_that(
    failure: EngineUnavailable | EngineTimeout | InvalidRead,
) -> None:
    scripted = await _started(ScriptedEngine())
    scripted.failure = failure
    with pytest.raises(type(failure)) as caught:
        await scripted.run(hand_made_plan(SCRIPTED_CARD, 1))
    assert caught.value is failure


async def test_an_engine_told_to_fail_is_ill() -> None:
    scripted = await _started(ScriptedEngine())
    scripted.failure = EngineTimeout("late")
    with pytest.raises(EngineUnavailable, match="late"):
        await scripted.check_health()


async def test_reads_beyond_the_seats_wait_their_turn() -> None:
    scripted = await _started(ScriptedEngine(latency_s=0.02, seats=1))
    tasks = [asyncio.create_task(scripted.run(hand_made_plan(SCRIPTED_CARD, seed))) for seed in range(3)]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    assert (scripted.started_runs, scripted.finished_runs) == (3, 1)
    await asyncio.gather(*tasks)
    assert scripted.finished_runs == 3


async def test_a_cancelled_read_is_counted_and_frees_its_seat() -> None:
    scripted = await _started(ScriptedEngine(latency_s=60, seats=1))
    task = asyncio.create_task(scripted.run(hand_made_plan(SCRIPTED_CARD, 1)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    scripted.latency_s = 0
    await scripted.run(hand_made_plan(SCRIPTED_CARD, 2))
    assert (scripted.cancelled_runs, scripted.finished_runs) == (1, 1)


async def test_an_image_changes_the_hashed_read() -> None:
    scripted = await _started(ScriptedEngine())
    plan = hand_made_plan(SCRIPTED_CARD, 1)
    reads = {
        await scripted.run(
            type(plan)(
                plan.prompt_ids, plan.canvas_ids, plan.slots, plan.state_digest, images=(Image("image/png", data),)
            )
        )
        for data in (b"one", b"other")
    }
    assert len(reads) == 2
