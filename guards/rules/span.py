"""Where a rule found something. Values only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters `start` to `end` of the text that `where` names; `kind` says what was found, never its content."""

    where: str
    start: int
    end: int
    kind: str
