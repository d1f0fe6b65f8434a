"""A text as it would look on a screen, with the way back to the original. Knows nothing of rules.

Undone are: characters that show nothing or turn the writing direction (controls, zero-width, bidi, variation selectors,
tags), compatibility forms (NFKC: full-width, mathematical and circled letters), dashes of every kind, digits of every
script, marks that only strike a letter through, and letters of other alphabets that are drawn like Latin ones.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain
from typing import Final

from guards.rules.copy import Copy, CopyWriter

MAX_MARKS: Final = 30
"""On one character, the limit of UAX 15's stream-safe text: NFKC sorts marks in quadratic time, 6 s for 64,000."""
BACKSPACE: Final = "\x08"
_UNUSUAL: Final = re.compile(r"[^\t\n\f\r -~]+")
# Invisible, yet not of category Cf: combining grapheme joiner, Hangul fillers, Khmer inherent vowels, Mongolian and
# general variation selectors (Unicode's Default_Ignorable_Code_Point).
_INVISIBLE_RANGES: Final = ((0x180B, 0x1810), (0xFE00, 0xFE10), (0xE0000, 0xE1000))
_INVISIBLE: Final = frozenset(
    chain((0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0), *(range(*ends) for ends in _INVISIBLE_RANGES))
)
_LINE_ENDS: Final = "\x0b\x85\u2028\u2029"
_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d\u2043\u02d7\u2796"
# Letter for letter from Unicode's confusables (UTS 39): the Cyrillic, Greek and Cherokee ones that are drawn like
# ASCII, and the small capitals.
_LOOKALIKE: Final = str.maketrans(
    "АВСЕНІЈКМОРЅТХҮасеіјорѕхуԁһԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧονυ"  # noqa: RUF001 (the lookalikes are the point)
    "ᎠᎡᎢᎥᎩᎪᎫᎬᎳᎷᎻᏀᏃᏎᏏᏒᏔᏕᏙᏚᏞᏟᏢᏦᏴ"  # noqa: RUF001
    "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıɡ"
    f"{_LINE_ENDS}{_DASHES}",
    "ABCEHIJKMOPSTXYaceijopsxydhqwABEZHIKMNOPTYXovu"
    "DRTiyAJEWMHGZ4bRWSVSLCPKB"
    "ABCDEFGHIJKLMNOPRSTUVWYZig"
    f"{len(_LINE_ENDS) * chr(10)}{len(_DASHES) * '-'}",
)


def normalise(text: str) -> Copy | None:
    """The visible form; None when it is the text itself, as for every printable ASCII text."""
    writer = CopyWriter()
    position = 0
    for run in _UNUSUAL.finditer(text):
        base = max(run.start() - 1, position)  # the character before may bear the marks that follow
        writer.add(text[position:base], position, base)
        for start, end, cluster in _clusters(text, base, run.end()):
            writer.add(_visible(cluster), start, end)
        position = run.end()
    if position == 0:
        return None
    writer.add(text[position:], position, len(text))
    return writer.copy_of(text)


def erase(text: str) -> Copy | None:
    """What a terminal shows, where a backspace takes the character before it away; None without one."""
    if BACKSPACE not in text:
        return None
    kept: list[int] = []
    for index, character in enumerate(text):
        if character != BACKSPACE:
            kept.append(index)
        elif kept:
            kept.pop()
    writer = CopyWriter()
    for index in kept:
        writer.add(text[index], index, index + 1)
    return writer.copy_of(text)


def _clusters(text: str, first: int, last: int) -> Iterator[tuple[int, int, str]]:
    """Each visible character with the combining marks on it, at most MAX_MARKS: what NFKC may join into one."""
    start, end, cluster = 0, 0, ""
    for index in range(first, last):
        character = text[index]
        if ord(character) in _INVISIBLE or (_silent(character) and character not in _LINE_ENDS):
            continue
        if cluster and unicodedata.combining(character) and len(cluster) <= MAX_MARKS:
            cluster, end = cluster + character, index + 1
            continue
        if cluster:
            yield start, end, cluster
        start, end, cluster = index, index + 1, character
    if cluster:
        yield start, end, cluster


def _silent(character: str) -> bool:
    return (
        not " " <= character <= "~" and character not in "\t\n\f\r" and unicodedata.category(character) in {"Cf", "Cc"}
    )


def _visible(cluster: str) -> str:
    """In ASCII where it can be: NFKC first, because it composes accents and takes most forms apart."""
    piece = unicodedata.normalize("NFKC", cluster).translate(_LOOKALIKE)
    return piece if piece.isascii() else "".join(_plain(character) for character in piece)


def _plain(character: str) -> str:
    if unicodedata.combining(character) or unicodedata.category(character) == "Me":
        return ""  # a mark that no letter took up: struck through, encircled, or piled up
    digit = unicodedata.digit(character, None)
    return character if digit is None else str(digit)
