import pytest
from hypothesis import given
from hypothesis import strategies as st

from canvas import Choice, Distribution, InvalidOptions, Option, Predicate, Question, ReadOptions, Score
from canvas.draws import is_settled, is_uncertain, order
from tests.canvas.rig import choice


@given(st.integers(2, 255), st.integers(0, 15))
def test_every_draw_shows_every_option_once(options: int, draw: int) -> None:
    assert sorted(order(choice(options), draw)) == list(range(options))


@given(st.integers(2, 255), st.integers(0, 7))
def test_odd_draws_reverse_the_draw_before(options: int, pair: int) -> None:
    assert order(choice(options), 2 * pair + 1) == order(choice(options), 2 * pair)[::-1]


def test_the_first_draw_shows_options_as_given_and_later_pairs_shuffle() -> None:
    assert order(choice(9), 0) == tuple(range(9))
    assert len({order(choice(9), draw) for draw in range(16)}) == 16


@pytest.mark.parametrize("question", [Predicate("p", "?"), Score("s", "?", ("a", "b", "c"))])
def test_yes_and_no_and_levels_are_shown_up_or_down(question: Question) -> None:
    up = tuple(range(question.option_count))
    assert [order(question, draw) for draw in range(4)] == [up, up[::-1], up, up[::-1]]


def test_questions_with_the_same_options_share_the_order_whatever_they_ask() -> None:
    options = tuple(map(Option, "abcdefg"))
    assert order(Choice("x", "one", options), 4) == order(Choice("y", "two", options), 4)


@pytest.mark.parametrize(
    ("probs", "uncertain"),
    [
        ((0.99, 0.01), False),
        ((0.86, 0.14), True),  # normalised entropy .58, margin .72
        ((0.6, 0.4), True),
        ((0.62, 0.38) + (0.0,) * 200, True),  # low entropy over 202 options, margin .24
        ((1.0, 0.0), False),
    ],
)
def test_a_draw_is_uncertain_by_entropy_or_by_margin(probs: tuple[float, ...], uncertain: bool) -> None:  # noqa: FBT001
    assert is_uncertain(Distribution(probs, 1.0)) is uncertain


def test_only_several_draws_that_agree_are_settled() -> None:
    assert not is_settled(Distribution((0.6, 0.4), 1.0))
    assert not is_settled(Distribution((0.6, 0.4), 1.0, stderr=0.06, draws=2))
    assert is_settled(Distribution((0.6, 0.4), 1.0, stderr=0.05, draws=2))


@pytest.mark.parametrize("wrong", [0, -1, 17])
def test_draws_outside_their_limit_are_refused_by_name(wrong: int) -> None:
    with pytest.raises(InvalidOptions, match=f"draws: needs 1 to 16, got {wrong}"):
        ReadOptions(draws=wrong)
    with pytest.raises(InvalidOptions, match=f"max_draws: needs 1 to 16, got {wrong}"):
        ReadOptions(draws="auto", max_draws=wrong)


def test_draws_within_their_limit_are_taken() -> None:
    assert ReadOptions(draws="auto", max_draws=16).draws == "auto"
    assert ReadOptions(draws=16).draws == 16
