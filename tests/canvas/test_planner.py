import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canvas import (
    Calibration,
    CanvasOverflow,
    CanvasPlan,
    CanvasRead,
    Choice,
    InvalidQuestion,
    InvalidRead,
    Option,
    Planner,
    Predicate,
    Question,
    QuestionMap,
    ReadOptions,
    Score,
    State,
    StateTooLong,
    question_digest,
)
from canvas.draft import judge
from canvas.memo import DraftMemo
from canvas.press import Press
from tests.canvas.rig import card, choice, drive, first_batch, hashed, planner, predicates, question_sets, toy
from tests.toy_tokenizer import make

STATE = State(("The user is angry.",))
PACKED = ReadOptions(packing="packed")


def favouring(option: int, plan: CanvasPlan) -> CanvasRead:
    """One option is nearly sure in every slot, whichever order it is shown in."""
    return tuple(
        tuple(
            math.log(0.9 / len(group)) if index == option else -9.0
            for index, group in enumerate(slot.label_ids)
            for _ in group
        )
        for slot in plan.slots
    )


def renamed(asked: Sequence[Question]) -> tuple[Question, ...]:
    return tuple(replace(question, id=f"renamed {index}") for index, question in enumerate(asked))


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


@given(question_sets)
def test_canvases_are_multiples_of_16_with_one_pad_behind_the_end_of_turn(asked: tuple[Question, ...]) -> None:
    for plan in first_batch(asked, PACKED):
        end = plan.canvas_ids.index(106, plan.rows - 1)
        assert plan.width_tokens % 16 == 0
        assert plan.width_tokens <= 256
        assert set(plan.canvas_ids[end + 1 :]) == {0}
        assert len(plan.token_ids) <= 128
        assert all(0 <= token < toy().vocab_size for token in plan.canvas_ids)


def test_every_state_and_draw_has_its_own_noise() -> None:
    asked = predicates(20)

    def noise(plan: CanvasPlan) -> tuple[int, ...]:
        return tuple(plan.canvas_ids[slot.position] for slot in plan.slots)

    batch = first_batch(asked, replace(PACKED, draws=16))
    other = first_batch(asked, PACKED, "The user is glad.")
    assert len({noise(plan) for plan in (*batch, *other)}) == 17


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


def test_a_256_wide_canvas_holds_more_than_85_yes_no_questions() -> None:
    assert planner().capacity(Predicate("p", "Is it?")) == 201
    assert Planner(make(split_digits=False), card()).capacity(Predicate("p", "Is it?")) > 85


def test_85_questions_are_one_canvas_and_its_capacity_is_true() -> None:
    decision, _ = drive(planner().read(STATE, predicates(85), PACKED))
    assert decision.questions_per_canvas == (85,)
    full, _ = drive(planner().read(STATE, predicates(201), PACKED))
    assert full.questions_per_canvas == (201,)
    over, _ = drive(planner().read(STATE, predicates(202), PACKED))
    assert over.questions_per_canvas == (101, 101)


def test_a_narrow_canvas_takes_lines_while_they_fit_and_rows_after() -> None:
    narrow = Planner(toy(), card(canvas_tokens=64))
    (lines,), (rows,) = (first_batch(predicates(number), PACKED, by=narrow) for number in (18, 19))
    assert "one line per question" in toy().decode(lines.prompt_ids)
    assert "one row per ten questions" in toy().decode(rows.prompt_ids)
    assert max(lines.width_tokens, rows.width_tokens) <= 64


def test_a_canvas_too_narrow_for_any_answer_is_refused() -> None:
    with pytest.raises(CanvasOverflow, match="question 'q0': needs a canvas of 16, got 8"):
        first_batch(predicates(1), by=Planner(toy(), card(canvas_tokens=8)))


def test_no_questions_are_refused() -> None:
    with pytest.raises(InvalidQuestion, match="at least one question"):
        first_batch(())


def test_a_question_with_half_of_a_surrogate_pair_is_refused_by_name() -> None:
    with pytest.raises(InvalidQuestion, match="question 'p': its text has half of a surrogate pair"):
        first_batch((Predicate("p", "\ud800"),))


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


def test_questions_that_leave_no_room_for_a_state_are_the_questions_fault() -> None:
    small = Planner(toy(), card(context_tokens=512))
    long = Predicate("long", "!" * 500)
    with pytest.raises(
        CanvasOverflow,
        match=r"question 'long': its canvas of 1 questions takes 7.. tokens with an empty state; the model takes 512",
    ):
        first_batch((*predicates(1), long), by=small)


def test_a_tokenizer_without_the_labels_is_named_with_what_it_has() -> None:
    poor = Planner(make(without=frozenset({"yes"})), card())
    with pytest.raises(CanvasOverflow, match=r"question 'q0': needs 2 labels of one token each; .* 0 for yes/no"):
        first_batch(predicates(1), by=poor)


def test_a_tokenizer_that_joins_lines_is_refused_by_question() -> None:
    odd = Planner(make(first_merges=(("o", "\n"),)), card())
    with pytest.raises(CanvasOverflow, match="question 'q0'"):
        first_batch(predicates(4), PACKED, by=odd)


def test_a_question_that_only_a_canvas_of_its_own_can_label_is_read_alone_when_packed() -> None:
    asked = (*predicates(4), choice(127), *predicates(4))
    decision, _ = drive(planner().read(STATE, asked, PACKED))
    assert decision.questions_per_canvas == (4, 1, 4)


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


def test_the_memo_is_bounded_keeps_what_was_used_last_and_tokenises_a_known_set_no_more() -> None:
    press = Press.of(toy(), card())
    memo = DraftMemo(press, 2)
    kept = memo.drafts(predicates(1), "isolated", "state_first", 0)
    memo.drafts(predicates(2), "isolated", "state_first", 0)
    assert memo.drafts(renamed(predicates(1)), "isolated", "state_first", 0) is kept
    memo.drafts(predicates(1), "isolated", "state_first", 1)
    assert len(memo) == 2
    assert memo.drafts(predicates(1), "isolated", "state_first", 0) is kept


def test_a_known_question_set_costs_the_tokenizer_the_state_alone() -> None:
    class Counting:
        def __init__(self) -> None:
            self.texts: list[str] = []

        vocab_size = toy().vocab_size
        digest = toy().digest

        def encode(self, text: str) -> tuple[int, ...]:
            self.texts.append(text)
            return toy().encode(text)

        def special(self, token: str) -> int:
            return toy().special(token)

    counting = Counting()
    by = Planner(counting, card())
    first_batch(predicates(85), PACKED, by=by)
    counting.texts.clear()
    first_batch(renamed(predicates(85)), PACKED, "another state", by=by)
    assert counting.texts == ["user\n<state>\nanother state\n</state>"]


def test_a_tokenizer_of_another_family_is_refused_at_once() -> None:
    class Foreign:
        vocab_size = 1
        digest = b""

        def encode(self, text: str) -> tuple[int, ...]:
            return tuple(map(ord, text))

        def special(self, token: str) -> int:
            raise KeyError(token)

    with pytest.raises(KeyError, match="<bos>"):
        Planner(Foreign(), card())


def test_hashed_reads_are_log_probabilities() -> None:
    (plan,) = first_batch((Choice("c", "", (Option("a"), Option("b"))),))
    assert sum(math.exp(logprob) for logprob in hashed(plan)[0]) < 1
