"""A text as it would look on a screen, with the way back to the original. Knows nothing of rules.

Three evasions are undone: characters that show nothing or turn the writing direction (zero-width, bidi controls,
variation selectors, tags), compatibility forms (NFKC: full-width, mathematical and circled letters), and the Cyrillic
and Greek letters that look like Latin ones.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

MAX_MARKS: Final = 30
"""On one character, the limit of UAX 15's stream-safe text: NFKC sorts marks in quadratic time, 6 s for 64,000."""
# Invisible, yet not of category Cf: combining grapheme joiner, Hangul fillers, Khmer inherent vowels, Mongolian and
# general variation selectors (Unicode's Default_Ignorable_Code_Point).
_INVISIBLE_RANGES: Final = ((0x180B, 0x1810), (0xFE00, 0xFE10), (0xE0000, 0xE1000))
_INVISIBLE: Final = frozenset(
    chain((0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0), *(range(*ends) for ends in _INVISIBLE_RANGES))
)
# Letter for letter from Unicode's confusables (UTS 39), the Cyrillic and Greek ones that are drawn like ASCII.
_LOOKALIKE: Final = str.maketrans(
    "АВСЕНІЈКМОРЅТХҮасеіјорѕхуԁһԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧονυ",  # noqa: RUF001 (the lookalikes are the point)
    "ABCEHIJKMOPSTXYaceijopsxydhqwABEZHIKMNOPTYXovu",
)


@dataclass(frozen=True, slots=True)
class Normal:
    """`text[i]` came from `original[origins[i]]`; `ends[i]` is where its source ended."""

    text: str
    origins: tuple[int, ...]
    ends: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a non-empty span of `text` stands in the original."""
        return self.origins[start], self.ends[end - 1]


def normalise(text: str) -> Normal | None:
    """The visible form; None when it is the text itself, as for every ASCII text."""
    if text.isascii():
        return None
    pieces: list[str] = []
    origins: list[int] = []
    ends: list[int] = []
    for start, end, cluster in _clusters(text):
        piece = unicodedata.normalize("NFKC", cluster).translate(_LOOKALIKE)
        pieces.append(piece)
        origins.extend([start] * len(piece))
        ends.extend([end] * len(piece))
    visible = "".join(pieces)
    return None if visible == text else Normal(visible, tuple(origins), tuple(ends))


def _clusters(text: str) -> Iterator[tuple[int, int, str]]:
    """Each visible character with the combining marks on it, at most MAX_MARKS: what NFKC may join into one."""
    start, end, cluster = 0, 0, ""
    for index, character in enumerate(text):
        if ord(character) in _INVISIBLE or unicodedata.category(character) == "Cf":
            continue
        if cluster and unicodedata.combining(character) and len(cluster) <= MAX_MARKS:
            cluster, end = cluster + character, index + 1
            continue
        if cluster:
            yield start, end, cluster
        start, end, cluster = index, index + 1, character
    if cluster:
        yield start, end, cluster
