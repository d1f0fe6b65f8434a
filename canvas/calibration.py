"""Fitted maps from read to calibrated probabilities, by question content. Knows nothing of how they were fitted."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import pairwise
from sys import float_info
from types import MappingProxyType
from typing import Final, cast

from canvas.decode import Distribution
from canvas.errors import InvalidCalibration
from canvas.fingerprint import digest
from canvas.questions import Predicate, Question

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class QuestionMap:
    """Temperature on the log-probabilities first, then, for a predicate, a monotone map of the yes probability.

    `isotonic` holds (read, calibrated) points, both rising; linear between them and level outside.
    """

    temperature: float = 1.0
    isotonic: Points = ()


@dataclass(frozen=True, slots=True)
class Calibration:
    """Maps by `question_digest`; `version` is in the fingerprint. Questions without a map stay as read."""

    version: str = ""
    maps: Mapping[str, QuestionMap] = field(default_factory=lambda: MappingProxyType({}))


NO_CALIBRATION: Final = Calibration()


def question_digest(question: Question) -> str:
    """32 hex digits of what is asked, whatever its id."""
    return digest(text.encode() for text in question.content).hex()


def calibrate(question: Question, distribution: Distribution, calibration: Calibration) -> tuple[Distribution, str]:
    """The averaged distribution, mapped, and the version that mapped it ("" where no map is for this question).

    `label_mass`, `stderr` and `agreement` stay those of the read.
    """
    fitted = calibration.maps.get(question_digest(question)) if calibration.maps else None
    if fitted is None:
        return distribution, ""
    probs = _with_temperature(distribution.probs, fitted.temperature)
    if fitted.isotonic:
        if not isinstance(question, Predicate):
            raise InvalidCalibration(f"{question_digest(question)}: isotonic is for yes/no questions alone")
        yes = _interpolate(fitted.isotonic, probs[0])
        probs = (yes, 1 - yes)
    return replace(distribution, probs=probs), calibration.version


def parse(document: Mapping[str, object]) -> Calibration:
    """`{version, maps: {question digest: {temperature?, isotonic?: [[read, calibrated], ...]}}}`, strictly."""
    _check_keys("calibration", document, ("version", "maps"))
    version = document.get("version")
    if not isinstance(version, str) or not version or not version.isprintable():
        raise InvalidCalibration("version: needs a text of printable characters")
    maps = _mapping("maps", document.get("maps"))
    return Calibration(version, MappingProxyType({key: _parse_map(key, entry) for key, entry in maps.items()}))


def _parse_map(key: str, entry: object) -> QuestionMap:
    if len(key) != len(question_digest(Predicate("", "?"))) or set(key) - set("0123456789abcdef"):
        raise InvalidCalibration(f"maps: {key!r} is no question digest of 32 hex digits")
    fields = _mapping(key, entry)
    _check_keys(key, fields, ("temperature", "isotonic"))
    temperature = _number(f"{key}.temperature", fields.get("temperature", 1.0))
    if temperature <= 0:
        raise InvalidCalibration(f"{key}.temperature: needs a number above 0, got {temperature}")
    points = _sequence(f"{key}.isotonic", fields.get("isotonic", ()))
    isotonic = tuple(_parse_point(f"{key}.isotonic[{index}]", point) for index, point in enumerate(points))
    for (x, y), (next_x, next_y) in pairwise(isotonic):
        if not (x < next_x and y <= next_y):
            raise InvalidCalibration(f"{key}.isotonic: ({next_x}, {next_y}) does not rise from ({x}, {y})")
    return QuestionMap(temperature, isotonic)


def _parse_point(where: str, point: object) -> tuple[float, float]:
    pair = [_number(where, number) for number in _sequence(where, point)]
    if len(pair) != 2 or not all(0 <= number <= 1 for number in pair):  # noqa: PLR2004 -- a point is a pair
        raise InvalidCalibration(f"{where}: needs two probabilities")
    return pair[0], pair[1]


def _number(where: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= float_info.max:
        raise InvalidCalibration(f"{where}: needs a finite number, got {value!r}")
    return float(value)


def _mapping(where: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping) or not all(
        isinstance(key, str) for key in cast("Mapping[object, object]", value)
    ):
        raise InvalidCalibration(f"{where}: needs a mapping with text keys")
    return cast("Mapping[str, object]", value)


def _sequence(where: str, value: object) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise InvalidCalibration(f"{where}: needs a list, got {value!r}")
    return cast("Sequence[object]", value)


def _check_keys(where: str, fields: Mapping[str, object], known: Sequence[str]) -> None:
    for key in fields:
        if key not in known:
            near = get_close_matches(key, known, n=1) or known
            raise InvalidCalibration(f"{where}: unknown key {key!r}; did you mean {' or '.join(map(repr, near))}?")


def _with_temperature(probs: tuple[float, ...], temperature: float) -> tuple[float, ...]:
    top = max(probs)
    weights = [(p / top) ** (1 / temperature) for p in probs]
    total = sum(weights)
    return tuple(weight / total for weight in weights)


def _interpolate(points: Points, read: float) -> float:
    above = bisect_right(points, read, key=lambda point: point[0])
    if above in (0, len(points)):
        return points[min(above, len(points) - 1)][1]
    (x, y), (next_x, next_y) = points[above - 1], points[above]
    return y + (next_y - y) * (read - x) / (next_x - x)
