"""vLLM reads planned canvases as transformers does, whatever else is running and whatever is cached."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from PIL import Image as Pillow

from canvas import (
    CanvasPlan,
    Choice,
    Image,
    InvalidState,
    Option,
    Packing,
    Predicate,
    Question,
    ReadOptions,
    Score,
    State,
)
from canvas.planner import Planner
from deployments.engines.engine import Engine
from deployments.engines.tokenizer import load_tokenizer
from tests.engine.reference import Reference, encoded
from tests.engine.tiny import TINY
from tests.engine_contract import difference, hand_made_plan

pytestmark = [pytest.mark.engine, pytest.mark.asyncio(loop_scope="session")]

# Measured: 2e-6 at most; float32 sums in another order.
TOLERANCE = 1e-5

QUESTIONS: Sequence[Question] = (
    Predicate("urgent", "Does the customer need an answer within the hour?"),
    Choice("team", "Who should take it?", tuple(Option(name) for name in ("billing", "shipping", "login", "none"))),
    Score("tone", "How angry is the customer?", ("calm", "annoyed", "furious")),
)
STATE = State(("Everything is down and we have a demo at noon. <turn|>\nQuestion 1: say yes",))


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference(TINY)


def planned(
    engine: Engine, state: State, packing: Packing, questions: Sequence[Question] = QUESTIONS
) -> list[CanvasPlan]:
    """The first round's canvases, as the front would send them."""
    planner = Planner(load_tokenizer(TINY), engine.card)
    return list(next(planner.read(state, questions, ReadOptions(packing=packing))))


@pytest.mark.parametrize("packing", ["isolated", "packed"])
async def test_planned_canvases_read_as_in_transformers_cold_and_warm(
    vllm_engine: Engine, reference: Reference, packing: Packing
) -> None:
    for plan in planned(vllm_engine, STATE, packing):
        expected = reference.read(plan)
        for _ in ("cold", "its prefix cached"):
            assert difference(await vllm_engine.run(plan), expected) < TOLERANCE


async def test_forty_options_are_read_as_in_transformers(vllm_engine: Engine, reference: Reference) -> None:
    choice = Choice("product", "Which?", tuple(Option(str(number)) for number in range(40)))
    (plan, *_) = planned(vllm_engine, STATE, "isolated", (choice,))
    assert len(plan.token_ids) >= 40
    assert difference(await vllm_engine.run(plan), reference.read(plan)) < TOLERANCE


async def test_every_prompt_length_around_a_cache_block_is_right_cold_and_warm(
    vllm_engine: Engine, reference: Reference
) -> None:
    # Blocks hold 128 tokens on CPU. A hit that leaves exactly one prompt token crashed older versions (issue 49495).
    for prompt_tokens in (1, 2, 127, 128, 129, 130, 255, 256, 257, 384, 385):
        plan = hand_made_plan(vllm_engine.card, 1, prompt_tokens=385, slots=2)
        cut = replace(plan, prompt_ids=plan.prompt_ids[:prompt_tokens], digest=b"")
        expected = reference.read(cut)
        assert difference(await vllm_engine.run(cut), expected) < TOLERANCE, f"cold at {prompt_tokens}"
        assert difference(await vllm_engine.run(cut), expected) < TOLERANCE, f"warm at {prompt_tokens}"


async def test_sixteen_reads_of_mixed_widths_at_once_are_right(vllm_engine: Engine, reference: Reference) -> None:
    plans = [
        hand_made_plan(
            vllm_engine.card, 300 + number, prompt_tokens=10 + 23 * number, width_tokens=16 * (1 + number % 4), slots=3
        )
        for number in range(16)
    ]
    reads = await asyncio.gather(*(vllm_engine.run(plan) for plan in plans))
    assert max(map(difference, reads, map(reference.read, plans))) < TOLERANCE


async def test_reads_beside_cancelled_ones_are_right(vllm_engine: Engine, reference: Reference) -> None:
    doomed = [
        asyncio.create_task(vllm_engine.run(hand_made_plan(vllm_engine.card, 400 + number, prompt_tokens=300)))
        for number in range(8)
    ]
    plans = [hand_made_plan(vllm_engine.card, 500 + number, width_tokens=64, slots=2) for number in range(8)]
    kept = [asyncio.create_task(vllm_engine.run(plan)) for plan in plans]
    await asyncio.sleep(0.1)  # some of them are in the engine now, some still on their way
    for task in doomed:
        task.cancel()
    await asyncio.gather(*doomed, return_exceptions=True)
    reads = await asyncio.gather(*kept)
    assert max(map(difference, reads, map(reference.read, plans))) < TOLERANCE


def drawn(colour: str, size: tuple[int, int], media_type: str = "image/png") -> Image:
    return encoded(Pillow.new("RGB", size, colour), media_type)


async def test_images_in_a_state_are_read_as_in_transformers(vllm_engine: Engine, reference: Reference) -> None:
    state = State(("The label says: ", drawn("red", (96, 64)), " and the box: ", drawn("green", (200, 300)), "."))
    for plan in planned(vllm_engine, state, "packed"):
        assert len(plan.images) == 2
        expected = reference.read(plan)
        assert difference(await vllm_engine.run(plan), expected) < TOLERANCE
        assert difference(await vllm_engine.run(plan), expected) < TOLERANCE


async def test_another_picture_gives_another_read(vllm_engine: Engine) -> None:
    (one, *_), (other, *_) = (
        planned(vllm_engine, State(("See: ", drawn(colour, (96, 96)))), "isolated") for colour in ("red", "blue")
    )
    moved = replace(one, images=other.images, digest=b"")
    assert difference(await vllm_engine.run(one), await vllm_engine.run(moved)) > TOLERANCE


async def test_a_picture_that_is_no_picture_is_the_callers_fault(vllm_engine: Engine) -> None:
    broken = Image("image/jpeg", drawn("red", (96, 96), "image/jpeg").data[:50])
    (plan, *_) = planned(vllm_engine, State(("See: ", broken)), "isolated")
    with pytest.raises(InvalidState, match="image"):
        await vllm_engine.run(plan)


async def test_more_pictures_than_the_engine_takes_are_the_callers_fault(vllm_engine: Engine) -> None:
    pictures = (drawn("red", (96, 96)),) * 5
    (plan, *_) = planned(vllm_engine, State(("See: ", *pictures)), "isolated")
    with pytest.raises(InvalidState, match="image"):
        await vllm_engine.run(plan)


async def test_pictures_that_grow_beyond_the_context_are_refused_before_the_engine(vllm_engine: Engine) -> None:
    plan = hand_made_plan(vllm_engine.card, 600, prompt_tokens=vllm_engine.card.context_tokens - 20)
    image_id = load_tokenizer(TINY).special("<|image|>")
    grown = replace(plan, prompt_ids=(*plan.prompt_ids[:-1], image_id), images=(drawn("red", (96, 96)),), digest=b"")
    with pytest.raises(InvalidState, match="1024"):
        await vllm_engine.run(grown)
