"""States with their branches, packed into rows of one length. Arrays only; the mask that they mean is the network's.

A document is a prefix (branch 0) and branches that each see the prefix and themselves. Several documents share a page.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

MOST_OPTIONS: Final = 16
PADDING: Final = -1


@dataclass(frozen=True, slots=True)
class Target:
    """At `offset` of its branch's canvas: probabilities over token ids."""

    offset: int
    token_ids: tuple[int, ...]
    probs: tuple[float, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Sheet:
    """A branch with its noise drawn. `suffix` may be empty."""

    suffix: Sequence[int]
    canvas: Sequence[int]
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """One state and what is asked about it."""

    prefix: Sequence[int]
    sheets: tuple[Sheet, ...]

    @property
    def tokens(self) -> int:
        return len(self.prefix) + sum(len(sheet.suffix) + len(sheet.canvas) for sheet in self.sheets)


@dataclass(slots=True)
class Page:
    """One row being filled. `document` is PADDING where nothing stands; slots are indices into the row."""

    length: int
    ids: NDArray[np.int64] = field(init=False)
    positions: NDArray[np.int64] = field(init=False)
    document: NDArray[np.int64] = field(init=False)
    branch: NDArray[np.int64] = field(init=False)
    is_canvas: NDArray[np.bool_] = field(init=False)
    targets: list[tuple[int, Target]] = field(default_factory=list[tuple[int, Target]])
    filled: int = 0
    documents: int = 0

    def __post_init__(self) -> None:
        self.ids = np.zeros(self.length, np.int64)
        self.positions = np.zeros(self.length, np.int64)
        self.document = np.full(self.length, PADDING, np.int64)
        self.branch = np.zeros(self.length, np.int64)
        self.is_canvas = np.zeros(self.length, np.bool_)

    def add(self, document: Document) -> bool:
        """False, and nothing written, where it does not fit."""
        if self.filled + document.tokens > self.length:
            return False
        self._write(document.prefix, 0, 0, canvas=False)
        for number, sheet in enumerate(document.sheets, 1):
            first = len(document.prefix)
            self._write(sheet.suffix, number, first, canvas=False)
            start = self.filled
            self._write(sheet.canvas, number, first + len(sheet.suffix), canvas=True)
            self.targets += ((start + target.offset, target) for target in sheet.targets)
        self.documents += 1
        return True

    def _write(self, ids: Sequence[int], branch: int, first: int, *, canvas: bool) -> None:
        here = slice(self.filled, self.filled + len(ids))
        self.ids[here] = ids
        self.positions[here] = range(first, first + len(ids))
        self.document[here] = self.documents
        self.branch[here] = branch
        self.is_canvas[here] = canvas
        self.filled += len(ids)


def pages(documents: Iterable[Document], length: int) -> Iterator[Page]:
    """In order. Raises ValueError for a document longer than a page."""
    page = Page(length)
    for document in documents:
        if page.add(document):
            continue
        yield page
        page = Page(length)
        if not page.add(document):
            raise ValueError(f"a document of {document.tokens} tokens on a page of {length}")
    if page.filled:
        yield page


def batch(rows: Sequence[Page]) -> dict[str, NDArray[np.generic]]:
    """Pages stacked; slots flattened over the batch, with up to MOST_OPTIONS ids each (unused: probability 0)."""
    length = rows[0].length
    found = [(row * length + place, target) for row, page in enumerate(rows) for place, target in page.targets]
    slots = np.array([place for place, _ in found], np.int64)
    token_ids = np.zeros((len(found), MOST_OPTIONS), np.int64)
    probs = np.zeros((len(found), MOST_OPTIONS), np.float32)
    for row, (_, target) in enumerate(found):
        token_ids[row, : len(target.token_ids)] = target.token_ids
        probs[row, : len(target.probs)] = target.probs
    return {
        "ids": np.stack([page.ids for page in rows]),
        "positions": np.stack([page.positions for page in rows]),
        "document": np.stack([page.document for page in rows]),
        "branch": np.stack([page.branch for page in rows]),
        "is_canvas": np.stack([page.is_canvas for page in rows]),
        "slots": slots,
        "token_ids": token_ids,
        "probs": probs,
        "weights": np.array([target.weight for _, target in found], np.float32),
    }
