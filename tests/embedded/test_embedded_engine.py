"""The shipped checkpoint on ONNX Runtime keeps the engine contract, and encodes a shared prefix once."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from canvas import CanvasPlan
from deployments.embedded.card_file import SHIPPED, load_card
from deployments.engines.embedded_engine import EmbeddedEngine
from deployments.engines.engine import EngineUnavailable
from tests.engine_contract import SAME_LOGPROB, EngineContract, difference, hand_made_plan


async def started(prefix_bytes: int = 2**24) -> EmbeddedEngine:
    engine = EmbeddedEngine(SHIPPED, load_card(SHIPPED), prefix_bytes=prefix_bytes)
    await engine.start()
    return engine


@pytest.fixture
async def engine() -> AsyncIterator[EmbeddedEngine]:
    engine = await started()
    yield engine
    await engine.close()


@pytest.fixture
async def spare_engine() -> AsyncIterator[EmbeddedEngine]:
    engine = await started()
    yield engine
    await engine.close()


class TestEmbeddedEngine(EngineContract):
    pass


def sharing(plan: CanvasPlan, prefix_tokens: int) -> CanvasPlan:
    return replace(plan, prefix_tokens=prefix_tokens)


@pytest.mark.parametrize("prefix_tokens", [1, 2, 17, 39, 40])
async def test_a_read_behind_a_shared_prefix_is_the_read_of_the_whole_prompt(
    engine: EmbeddedEngine, prefix_tokens: int
) -> None:
    plan = hand_made_plan(engine.card, 1, slots=3)
    whole = await engine.run(plan)
    cold = await engine.run(sharing(plan, prefix_tokens))
    warm = await engine.run(sharing(plan, prefix_tokens))
    assert cold == warm
    assert difference(whole, cold) < SAME_LOGPROB


@pytest.mark.parametrize("prompt_tokens", [1, 2, 3, 16, 17, 255, 256, 257])
async def test_every_prompt_length_is_read(engine: EmbeddedEngine, prompt_tokens: int) -> None:
    plan = hand_made_plan(engine.card, 2, prompt_tokens=prompt_tokens)
    shared = sharing(plan, prompt_tokens // 2)
    assert difference(await engine.run(plan), await engine.run(shared)) < SAME_LOGPROB


async def test_a_prefix_too_large_to_keep_is_read_all_the_same() -> None:
    engine = await started(prefix_bytes=1)
    plan = sharing(hand_made_plan(engine.card, 3), 30)
    assert await engine.run(plan) == await engine.run(plan)
    await engine.close()


async def test_equal_plans_give_equal_bytes_whatever_else_is_read(engine: EmbeddedEngine) -> None:
    plan = sharing(hand_made_plan(engine.card, 4, slots=4, width_tokens=32), 20)
    alone = await engine.run(plan)
    crowd = [engine.run(hand_made_plan(engine.card, 40 + seed)) for seed in range(8)]
    reads = await asyncio.gather(engine.run(plan), *crowd, engine.run(plan))
    assert reads[0] == alone == reads[-1]


async def test_closing_refuses_reads_that_have_not_begun() -> None:
    engine = await started()
    reads = [asyncio.create_task(engine.run(hand_made_plan(engine.card, seed))) for seed in range(64)]
    await asyncio.sleep(0)
    await engine.close()
    outcomes = await asyncio.gather(*reads, return_exceptions=True)
    assert all(isinstance(outcome, tuple | EngineUnavailable) for outcome in outcomes)
    assert any(isinstance(outcome, EngineUnavailable) for outcome in outcomes)


async def test_an_engine_that_was_not_started_says_so() -> None:
    engine = EmbeddedEngine(SHIPPED, load_card(SHIPPED))
    with pytest.raises(EngineUnavailable, match="start it first"):
        await engine.run(hand_made_plan(engine.card, 5))


async def test_a_folder_without_weights_is_unavailable_and_named(tmp_path: Path) -> None:
    engine = EmbeddedEngine(tmp_path, load_card(SHIPPED))
    with pytest.raises(EngineUnavailable, match=str(tmp_path)):
        await engine.start()
    await engine.close()


def test_a_folder_without_a_card_says_how_to_write_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="export_onnx"):
        load_card(tmp_path)
