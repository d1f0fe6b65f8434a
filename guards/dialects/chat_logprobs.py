"""The texts that log-probabilities spell: tokens, their bytes and their alternatives. Knows nothing of messages.

What stands at the same place of every token is read in one line: the chosen tokens spell the answer again, the second
alternatives another answer. Every line is judged unless it says what has been judged already.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from canvas import JSON
from guards.checks import Stage
from guards.dialects.chat_words import place as name_place
from guards.dialects.json_texts import leaves, unknown_segments
from guards.transcript import Segment

_TOKEN: Final = "token"  # noqa: S105 (a piece of text)
_BYTES: Final = "bytes"
_LAST_BYTE: Final = 255
_NAMED: Final = frozenset({_TOKEN, _BYTES, "logprob", "top_logprobs"})


def logprobs_segments(logprobs: JSON, where: str, spoken: Sequence[str]) -> Iterator[Segment]:
    """`spoken` are the texts of the same choice. Another shape than the API's is text like any unknown field's."""
    if not isinstance(logprobs, dict):
        yield from unknown_segments(where, logprobs, Stage.RESPONSE, 0)
        return
    said = set(spoken)
    for name, entries in logprobs.items():
        lines: dict[str, list[str | bytes]] = {}
        for entry in entries if isinstance(entries, list) else [entries]:
            for place, text in _texts(entry, name_place(where, name)):
                lines.setdefault(place, []).append(text)
        for place, pieces in lines.items():
            line = "".join(piece for piece in pieces if isinstance(piece, str))
            line += b"".join(piece for piece in pieces if isinstance(piece, bytes)).decode("utf-8", "replace")
            if line and line not in said:
                said.add(line)
                yield Segment("other", place, line, Stage.RESPONSE, 0)


def _texts(value: JSON, place: str) -> Iterator[tuple[str, str | bytes]]:
    """The texts of one token's entry by their places; an object without `token` maps tokens to numbers."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for rank, inner in enumerate(value):
            yield from _texts(inner, f"{place}[{rank}]")
    elif isinstance(value, dict):
        is_entry = _TOKEN in value
        for rank, (key, inner) in enumerate(value.items()):
            if not is_entry:
                yield f"{place}[{rank}]", key
            if key == _BYTES and isinstance(inner, list):
                yield f"{place}.{_BYTES}", bytes(b for b in inner if isinstance(b, int) and 0 <= b <= _LAST_BYTE)
            elif key in _NAMED or not is_entry:
                yield from _texts(inner, name_place(place, key) if is_entry else f"{place}[{rank}]")
            else:
                yield from ((name_place(place, key), f"{text}\n") for text in (key, *leaves(inner)))
