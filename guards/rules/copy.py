"""A text read another way, with the way back to the original. Knows nothing of why it was changed."""

from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Copy:
    """Piece `i` of `text` begins at `starts[i]` and came from the original's characters `sources[i]`.

    A piece as long as its source is taken to stand for it character by character, any other as a whole.
    """

    text: str
    starts: tuple[int, ...]
    sources: tuple[tuple[int, int], ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a non-empty span of `text` stands in the original."""
        return self._source(start)[0], self._source(end - 1)[1]

    def _source(self, at: int) -> tuple[int, int]:
        piece = bisect_right(self.starts, at) - 1
        start, end = self.sources[piece]
        length = (self.starts[piece + 1] if piece + 1 < len(self.starts) else len(self.text)) - self.starts[piece]
        if length != end - start:
            return start, end
        place = start + at - self.starts[piece]
        return place, place + 1


class CopyWriter:
    """Puts a copy together from left to right."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._starts: list[int] = []
        self._sources: list[tuple[int, int]] = []
        self._length = 0

    def add(self, text: str, start: int, end: int) -> None:
        """What stands for the original's characters from `start` to `end`; an empty text leaves them out."""
        if text:
            self._pieces.append(text)
            self._starts.append(self._length)
            self._sources.append((start, end))
            self._length += len(text)

    def copy_of(self, original: str) -> Copy | None:
        """The copy; None when nothing was changed."""
        text = "".join(self._pieces)
        return None if text == original else Copy(text, tuple(self._starts), tuple(self._sources))
