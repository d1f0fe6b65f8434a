"""The texts in a JSON value, and the keys that are no text for a person. Knows no API's shapes."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from canvas import JSON
from guards.checks import Stage
from guards.transcript import Segment

METADATA: Final = frozenset(
    {"id", "object", "created", "model", "index", "role", "type", "finish_reason", "native_finish_reason"}
    | {"system_fingerprint", "service_tier", "provider", "usage", "tool_call_id", "cache_control"}
)  # keys that the APIs define as identifiers, counts or names from a fixed list


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


def without(value: JSON, keys: AbstractSet[str]) -> JSON:
    """An object less some of its fields; anything else as it is."""
    return {key: inner for key, inner in value.items() if key not in keys} if isinstance(value, Mapping) else value


def unknown_segments(where: str, value: JSON, stage: Stage | None, turn: int) -> Iterator[Segment]:
    """What a field holds that no API page tells of: its texts as one, if there are any."""
    text = "\n".join(leaves(value))
    if text:
        yield Segment("other", where, text, stage, turn)
