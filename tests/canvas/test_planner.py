import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canvas import (
    Calibration,
    Choice,
    InvalidQuestion,
    InvalidRead,
    Option,
    Planner,
    Question,
    QuestionMap,
    ReadOptions,
    question_digest,
)
from tests.canvas.rig import (
    PACKED,
    STATE,
    card,
    drive,
    first_batch,
    hashed,
    planner,
    predicates,
    question_sets,
    renamed,
    toy,
)


@given(question_sets, st.sampled_from(("isolated", "packed")))
def test_every_question_is_answered_in_order_with_probabilities_that_sum_to_one(
    asked: tuple[Question, ...], packing: str
) -> None:
    options = ReadOptions(packing="isolated" if packing == "isolated" else "packed", draws=3)
    decision, (batch,) = drive(planner().read(STATE, asked, options))
    assert tuple(answer.question for answer in decision.answers) == asked
    for answer in decision.answers:
        assert len(answer.distribution.probs) == answer.question.option_count
        assert sum(answer.distribution.probs) == pytest.approx(1)
        assert answer.distribution.draws == 3
        assert not answer.approximate
    assert sum(decision.questions_per_canvas) == len(asked)
    assert len(decision.questions_per_canvas) * 3 == len(batch) == decision.usage.canvases
    assert decision.usage.input_tokens == sum(len(plan.prompt_ids) for plan in batch)
    assert decision.usage.output_tokens == 3 * len(asked)


@given(question_sets, st.sampled_from(("isolated", "packed")), st.sampled_from((1, 3, "auto")))
def test_answers_do_not_depend_on_ids(asked: tuple[Question, ...], packing: str, draws: int | str) -> None:
    options = ReadOptions(
        packing="isolated" if packing == "isolated" else "packed", draws=draws if isinstance(draws, int) else "auto"
    )
    one, other = (
        drive(Planner(toy(), card()).read(STATE, questions, options))[0] for questions in (asked, renamed(asked))
    )
    assert [answer.distribution for answer in one.answers] == [answer.distribution for answer in other.answers]


@given(question_sets, st.data())
def test_isolated_answers_do_not_depend_on_neighbours_or_order(
    asked: tuple[Question, ...], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(asked))))
    together, _ = drive(planner().read(STATE, asked, ReadOptions()))
    shuffled, _ = drive(planner().read(STATE, [asked[index] for index in order], ReadOptions()))
    for place, index in enumerate(order):
        alone, _ = drive(planner().read(STATE, (asked[index],), ReadOptions()))
        assert alone.answers[0].distribution == together.answers[index].distribution
        assert shuffled.answers[place].distribution == together.answers[index].distribution


@given(question_sets)
def test_equal_requests_have_equal_plans_whatever_was_planned_before(asked: tuple[Question, ...]) -> None:
    fresh = Planner(toy(), card(), memo_entries=1)
    once = first_batch(asked, PACKED, by=fresh)
    assert first_batch(asked, PACKED, by=fresh) == once
    first_batch(predicates(5), PACKED, by=fresh)
    assert first_batch(asked, PACKED, by=fresh) == once


def test_no_questions_are_refused() -> None:
    with pytest.raises(InvalidQuestion, match="at least one question"):
        first_batch(())


def test_a_read_that_does_not_fit_its_plan_is_refused() -> None:
    with pytest.raises(InvalidRead):
        drive(planner().read(STATE, predicates(1), ReadOptions()), lambda _: ())


def test_calibration_maps_the_average_and_is_in_the_fingerprint() -> None:
    asked = predicates(2)
    fitted = Calibration("v7", {question_digest(asked[0]): QuestionMap(temperature=2.0)})
    plain, _ = drive(planner().read(STATE, asked, ReadOptions()))
    mapped, _ = drive(planner().read(STATE, asked, ReadOptions(), fitted))
    assert [answer.calibration for answer in mapped.answers] == ["v7", ""]
    odds = [p.answers[0].distribution.probs[0] / p.answers[0].distribution.probs[1] for p in (plain, mapped)]
    assert odds[1] == pytest.approx(odds[0] ** 0.5)
    assert mapped.answers[1].distribution == plain.answers[1].distribution
    assert (plain.fingerprint, mapped.fingerprint) == (planner().fingerprint(), planner().fingerprint(fitted))
    assert plain.fingerprint != mapped.fingerprint


def test_hashed_reads_are_log_probabilities() -> None:
    (plan,) = first_batch((Choice("c", "", (Option("a"), Option("b"))),))
    assert sum(math.exp(logprob) for logprob in hashed(plan)[0]) < 1
