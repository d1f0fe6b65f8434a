r"""A text with its escapes read: what `\u002d`, `\n`, `&#45;` and `%2D` stand for. Knows nothing of rules.

Read in the text as it stands, not by parsing: a model's JSON may be cut off, stand inside other JSON, or inside a
program. So a run of backslashes before an escape counts as one, however often the text was escaped.
"""

import html
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote

from guards.rules.copy import Copy, CopyWriter

MAX_LEVELS: Final = 4  # of escapes that hide escapes, beyond runs of backslashes: nobody's client reads even two
_ESCAPE: Final = re.compile(
    r"""(?<!\\)\\++(?:
          u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\++u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})
        | u\{(?P<braced>[0-9a-fA-F]{1,6})\} | u(?P<four>[0-9a-fA-F]{4}) | U(?P<eight>[0-9a-fA-F]{8})
        | x(?P<two>[0-9a-fA-F]{2}) | (?P<octal>[0-3]?[0-7]{1,2}) | (?P<letter>[abfnrtv"'/])
    ) | (?P<entity>&(?:\#[xX]?[0-9a-fA-F]{1,7}|[A-Za-z][A-Za-z0-9]{1,31});) | (?P<percent>(?:%[0-9a-fA-F]{2})+)""",
    re.VERBOSE,
)
_LETTERS: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_MARKS: Final = ("\\", "&", "%")
_HIDING: Final = re.compile(r"\\[uUxX0-7]")


def unescape(text: str) -> Copy | None:
    """The text with every escape read once; None when there is none."""
    if not any(mark in text for mark in _MARKS):
        return None
    writer = CopyWriter()
    position = 0
    for match in _ESCAPE.finditer(text):
        writer.add(text[position : match.start()], position, match.start())
        writer.add(_meaning(match), *match.span())
        position = match.end()
    writer.add(text[position:], position, len(text))
    return writer.copy_of(text)


def unescaped(text: str) -> Iterator[Copy]:
    """One copy a level, each of the one before it."""
    for _ in range(MAX_LEVELS):
        copy = unescape(text)
        if copy is None:
            return
        yield copy
        text = copy.text


def hides_letters(text: str) -> bool:
    """Whether letters stand in it as numbers, which a reader of the text would not see."""
    return _HIDING.search(text) is not None


def _meaning(match: re.Match[str]) -> str:
    kind, written = next((name, value) for name, value in match.groupdict().items() if value is not None)
    match kind:
        case "high":
            high, low = int(written, 16), int(match["low"], 16)
            return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
        case "letter":
            return _LETTERS.get(written, written)
        case "entity":
            return html.unescape(written)
        case "percent":
            return unquote(written, errors="replace")
        case _:
            number = int(written, 8 if kind == "octal" else 16)
            return chr(number) if number <= 0x10FFFF else match[0]  # noqa: PLR2004 (the last code point)
