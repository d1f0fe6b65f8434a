"""Every string and key of a chat body, for exact rules: also what no reader is shown. Knows no verdicts.

Strings that stand at the same place are joined in their order, since a stream may cut a text anywhere and number
nothing; and, where they may be texts of their own, looked at one by one as well.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from canvas import JSON
from guards.checks import Stage
from guards.dialects.chat_words import KEYS, VALUES, place
from guards.dialects.json_texts import METADATA
from guards.transcript import Detail

_CALLS: Final = frozenset({"tool_calls", "function_call"})
# Lists whose items a stream continues from chunk to chunk: their pieces are parts of words, no texts of their own.
_CONTINUED: Final = frozenset(
    {"choices", "content", "tool_calls", "thinking", "thinking_blocks", "reasoning_details", "comments"}
)
_PICTURES: Final = ("data:image/png;base64,iVBORw0KGgo", "data:image/jpeg;base64,/9j/")  # their first bytes, encoded


class ChatDetails:
    """Takes bodies or chunks; gives what they hold. `choices` is how many were asked for: with one, none is told apart.

    `streamed`: what is taken are chunks, whose strings continue those of the chunks before.
    """

    def __init__(self, stage: Stage, *, streamed: bool = False, choices: int = 1) -> None:
        self._stage = stage
        self._streamed = streamed
        self._choices = choices
        self._strings: dict[str, _Strings] = {}
        self._keys: dict[tuple[str, Stage], None] = {}
        self._spoken: dict[str, list[str]] = {}

    def take(self, value: JSON, where: str) -> None:
        """Everything in a value that stands at `where`."""
        self._take(value, _At(where, where, alone=not self._streamed))

    def details(self) -> tuple[Detail, ...]:
        """Each place's strings together, and one by one where they may stand alone; then the keys."""
        found: list[Detail] = []
        for strings in self._strings.values():
            where, pieces, stage = strings.at.shown, strings.pieces, self._stage_of(call=strings.at.call)
            found.append(Detail(where, "".join(pieces), stage))
            if len(pieces) > 1 and strings.at.alone:
                found.append(Detail(f"{where}, each", "\n".join(dict.fromkeys(pieces)), stage))
        for where, pieces in self._spoken.items():
            if len(pieces) > 1:
                found.append(Detail(f"{where}, joined", "".join(pieces), self._stage))
        found.extend(Detail("a key", key, stage) for key, stage in self._keys)
        return tuple(detail for detail in found if detail.text not in VALUES)

    def _stage_of(self, *, call: bool) -> Stage:
        return Stage.TOOL_CALL if call and self._stage is Stage.RESPONSE else self._stage

    def _take(self, value: JSON, at: "_At") -> None:
        if isinstance(value, str):
            self._text(value, at)
        elif isinstance(value, Mapping):
            for key, inner in value.items():
                call = at.call or key in _CALLS
                if key not in KEYS:
                    self._keys.setdefault((key, self._stage_of(call=call)))
                if key == "logprobs" and isinstance(inner, Mapping):
                    continue  # those have a reading of their own
                metadata = at.metadata or key in METADATA or key == "error"
                raw, shown = f"{at.raw}.{key}", place(at.shown, key)
                self._take(inner, replace(at, raw=raw, shown=shown, metadata=metadata, call=call))
        elif isinstance(value, Iterable):
            name = at.raw.rpartition(".")[2]
            for item in value:
                index = item.get("index") if isinstance(item, Mapping) else None
                alone = at.alone or (index is None and name not in _CONTINUED)
                mark = f"[{index}]" if name == "choices" and self._choices > 1 else "[]"
                inner = replace(at, raw=at.raw + mark, shown=at.shown + mark, alone=alone)
                self._take(item, replace(inner, choice=inner.shown) if name == "choices" else inner)

    def _text(self, text: str, at: "_At") -> None:
        if not text or (at.metadata and text in VALUES):
            return
        if text.startswith(_PICTURES):
            text = text.partition(",")[0]  # the reader sees the picture; its bytes are no words
        strings = self._strings.get(at.raw)
        if strings is None:
            strings = self._strings[at.raw] = _Strings(replace(at, alone=at.alone or at.metadata), [])
        elif at.metadata and strings.pieces[-1] == text:
            return  # every chunk repeats it
        strings.pieces.append(text)
        if at.choice and not at.call and not at.metadata:
            self._spoken.setdefault(at.choice, []).append(text)


@dataclass(frozen=True, slots=True)
class _At:
    """A place: `raw` tells places apart, `shown` names it. `alone`: a string here may be a text of its own."""

    raw: str
    shown: str
    alone: bool
    metadata: bool = False
    call: bool = False
    choice: str = ""


@dataclass(frozen=True, slots=True)
class _Strings:
    """What stands at one place, in order."""

    at: _At
    pieces: list[str]
