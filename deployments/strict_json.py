"""Bytes to JSON values, refusing what a parser would drop or bend: repeated keys, NaN, lone surrogates, deep nests.

Knows no schema. Every refusal is an InvalidBody that names the place.
"""

import json
import math
from collections.abc import Iterator
from typing import Any, Final, cast

from deployments.errors import Finding, InvalidBody, Loc


class _Repeated(dict[str, Any]):
    """An object in which a key came twice: kept only until its place has been found."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        seen: set[str] = set()
        self.key = next(key for key, _ in pairs if key in seen or seen.add(key))


_MARKS: Final = (b"\\ud", b"\\uD")  # a surrogate can only come from an escape: UTF-8 is decoded strictly


def parse_json(body: bytes, *, depth: int) -> Any:  # noqa: ANN401 - JSON is parsed at the edge, by pydantic
    """The value of a UTF-8 JSON text at most `depth` levels deep."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise _not_json(error.start, "the body is not UTF-8") from error
    repeated: list[_Repeated] = []

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        repeated.append(_Repeated(pairs))
        return repeated[-1]

    try:
        value = json.loads(text, object_pairs_hook=build, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise _not_json(error.pos, error.msg) from error
    except RecursionError as error:
        raise _too_deep(("body",), depth) from error
    except ValueError as error:  # an integer of more digits than Python converts, or a constant refused below
        raise _not_json(0, str(error)) from error
    _check(value, depth=depth, surrogates=any(mark in body for mark in _MARKS), repeated=bool(repeated))
    return value


def _check(value: object, *, depth: int, surrogates: bool, repeated: bool) -> None:
    """Walk without recursion; cheap, since a body is mostly a few long strings."""
    stack: list[tuple[object, Loc]] = [(value, ("body",))]
    while stack:
        node, loc = stack.pop()
        if isinstance(node, str):
            if surrogates:
                _refuse_surrogate(node, loc)
        elif isinstance(node, float):
            if not math.isfinite(node):
                raise InvalidBody((Finding(loc, "Number is too large", "finite_number"),))
        elif isinstance(node, dict | list):
            if len(loc) > depth:
                raise _too_deep(loc[:4], depth)
            if repeated and isinstance(node, _Repeated):
                raise InvalidBody(
                    (Finding((*loc, _printable(node.key)), f"Key {node.key!r} is given twice", "duplicate_key"),)
                )
            stack.extend(_children(cast("dict[str, object] | list[object]", node), loc, surrogates=surrogates))


def _children(node: dict[str, object] | list[object], loc: Loc, *, surrogates: bool) -> Iterator[tuple[object, Loc]]:
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield item, (*loc, index)
        return
    for key, item in node.items():
        if surrogates:
            _refuse_surrogate(key, loc)
        yield item, (*loc, key)


def _refuse_surrogate(text: str, loc: Loc) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        msg = "String holds half of a surrogate pair, which is no character"
        raise InvalidBody((Finding(tuple(_printable(part) for part in loc), msg, "string_unicode"),)) from error


def _printable(part: str | int) -> str | int:
    return part.encode(errors="backslashreplace").decode() if isinstance(part, str) else part


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _not_json(position: int, reason: str) -> InvalidBody:
    return InvalidBody((Finding(("body", position), "JSON decode error", "json_invalid", (("error", reason),)),))


def _too_deep(loc: Loc, depth: int) -> InvalidBody:
    return InvalidBody((Finding(loc, f"JSON is nested deeper than {depth} levels", "too_deep"),))
