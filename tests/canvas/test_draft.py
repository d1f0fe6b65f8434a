from dataclasses import replace

import pytest

from canvas import (
    CanvasPlan,
    Image,
    Planner,
    State,
    StateTooLong,
)
from canvas.draft import finish, judge
from canvas.press import Press
from tests.canvas.rig import PACKED, card, first_batch, predicates, toy


def test_every_state_and_draw_has_its_own_noise() -> None:
    asked = predicates(20)

    def noise(plan: CanvasPlan) -> tuple[int, ...]:
        return tuple(plan.canvas_ids[slot.position] for slot in plan.slots)

    batch = first_batch(asked, replace(PACKED, draws=16))
    other = first_batch(asked, PACKED, "The user is glad.")
    assert len({noise(plan) for plan in (*batch, *other)}) == 17


def test_a_state_that_does_not_fit_is_refused_with_the_limit_and_what_would_fit() -> None:
    small = Planner(toy(), card(context_tokens=512))
    with pytest.raises(StateTooLong, match="exceed the model's 512; at most") as caught:
        first_batch(predicates(1), state="x " * 1000, by=small)
    room = caught.value.state_limit_tokens
    fence = len(judge(State(("!",)), toy(), card()).ids) - 1
    fits = "!" * (room - fence)
    (plan,) = first_batch(predicates(1), state=fits, by=small)
    assert len(plan.prompt_ids) + plan.width_tokens == caught.value.limit_tokens
    with pytest.raises(StateTooLong) as again:
        first_batch(predicates(1), state=fits + "!", by=small)
    assert again.value.state_tokens == room + 1


def test_template_prompt_images_and_draw_each_move_the_noise() -> None:
    seeing = card(takes_images=True)
    draft, other = (
        Press.of(toy(), seeing).drafts(asked, "packed", "state_first", 0)[0]
        for asked in (predicates(8), predicates(9)[1:])
    )
    pictures = [State(("look: ", Image("image/png", data))) for data in (b"1", b"2")]
    judged, swapped = (judge(picture, toy(), seeing) for picture in pictures)
    plans = (
        finish(draft, judged, 0, seeing),
        finish(draft, judged, 1, seeing),
        finish(draft, swapped, 0, seeing),
        finish(other, judged, 0, seeing),
        finish(replace(draft, digest=b"another template"), judged, 0, seeing),
    )
    assert plans[0] == finish(draft, judge(pictures[0], toy(), seeing), 0, seeing)
    assert len({plan.canvas_ids for plan in plans}) == len(plans)
