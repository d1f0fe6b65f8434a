from itertools import pairwise
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canvas import (
    NO_CALIBRATION,
    Calibration,
    Distribution,
    InvalidCalibration,
    Option,
    Predicate,
    QuestionMap,
    Score,
    parse_calibration,
    question_digest,
)
from canvas.calibration import calibrate
from canvas.questions import Choice

ASKED = Predicate("any id", "Is it?")
KEY = question_digest(ASKED)
READ = Distribution((0.8, 0.2), 0.9)


def fitted(**fields: object) -> Calibration:
    return parse_calibration({"version": "v1", "maps": {KEY: fields}})


def test_without_a_map_the_read_stays_as_it_is() -> None:
    assert calibrate(ASKED, READ, NO_CALIBRATION) == (READ, "")
    assert calibrate(Predicate("p", "Another?"), READ, fitted(temperature=2)) == (READ, "")


def test_the_map_follows_what_is_asked_and_not_its_id() -> None:
    assert question_digest(Predicate("x", "a")) == question_digest(Predicate("y", "a"))
    assert question_digest(Predicate("x", "a")) != question_digest(Predicate("x", "a", yes="b"))
    assert question_digest(Choice("x", "", (Option("a"), Option("b")))) != question_digest(Score("x", "", ("a", "b")))


def test_temperature_flattens_the_log_probabilities() -> None:
    found, version = calibrate(ASKED, READ, fitted(temperature=2))
    assert found.probs == pytest.approx((2 / 3, 1 / 3))  # the square root of 4 to 1
    assert (found.label_mass, version) == (0.9, "v1")


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12).filter(lambda xs: sum(xs) > 0.1), st.floats(0.05, 20))
def test_any_temperature_keeps_a_distribution_and_its_order(weights: list[float], temperature: float) -> None:
    probs = tuple(weight / sum(weights) for weight in weights)
    score = Score("s", "", tuple(map(str, range(2))))
    maps = {question_digest(score): QuestionMap(temperature)}
    found, _ = calibrate(score, Distribution(probs, 1.0), Calibration("v", maps))
    assert sum(found.probs) == pytest.approx(1)
    ranks = sorted(range(len(probs)), key=lambda index: probs[index])
    assert all(found.probs[low] <= found.probs[high] for low, high in pairwise(ranks))


@pytest.mark.parametrize(
    ("read", "calibrated"), [(0.0, 0.1), (0.2, 0.1), (0.4, 0.3), (0.6, 0.5), (0.7, 0.7), (0.8, 0.9), (1.0, 0.9)]
)
def test_isotonic_is_linear_between_its_points_and_level_outside(read: float, calibrated: float) -> None:
    found, _ = calibrate(
        ASKED, Distribution((read, 1 - read), 1.0), fitted(isotonic=[[0.2, 0.1], [0.6, 0.5], [0.8, 0.9]])
    )
    assert found.probs == pytest.approx((calibrated, 1 - calibrated))


def test_isotonic_follows_temperature() -> None:
    found, _ = calibrate(ASKED, READ, fitted(temperature=2, isotonic=[[0, 0], [1, 0.5]]))
    assert found.probs == pytest.approx((1 / 3, 2 / 3))


def test_isotonic_on_a_choice_is_refused() -> None:
    score = Score("s", "", ("a", "b"))
    found = Calibration("v", {question_digest(score): QuestionMap(isotonic=((0.0, 0.0), (1.0, 1.0)))})
    with pytest.raises(InvalidCalibration, match="isotonic is for yes/no questions alone"):
        calibrate(score, READ, found)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"version": "v", "map": {}}, "unknown key 'map'; did you mean 'maps'"),
        ({"version": "v", "zzz": {}}, "unknown key 'zzz'; did you mean 'version' or 'maps'"),
        ({"maps": {}}, "version: needs a text"),
        ({"version": "", "maps": {}}, "version: needs a text"),
        ({"version": "v\ud800", "maps": {}}, "version: needs a text of printable characters"),
        ({"version": "v"}, "maps: needs a mapping"),
        ({"version": "v", "maps": {1: {}}}, "maps: needs a mapping"),
        ({"version": "v", "maps": {"abc": {}}}, "'abc' is no question digest"),
        ({"version": "v", "maps": {"Z" * 32: {}}}, "is no question digest"),
        ({"version": "v", "maps": {KEY: []}}, f"{KEY}: needs a mapping"),
        ({"version": "v", "maps": {KEY: {"temprature": 1}}}, "unknown key 'temprature'; did you mean 'temperature'"),
        ({"version": "v", "maps": {KEY: {"temperature": 0}}}, "needs a number above 0"),
        ({"version": "v", "maps": {KEY: {"temperature": True}}}, "needs a finite number, got True"),
        ({"version": "v", "maps": {KEY: {"temperature": "2"}}}, "needs a finite number, got '2'"),
        ({"version": "v", "maps": {KEY: {"temperature": inf}}}, "needs a finite number, got inf"),
        ({"version": "v", "maps": {KEY: {"temperature": nan}}}, "needs a finite number, got nan"),
        ({"version": "v", "maps": {KEY: {"temperature": 10**400}}}, "needs a finite number, got 1000"),
        ({"version": "v", "maps": {KEY: {"isotonic": "ab"}}}, "needs a list"),
        ({"version": "v", "maps": {KEY: {"isotonic": [[0.1]]}}}, r"isotonic\[0\]: needs two probabilities"),
        ({"version": "v", "maps": {KEY: {"isotonic": [[0, 1.1]]}}}, r"isotonic\[0\]: needs two probabilities"),
        ({"version": "v", "maps": {KEY: {"isotonic": [[0.5, 0], [0.5, 1]]}}}, "does not rise"),
        ({"version": "v", "maps": {KEY: {"isotonic": [[0, 0.5], [1, 0.4]]}}}, "does not rise"),
    ],
)
def test_a_malformed_map_is_refused_and_named(document: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidCalibration, match=message):
        parse_calibration(document)


def test_an_empty_entry_is_the_identity() -> None:
    found, version = calibrate(ASKED, READ, fitted())
    assert found.probs == pytest.approx(READ.probs)
    assert version == "v1"
