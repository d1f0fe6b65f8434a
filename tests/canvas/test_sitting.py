import math
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canvas import (
    CanvasPlan,
    CanvasRead,
    Planner,
    Predicate,
    Question,
    ReadOptions,
    Score,
)
from tests.canvas.rig import (
    PACKED,
    STATE,
    card,
    choice,
    drive,
    favouring,
    first_batch,
    planner,
    predicates,
    question_sets,
    toy,
)


def test_option_orders_are_undone_so_that_equal_beliefs_agree() -> None:
    asked = (choice(9), Score("s", "How?", ("a", "b", "c")), Predicate("p", "Is it?"))
    for option in (0, 1):
        decision, _ = drive(
            planner().read(STATE, asked, replace(PACKED, draws=6)),
            lambda plan: favouring(option, plan),  # noqa: B023
        )
        assert [answer.top for answer in decision.answers] == [option] * 3
        assert [answer.distribution.agreement for answer in decision.answers] == [1.0] * 3


def test_the_first_option_shown_is_always_a() -> None:
    (letter,) = toy().encode("A")
    for plan in first_batch((choice(5),), ReadOptions(draws=6)):
        text = toy().decode(plan.prompt_ids)
        shown = int(text[text.index("   A: c ") + 8])
        assert letter in plan.slots[0].label_ids[shown]


@settings(max_examples=40)
@given(st.integers(2, 255), st.sampled_from((1, 2)), st.sampled_from((16, 64, 128)))
def test_choices_of_2_to_255_options_are_read(options: int, draws: int, max_label_ids: int) -> None:
    by = Planner(toy(), card(max_label_ids=max_label_ids))
    decision, batches = drive(by.read(STATE, (choice(options),), ReadOptions(draws=draws)))
    (answer,) = decision.answers
    assert len(answer.distribution.probs) == options
    assert sum(answer.distribution.probs) == pytest.approx(1)
    assert answer.approximate == (options > max_label_ids)
    assert len(batches) == 1 + answer.approximate
    assert all(len(plan.token_ids) <= max_label_ids for batch in batches for plan in batch)


@pytest.mark.parametrize(
    ("options", "sizes"), [(128, []), (129, [65, 64]), (130, [65, 65]), (200, [100, 100]), (255, [128, 127])]
)
def test_over_128_options_are_two_even_brackets_on_canvases_of_their_own(options: int, sizes: list[int]) -> None:
    decision, batches = drive(planner().read(STATE, (choice(options),), PACKED))
    assert [len(plan.slots[0].label_ids) for plan in batches[0]] == (sizes or [options])
    assert [len(plan.slots[0].label_ids) for batch in batches[1:] for plan in batch] == ([2] if sizes else [])
    assert decision.questions_per_canvas == (1,) * max(1, len(sizes))
    assert decision.usage.output_tokens == len(sizes) + 1


@pytest.mark.parametrize("option", [0, 130, 254])
def test_brackets_find_the_option_that_wins_everywhere(option: int) -> None:
    question = choice(255)
    wanted = f"c {option}"

    def knowing(plan: CanvasPlan) -> CanvasRead:
        lines = toy().decode(plan.prompt_ids).splitlines()
        labels = [line.split(":")[0].strip() for line in lines if line.endswith(f": {wanted}")]
        ids = {token for label in labels for token in (*toy().encode(label), *toy().encode(f" {label}"))}
        (slot,) = plan.slots
        return (tuple(math.log(0.4) if token in ids else -12.0 for token in slot.token_ids),)

    decision, batches = drive(planner().read(STATE, (question, *predicates(1)), replace(PACKED, draws=2)), knowing)
    assert decision.answers[0].top == option
    assert decision.answers[0].approximate
    assert not decision.answers[1].approximate
    assert decision.answers[0].distribution.probs[option] > 0.99
    assert decision.questions_per_canvas == (1, 1, 1)
    assert [len(batch) for batch in batches] == [6, 2]


def test_each_draw_turns_the_final_as_it_turns_the_brackets() -> None:
    _, (_, finals) = drive(planner().read(STATE, (choice(200),), ReadOptions(draws=2)), lambda plan: favouring(0, plan))
    shown = [re.findall(r"   [AB]: (c [0-9]+)", toy().decode(plan.prompt_ids)) for plan in finals]
    assert shown == [["c 0", "c 100"], ["c 100", "c 0"]]


def test_auto_reads_once_what_is_certain() -> None:
    decision, batches = drive(
        planner().read(STATE, predicates(6), replace(PACKED, draws="auto")), lambda plan: favouring(0, plan)
    )
    assert [len(batch) for batch in batches] == [1]
    assert all(answer.distribution.draws == 1 for answer in decision.answers)


def test_auto_rereads_alone_what_is_uncertain_until_it_is_settled() -> None:
    def torn(plan: CanvasPlan) -> CanvasRead:
        """Unsure of the third question while packed, and of two minds about nothing when alone."""
        if len(plan.slots) == 1:
            return favouring(1, plan)
        reads = list(favouring(0, plan))
        reads[2] = tuple(math.log(0.2) for _ in reads[2])
        return tuple(reads)

    auto = ReadOptions(packing="packed", draws="auto", max_draws=8)
    decision, batches = drive(planner().read(STATE, predicates(6), auto), torn)
    draws = [answer.distribution.draws for answer in decision.answers]
    assert draws[:2] + draws[3:] == [1] * 5
    assert draws[2] == 8  # .5 and then .999 seven times: the standard error stays at .0625
    assert [len(batch) for batch in batches] == [1] * 8
    assert len({plan.canvas_ids[0] for batch in batches[1:] for plan in batch}) > 1
    assert decision.questions_per_canvas == (6,)
    assert decision.usage.canvases == 8


def test_auto_stops_when_the_draws_agree() -> None:
    def unsure(plan: CanvasPlan) -> CanvasRead:
        return tuple(tuple(math.log(0.2) for _ in slot.token_ids) for slot in plan.slots)

    decision, batches = drive(planner().read(STATE, predicates(1), ReadOptions(draws="auto", max_draws=9)), unsure)
    assert len(batches) == 2
    assert decision.answers[0].distribution.draws == 2


def test_auto_with_one_draw_at_most_never_rereads() -> None:
    _, batches = drive(planner().read(STATE, predicates(9), ReadOptions(draws="auto", max_draws=1)))
    assert len(batches) == 1


def test_auto_rereads_brackets_with_their_final() -> None:
    decision, batches = drive(planner().read(STATE, (choice(200),), ReadOptions(draws="auto", max_draws=3)))
    assert decision.answers[0].approximate
    assert len(batches) == 2 * decision.answers[0].distribution.draws
    assert sum(decision.answers[0].distribution.probs) == pytest.approx(1)


@given(question_sets)
def test_any_read_is_bounded_by_its_draws(asked: tuple[Question, ...]) -> None:
    decision, batches = drive(planner().read(STATE, asked, ReadOptions(packing="packed", draws="auto", max_draws=3)))
    assert len(batches) <= 3
    assert all(answer.distribution.draws <= 3 for answer in decision.answers)
