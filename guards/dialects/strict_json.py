"""JSON whose every text can be found: no key hides another. Knows no API."""

import json
from collections.abc import Iterator
from typing import Any, Final

from canvas import JSON

MAX_DEPTH: Final = 64  # deeper than any message or schema seen; the parser itself gives up at about 1,000
METADATA: Final = frozenset(
    {"id", "object", "created", "model", "index", "role", "type", "finish_reason", "native_finish_reason"}
    | {"system_fingerprint", "service_tier", "provider", "usage", "tool_call_id", "cache_control"}
)  # keys that the APIs define as identifiers, counts or names from a fixed list: no text for a person


def refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For requests: the upstream might read the other of two equal keys. Raises ValueError."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ValueError(f"the key {twice!r} is there twice")
    return fields


def keep_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For answers: a second value of a key is kept under a key of its own, so it is judged as well."""
    fields: dict[str, Any] = {}
    for key, value in pairs:
        name = key
        while name in fields:
            name += " (again)"
        fields[name] = value
    return fields


def parse(body: str | bytes, *, requests: bool) -> JSON:
    """Raises ValueError with the reason, also for NaN, bad UTF-8 and nesting beyond MAX_DEPTH."""
    hook = refuse_duplicates if requests else keep_duplicates
    try:
        text = body.decode("utf-8") if isinstance(body, bytes) else body
        value: JSON = json.loads(text, object_pairs_hook=hook, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError(f"nested deeper than {MAX_DEPTH}") from error
    _check_depth(value, 0)
    return value


def leaves(value: JSON) -> Iterator[str]:
    """Every text in a value, with the keys that lead to one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            found = list(leaves(inner))
            if found:
                yield key
                yield from found
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)


def _no_constant(name: str) -> JSON:
    raise ValueError(f"{name} is not JSON")


def _check_depth(value: JSON, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH}")
    if isinstance(value, dict):
        for inner in value.values():
            _check_depth(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check_depth(inner, depth + 1)
