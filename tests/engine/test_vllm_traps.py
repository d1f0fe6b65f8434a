"""vLLM's silent failures, provoked on engines that our checks would not have loaded, are caught read by read.

The `load` seam of VllmEngine starts engines here that `load_checked` never would.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio
from vllm.v1.engine.async_llm import AsyncLLM

from canvas import CanvasPlan, InvalidRead, Slot
from deployments.engines import vllm_engine
from deployments.engines.engine import EngineUnavailable
from deployments.engines.vllm_engine import Loader, VllmEngine, check_config, engine_arguments
from deployments.engines.vllm_settings import UnsafeEngineSettings, VllmSettings
from tests.engine.reference import Reference
from tests.engine.tiny import SINGLE_SETTINGS, TINY, TINY_SETTINGS
from tests.engine_contract import difference, hand_made_plan

pytestmark = [pytest.mark.engine, pytest.mark.asyncio(loop_scope="session")]

TOLERANCE = 1e-5


def unsafe(**values: int) -> Loader:
    """Loads what was asked for with other values, and checks nothing."""

    def load(settings: VllmSettings) -> AsyncLLM:
        return AsyncLLM.from_engine_args(replace(engine_arguments(settings), **values))

    return load


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def engine() -> AsyncIterator[VllmEngine]:
    """It runs 8 canvases of 64 in steps of 300 tokens and takes 256 in all, and believes neither (READING, 1 and 2)."""
    trapped = VllmEngine(SINGLE_SETTINGS, unsafe(max_num_seqs=8, max_num_batched_tokens=300, max_model_len=256))
    await trapped.start()
    yield trapped
    await trapped.close()


CROWDS = 10
"""Whether a step cuts a canvas depends on which requests have arrived by then: one crowd in several goes through."""


def crowd(engine: VllmEngine, first: int) -> list[CanvasPlan]:
    """More wide canvases than a step of 300 tokens holds, at prompts of many lengths, new for each `first`."""
    return [
        hand_made_plan(engine.card, first + number, prompt_tokens=20 + 7 * number, width_tokens=64, slots=4)
        for number in range(24)
    ]


@pytest.mark.parametrize("needed", ["all rows", "the first rows"])
async def test_a_canvas_that_the_token_budget_cuts_is_an_invalid_read(engine: VllmEngine, needed: str) -> None:
    reference, refused = Reference(TINY), list[BaseException]()
    for number in range(CROWDS):
        plans = crowd(engine, 1000 * (number + 1))
        if needed == "the first rows":  # which come in one delta, wrong, from an engine asked for no more than them
            plans = [replace(plan, slots=(Slot(2, plan.slots[0].label_ids),), digest=b"") for plan in plans]
        outcomes = await asyncio.gather(*(engine.run(plan) for plan in plans), return_exceptions=True)
        for plan, outcome in zip(plans, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                refused.append(outcome)
            else:
                assert difference(outcome, reference.read(plan)) < TOLERANCE
        if refused:
            break
    assert refused, "no canvas was cut: the trap is gone, or was not provoked"
    assert all(isinstance(error, InvalidRead) and "cut" in str(error) for error in refused)


async def test_a_cut_canvas_is_seen_even_when_its_deltas_were_merged_on_the_way(engine: VllmEngine) -> None:
    # vLLM merges the deltas of a read whose reader is late: then only the times of its first and last token differ.
    llm = engine._running()

    async def deltas(plan: CanvasPlan) -> list[vllm_engine.RequestOutput]:
        prompt = vllm_engine.tokens_input(list(plan.prompt_ids))
        return await vllm_engine._deltas(plan, prompt, f"merged-{plan.digest.hex()}", llm)

    cut = 0
    for number in range(CROWDS):
        plans = crowd(engine, 100_000 + 1000 * number)
        for plan, outputs in zip(plans, await asyncio.gather(*map(deltas, plans)), strict=True):
            if len(outputs) > 1:
                cut += 1
                first, *others = outputs
                for other in others:
                    first.add(other, aggregate=True)
                with pytest.raises(InvalidRead, match="cut"):
                    vllm_engine._checked(plan, [first])
        if cut:
            break
    assert cut


async def test_a_prompt_beyond_the_engines_length_gives_fewer_rows_and_is_an_invalid_read(engine: VllmEngine) -> None:
    plan = hand_made_plan(engine.card, 800, prompt_tokens=230, width_tokens=64)
    with pytest.raises(InvalidRead, match="rows"):
        await engine.run(plan)


async def test_an_engine_whose_steps_are_too_small_does_not_start() -> None:
    trapped = VllmEngine(replace(TINY_SETTINGS, max_num_seqs=8), unsafe(max_num_batched_tokens=300))
    with pytest.raises(EngineUnavailable, match="cut"):
        await trapped.start()


async def test_a_configuration_that_vllm_rewrote_is_refused_before_loading() -> None:
    # 128 sequences or more become 8 (trap 3).
    config = replace(
        engine_arguments(TINY_SETTINGS), max_num_seqs=200, max_num_batched_tokens=16_384
    ).create_engine_config()
    with pytest.raises(UnsafeEngineSettings, match="max_num_seqs from 16 to 8"):
        check_config(config, TINY_SETTINGS)


async def test_an_argument_that_vllm_does_not_know_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnsafeEngineSettings, match=r"'swap_spase'.* nearest is"):
        engine_arguments(replace(TINY_SETTINGS, engine_arguments={"swap_spase": 1}))


async def test_a_checkpoint_that_is_not_there_does_not_start_and_is_named() -> None:
    with pytest.raises(EngineUnavailable, match="nowhere"):
        await VllmEngine(replace(TINY_SETTINGS, checkpoint=TINY / "nowhere")).start()


async def test_reads_in_flight_when_the_engine_closes_fail_and_do_not_hang() -> None:
    closing = VllmEngine(SINGLE_SETTINGS)
    await closing.start()
    tasks = [asyncio.create_task(closing.run(hand_made_plan(closing.card, number))) for number in range(6)]
    await asyncio.sleep(0.01)
    await closing.close()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(outcome, EngineUnavailable | tuple) for outcome in outcomes)
    assert any(isinstance(outcome, EngineUnavailable) for outcome in outcomes)
