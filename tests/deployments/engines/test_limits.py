"""What no engine is sent, and what none may return."""

import math
from dataclasses import replace

import pytest

from canvas import CanvasPlan, Image, InvalidRead, InvalidState, Slot
from deployments.engines.limits import check_plan, check_read
from deployments.engines.scripted_engine import SCRIPTED_CARD
from tests.engine_contract import hand_made_plan

CARD = replace(SCRIPTED_CARD, name="model", vocab_size=1000, canvas_tokens=32, context_tokens=100, takes_images=False)
PLAN = hand_made_plan(CARD, 1, slots=2)


def changed(
    *,
    prompt_ids: tuple[int, ...] = PLAN.prompt_ids,
    canvas_ids: tuple[int, ...] = PLAN.canvas_ids,
    slots: tuple[Slot, ...] = PLAN.slots,
    images: tuple[Image, ...] = (),
) -> CanvasPlan:
    return CanvasPlan(prompt_ids, canvas_ids, slots, PLAN.state_digest, images=images)


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        (changed(prompt_ids=()), "prompt is empty"),
        (changed(canvas_ids=(1,) * 48), "48 tokens, model serves at most 32"),
        (changed(prompt_ids=(1,) * 85), "make 101, model takes at most 100"),
        (changed(slots=()), "at least 1"),
        (changed(slots=(Slot(16, ((1,), (2,))),)), "on the canvas of 16"),
        (
            changed(slots=(Slot(0, tuple((token,) for token in range(129))),)),
            "129 label ids, model returns at most 128",
        ),
        (changed(images=(Image("image/png", b""),)), "1 images, model takes none"),
        (changed(prompt_ids=(1000,)), "token id 1000"),
        (changed(slots=(Slot(0, ((1,), (1001,))),)), "token id 1001"),
    ],
)
def test_a_plan_that_does_not_fit_names_the_limit(plan: CanvasPlan, says: str) -> None:
    with pytest.raises(InvalidState, match=says):
        check_plan(plan, CARD)


def test_a_plan_that_fits_to_the_token_passes() -> None:
    check_plan(changed(prompt_ids=(999,) * 84), CARD)


@pytest.mark.parametrize(
    ("read", "says"),
    [
        (((-1.0, -1.0),), "1 slots, the plan has 2"),
        (((-1.0, -1.0), (-1.0,)), "1 log-probabilities for 2 ids"),
        (((-1.0, math.nan), (-1.0, -1.0)), "nan is no log-probability"),
        (((-1.0, 0.1), (-1.0, -1.0)), "no log-probability"),
    ],
)
def test_a_read_that_breaks_the_plan_is_invalid(read: tuple[tuple[float, ...], ...], says: str) -> None:
    with pytest.raises(InvalidRead, match=says):
        check_read(PLAN, read)


def test_an_impossible_label_has_minus_infinity() -> None:
    read = ((-math.inf, 0.0), (-1.0, -1.0))
    assert check_read(PLAN, read) is read
