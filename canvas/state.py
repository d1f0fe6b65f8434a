"""What is judged: text, or text with images between its parts. Knows nothing of tokens."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

JSON = None | bool | int | float | str | Sequence["JSON"] | Mapping[str, "JSON"]


@dataclass(frozen=True, slots=True)
class Image:
    """An encoded picture, not yet decoded; `media_type` is image/png or image/jpeg."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class State:
    """The judged thing, in order: texts and images."""

    parts: tuple[str | Image, ...]

    @property
    def text(self) -> str:
        """All texts, joined; images leave nothing."""
        return "".join(part for part in self.parts if isinstance(part, str))

    @property
    def images(self) -> tuple[Image, ...]:
        return tuple(part for part in self.parts if isinstance(part, Image))


def render(content: JSON) -> str:
    """A string as it is; anything else as JSON with non-ASCII kept.

    Kept because a public study saw .444 become .821 on one set when escapes were removed.
    """
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
