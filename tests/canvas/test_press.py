import pytest
from hypothesis import given

from canvas import (
    CanvasOverflow,
    InvalidQuestion,
    Planner,
    Predicate,
    Question,
)
from tests.canvas.rig import (
    PACKED,
    STATE,
    card,
    choice,
    drive,
    first_batch,
    planner,
    predicates,
    question_sets,
    toy,
)
from tests.toy_tokenizer import make


@given(question_sets)
def test_canvases_are_multiples_of_16_with_one_pad_behind_the_end_of_turn(asked: tuple[Question, ...]) -> None:
    for plan in first_batch(asked, PACKED):
        end = plan.canvas_ids.index(106, plan.rows - 1)
        assert plan.width_tokens % 16 == 0
        assert plan.width_tokens <= 256
        assert set(plan.canvas_ids[end + 1 :]) == {0}
        assert len(plan.token_ids) <= 128
        assert all(0 <= token < toy().vocab_size for token in plan.canvas_ids)


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


def test_a_question_that_only_a_canvas_of_its_own_can_label_is_read_alone_when_packed() -> None:
    asked = (*predicates(4), choice(127), *predicates(4))
    decision, _ = drive(planner().read(STATE, asked, PACKED))
    assert decision.questions_per_canvas == (4, 1, 4)


def test_questions_that_leave_no_room_for_a_state_are_the_questions_fault() -> None:
    small = Planner(toy(), card(context_tokens=512))
    long = Predicate("long", "!" * 500)
    with pytest.raises(
        CanvasOverflow,
        match=r"question 'long': its canvas of 1 questions takes 7.. tokens with an empty state; the model takes 512",
    ):
        first_batch((*predicates(1), long), by=small)


def test_a_question_with_half_of_a_surrogate_pair_is_refused_by_name() -> None:
    with pytest.raises(InvalidQuestion, match="question 'p': its text has half of a surrogate pair"):
        first_batch((Predicate("p", "\ud800"),))


def test_a_tokenizer_without_the_labels_is_named_with_what_it_has() -> None:
    poor = Planner(make(without=frozenset({"yes"})), card())
    with pytest.raises(CanvasOverflow, match=r"question 'q0': needs 2 labels of one token each; .* 0 for yes/no"):
        first_batch(predicates(1), by=poor)


def test_a_tokenizer_that_joins_lines_is_refused_by_question() -> None:
    odd = Planner(make(first_merges=(("o", "\n"),)), card())
    with pytest.raises(CanvasOverflow, match="question 'q0'"):
        first_batch(predicates(4), PACKED, by=odd)


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


def test_questions_that_leave_just_the_room_of_an_empty_state_are_read_and_the_longest_is_named_beyond() -> None:
    asked = (choice(2, "short"), choice(2, "the longest of them"), choice(2, "middling"))
    (plan,) = first_batch(asked, PACKED, "")
    needed = len(plan.prompt_ids) + plan.width_tokens
    assert first_batch(asked, PACKED, "", Planner(toy(), card(context_tokens=needed))) == (plan,)
    with pytest.raises(CanvasOverflow, match=f"question 'the longest of them': .* takes {needed} tokens") as caught:
        first_batch(asked, PACKED, "", Planner(toy(), card(context_tokens=needed - 1)))
    assert caught.value.question_id == "the longest of them"
