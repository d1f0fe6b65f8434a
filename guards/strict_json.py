"""Bytes to JSON values, refusing what a parser would drop or bend: repeated keys, NaN, lone surrogates, deep nests.

Knows no schema and no API. Every refusal is an InvalidJson that names the place.
"""

import json
import math
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

from canvas import JSON

MAX_DEPTH: Final = 64  # deeper than any message or schema seen; the parser itself gives up at about 1,000
_MARKS: Final = (b"\\ud", b"\\uD")  # a surrogate can only come from an escape: UTF-8 is decoded strictly

Place = tuple[str | int, ...]
_Pairs = list[tuple[str, Any]]


class InvalidJson(ValueError):
    """Where from the top down (for broken syntax: at which character), what, and a word for the kind of fault."""

    def __init__(self, place: Place, reason: str, kind: str, detail: str = "") -> None:
        at = ".".join(str(part) for part in place)
        super().__init__(f"{reason}{f' ({detail})' if detail else ''}{f' at {at}' if at else ''}")
        self.place = place
        self.reason = reason
        self.kind = kind
        self.detail = detail


class _Repeated(dict[str, Any]):
    """An object in which a key came twice: kept only until its place has been found."""

    def __init__(self, pairs: _Pairs) -> None:
        super().__init__(pairs)
        seen: set[str] = set()
        self.key = next(key for key, _ in pairs if key in seen or seen.add(key))


def parse(body: bytes, *, depth: int = MAX_DEPTH) -> JSON:
    """A caller's body, at most `depth` levels deep: whoever reads it next must not read another of two equal keys."""
    repeated: list[_Repeated] = []

    def build(pairs: _Pairs) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        repeated.append(_Repeated(pairs))
        return repeated[-1]

    value = _load(body, build, depth)
    _check(value, depth=depth, surrogates=any(mark in body for mark in _MARKS), repeated=bool(repeated))
    return value


def parse_keeping_all(body: str | bytes, *, depth: int = MAX_DEPTH) -> JSON:
    """A model's words, which we do not get to refuse for their form: every value of a repeated key is kept.

    The second stands under a key of its own, so that it is judged as well. A stream may cut a surrogate pair, and
    servers written in Python say NaN or -Infinity for a log-probability: no text hides in a number.
    """
    value = _load(body, _keep, depth, constant=float)
    _check(value, depth=depth, surrogates=False, repeated=False, finite=False)
    return value


def _keep(pairs: _Pairs) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in pairs:
        name = key
        while name in fields:
            name += " (again)"
        fields[name] = value
    return fields


def _load(
    body: str | bytes,
    build: Callable[[_Pairs], dict[str, Any]],
    depth: int,
    constant: Callable[[str], float] | None = None,
) -> JSON:
    try:
        text = body.decode() if isinstance(body, bytes) else body
        return json.loads(text, object_pairs_hook=build, parse_constant=constant or _refuse_constant)
    except UnicodeDecodeError as error:
        raise _not_json(error.start, "the body is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise _not_json(error.pos, error.msg) from error
    except RecursionError as error:
        raise _too_deep((), depth) from error
    except ValueError as error:  # an integer of more digits than Python converts, or a constant refused below
        raise _not_json(0, str(error)) from error


def _check(value: JSON, *, depth: int, surrogates: bool, repeated: bool, finite: bool = True) -> None:
    """Walk without recursion; cheap, since a body is mostly a few long strings."""
    stack: list[tuple[object, Place]] = [(value, ())]
    while stack:
        node, place = stack.pop()
        if isinstance(node, str):
            if surrogates:
                _refuse_surrogate(node, place)
        elif isinstance(node, float):
            if finite and not math.isfinite(node):
                raise InvalidJson(place, "Number is too large", "finite_number")
        elif isinstance(node, dict | list):
            if len(place) >= depth:
                raise _too_deep(place[:3], depth)
            if repeated and isinstance(node, _Repeated):
                key = _printable(node.key)
                raise InvalidJson((*place, key), f"Key {node.key!r} is given twice", "duplicate_key")
            stack.extend(_children(cast("dict[str, object] | list[object]", node), place, surrogates=surrogates))


def _children(
    node: dict[str, object] | list[object], place: Place, *, surrogates: bool
) -> Iterator[tuple[object, Place]]:
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield item, (*place, index)
        return
    for key, item in node.items():
        if surrogates:
            _refuse_surrogate(key, place)
        yield item, (*place, key)


def _refuse_surrogate(text: str, place: Place) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        reason = "String holds half of a surrogate pair, which is no character"
        raise InvalidJson(tuple(_printable(part) for part in place), reason, "string_unicode") from error


def _printable(part: str | int) -> str | int:
    return part.encode(errors="backslashreplace").decode() if isinstance(part, str) else part


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _not_json(position: int, reason: str) -> InvalidJson:
    return InvalidJson((position,), "JSON decode error", "json_invalid", reason)


def _too_deep(place: Place, depth: int) -> InvalidJson:
    return InvalidJson(place, f"JSON is nested deeper than {depth} levels", "too_deep")
