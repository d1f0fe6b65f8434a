import pytest
from hypothesis import given
from hypothesis import strategies as st

from canvas import CanvasOverflow, Distribution
from canvas.brackets import brackets, combine, final
from tests.canvas.rig import choice

weights = st.lists(st.floats(0.001, 1), min_size=2, max_size=9)


def distribution(values: list[float], mass: float = 1.0) -> Distribution:
    return Distribution(tuple(value / sum(values) for value in values), mass)


def test_brackets_are_the_question_with_consecutive_options() -> None:
    question = choice(33)
    parts = brackets(question, 16)
    assert [part.option_count for part in parts] == [11, 11, 11]
    assert tuple(option for part in parts for option in part.options) == question.options
    assert {(part.id, part.instructions) for part in parts} == {(question.id, question.instructions)}


@pytest.mark.parametrize("limit", [0, 2, 12])
def test_brackets_that_cannot_work_name_the_question_and_the_limit(limit: int) -> None:
    with pytest.raises(CanvasOverflow, match=f"question 'c': 255 options need brackets; a slot tells {limit} apart"):
        brackets(choice(255), limit)


def test_the_final_is_among_the_winners() -> None:
    question = choice(6)
    found = final(question, brackets(question, 3), [distribution([1, 3, 2]), distribution([2, 1, 1])])
    assert found.options == (question.options[1], question.options[3])


@given(st.lists(weights, min_size=2, max_size=6), st.data())
def test_combined_brackets_sum_to_one_and_keep_every_ratio(parts: list[list[float]], data: st.DataObject) -> None:
    reads = [distribution(part, 0.9) for part in parts]
    last = distribution(data.draw(st.lists(st.floats(0.001, 1), min_size=len(parts), max_size=len(parts))), 0.8)
    found = combine(reads, last)
    assert sum(found.probs) == pytest.approx(1)
    assert found.label_mass == 0.8
    start = 0
    winners: list[float] = []
    for read in reads:
        block = found.probs[start : start + len(read.probs)]
        assert [p / sum(block) for p in block] == pytest.approx(list(read.probs))
        winners.append(max(block))
        start += len(read.probs)
    assert [p / sum(winners) for p in winners] == pytest.approx(list(last.probs))
