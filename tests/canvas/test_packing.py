from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canvas import Predicate, Question
from canvas.packing import Fill, bracket_sizes, pack
from tests.canvas.rig import choice, predicates, question_sets


def at_most(limit: int) -> Fill:
    return lambda questions: min(limit, len(questions))


def sizes(questions: Sequence[Question], fill: Fill) -> list[int]:
    return [len(members) for members in pack(questions, fill)]


@given(question_sets, st.integers(1, 12))
def test_every_question_lands_on_exactly_one_canvas_in_order(asked: tuple[Question, ...], limit: int) -> None:
    canvases = pack(asked, at_most(limit))
    assert [index for members in canvases for index in members] == list(range(len(asked)))
    assert max(map(len, canvases)) <= limit


@given(question_sets, st.integers(1, 12))
def test_two_or_three_questions_with_two_yes_no_ones_never_share_a_canvas(
    asked: tuple[Question, ...], limit: int
) -> None:
    for members in pack(asked, at_most(limit)):
        group = sum(isinstance(asked[index], Predicate) for index in members)
        assert group < 2 or len(members) not in (2, 3)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (predicates(1), [1]),
        (predicates(2), [1, 1]),
        (predicates(3), [1, 1, 1]),
        (predicates(4), [4]),
        ((*predicates(1), choice(2)), [2]),
        ((*predicates(1), choice(2), choice(3)), [3]),
        ((*predicates(2), choice(3)), [1, 1, 1]),
    ],
)
def test_small_groups_of_yes_no_questions_are_read_alone(asked: tuple[Question, ...], expected: list[int]) -> None:
    assert sizes(asked, at_most(99)) == expected


def test_questions_are_spread_evenly_over_the_fewest_canvases() -> None:
    assert sizes(predicates(10), at_most(9)) == [5, 5]
    assert sizes(predicates(13), at_most(6)) == [5, 4, 4]


def test_an_obstacle_to_an_even_spread_does_not_cost_a_canvas() -> None:
    asked = (*[choice(2, str(index)) for index in range(6)], choice(9, "wide"))

    def fill(questions: Sequence[Question]) -> int:
        """The wide one has no room for more than one before it."""
        wide = [index for index, question in enumerate(questions) if question.option_count == 9]
        return max(wide[0], 1) if wide and wide[0] > 1 else min(6, len(questions))

    assert sizes(asked, fill) == [5, 2]


def test_a_question_that_fits_with_no_other_is_read_alone() -> None:
    assert sizes([choice(2, "a"), choice(2, "b")], lambda _: 0) == [1, 1]


@given(st.integers(2, 255), st.integers(16, 128))
def test_brackets_are_balanced_and_never_of_one(options: int, limit: int) -> None:
    found = bracket_sizes(options, limit)
    assert found is not None
    assert sum(found) == options
    assert max(found) <= limit
    assert max(found) - min(found) <= 1
    assert min(found) >= 2
    assert len(found) == -(-options // limit)


@pytest.mark.parametrize(("options", "limit"), [(255, 15), (3, 2)])
def test_brackets_that_cannot_work_are_none(options: int, limit: int) -> None:
    assert bracket_sizes(options, limit) is None
