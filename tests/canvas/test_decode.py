from math import inf, log, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canvas import CanvasPlan, CanvasRead, Distribution, InvalidRead, Slot, decode
from canvas.decode import average

PLAN = CanvasPlan((2,), (7, 106, 0), (Slot(0, ((10, 11), (12,))),), b"s")
probabilities = st.lists(st.floats(0.01, 1), min_size=2, max_size=9).map(lambda xs: tuple(x / sum(xs) for x in xs))


def test_both_forms_of_a_label_count_and_the_mass_is_theirs() -> None:
    (found,) = decode(PLAN, ((log(0.2), log(0.1), log(0.1)),))
    assert found.probs == pytest.approx((0.75, 0.25))
    assert found.label_mass == pytest.approx(0.4)
    assert (found.stderr, found.draws, found.agreement) == (0.0, 1, 1.0)


def test_labels_that_the_model_gives_nearly_nothing_still_sum_to_one() -> None:
    (found,) = decode(PLAN, ((-900.0, -900.0, -900.0),))
    assert found.probs == pytest.approx((2 / 3, 1 / 3))
    assert found.label_mass == 0.0


def test_rounding_above_one_is_no_mass() -> None:
    (found,) = decode(PLAN, ((0.0, -40.0, log(1e-5)),))
    assert found.label_mass == 1.0


@pytest.mark.parametrize(
    ("read", "message"),
    [
        ((), "0 slots for 1"),
        (((-1.0, -2.0, -3.0), (-1.0,)), "2 slots for 1"),
        (((-1.0, -2.0),), "2 log-probabilities for 3"),
        (((-1.0, nan, -2.0),), "nan is no log-probability"),
        (((-1.0, -inf, -2.0),), "-inf is no log-probability"),
        (((-1.0, 0.5, -2.0),), "0.5 is no log-probability"),
        (((-0.1, -0.1, -0.1),), "labels hold a probability of 2.7"),
    ],
)
def test_a_read_that_the_plan_cannot_decode_is_refused(read: CanvasRead, message: str) -> None:
    with pytest.raises(InvalidRead, match=message):
        decode(PLAN, read)


@given(st.lists(st.tuples(probabilities), min_size=1, max_size=5), st.integers(2, 6))
def test_averages_of_equal_draws_are_those_draws(draws: list[tuple[tuple[float, ...]]], times: int) -> None:
    once = Distribution(draws[0][0], 0.5)
    found = average([once] * times)
    assert found.probs == pytest.approx(once.probs)
    assert sum(found.probs) == pytest.approx(1)
    assert (found.stderr, found.draws, found.agreement) == (pytest.approx(0, abs=1e-9), times, 1.0)


def test_draws_are_averaged_as_probabilities_with_their_spread_and_agreement() -> None:
    found = average([Distribution((0.9, 0.1), 0.8), Distribution((0.4, 0.6), 0.6), Distribution((0.8, 0.2), 0.7)])
    assert found.probs == pytest.approx((0.7, 0.3))
    assert found.label_mass == pytest.approx(0.7)
    assert found.stderr == pytest.approx((0.07 / 3) ** 0.5)  # sample variance (.04 + .09 + .01) / 2, over 3 draws
    assert found.agreement == pytest.approx(2 / 3)


def test_one_draw_is_itself() -> None:
    once = Distribution((0.9, 0.1), 0.8)
    assert average([once]) is once
