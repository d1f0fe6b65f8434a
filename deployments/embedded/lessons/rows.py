"""Labelled texts from *.jsonl.gz files, as values. Knows no question and no token."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

DEV_SHARE: Final = 10  # one row in ten, by the data's own rule: int(sha256(id)[:8], 16) % 10 == 0


@dataclass(frozen=True, slots=True)
class Row:
    """One text with the checks that are known for it; a check that is not in `labels` is unknown, not false."""

    id: str
    source: str
    stage: str
    prompt: str
    context: str
    reply: str
    labels: tuple[tuple[str, bool], ...]

    @property
    def is_dev(self) -> bool:
        return int(sha256(self.id.encode()).hexdigest()[:8], 16) % DEV_SHARE == 0


def read_rows(folder: Path) -> Iterator[Row]:
    """Every row of every file, in the files' order. Raises FileNotFoundError when the folder has none."""
    paths = sorted(folder.glob("*.jsonl.gz"))
    if not paths:
        raise FileNotFoundError(f"{folder}: holds no *.jsonl.gz")
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            yield from map(_row, lines)


def _row(line: str) -> Row:
    fields = json.loads(line)
    return Row(
        id=fields["id"],
        source=fields["source"],
        stage=fields["stage"],
        prompt=fields["prompt"] or "",
        context=fields["context"] or "",
        reply=fields["reply"] or "",
        labels=tuple((check, bool(value)) for check, value in fields["labels"].items()),
    )
