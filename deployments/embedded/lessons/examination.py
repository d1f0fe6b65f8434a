"""How the dev split is asked: the same few wordings for every row, so that figures compare. Draws nothing at random."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from canvas import InvalidState, Planner, Predicate
from deployments.embedded.lessons.branches import Branch, branches, prefix_of
from deployments.embedded.lessons.checks import CHECKS
from deployments.embedded.lessons.pages import Document, Sheet, Target
from deployments.embedded.lessons.rows import Row
from deployments.embedded.lessons.taught import Taught
from deployments.embedded.lessons.views import judged_of, transcript

Asked = Literal["ask", "deny", "unseen", "packed"]
UNSEEN: Final = 'Does the judged text fall under "{name}", that is: {meaning}?'
"""A wording that no lesson uses."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One prediction to be made: `yes` and `no` are the label ids at the slot; `deny` counts the other way round."""

    row_id: str
    source: str
    check: str
    asked: Asked
    label: bool
    chars: int
    yes: int
    no: int


def predicate(check: str, asked: Asked) -> Taught:
    """The check in the examination's wording."""
    known = CHECKS[check]
    text = {
        "ask": known.ask[0], "packed": known.ask[0], "deny": known.deny[0],
        "unseen": UNSEEN.format(name=known.name, meaning=known.meaning),
    }[asked]  # fmt: skip
    text = text.replace("{it}", "the text")
    return Taught(Predicate("q", text[:1].upper() + text[1:]), "negated" if asked == "deny" else "predicate", (check,))


def sheets_of(planner: Planner) -> tuple[dict[tuple[str, Asked], Branch], Branch]:
    """Every check alone in three wordings, and all checks on one canvas."""
    alone: dict[tuple[str, Asked], Branch] = {}
    wordings: tuple[Asked, ...] = ("ask", "deny", "unseen")
    for check in CHECKS:
        for asked in wordings:
            (alone[check, asked],) = branches(planner, [predicate(check, asked)], "isolated", 0)
    (packed,) = branches(planner, [predicate(check, "packed") for check in CHECKS], "packed", 0)
    return alone, packed


def examine(
    planner: Planner, vocab_size: int, rows: Sequence[Row], seed: int = 0
) -> Iterator[tuple[Document, tuple[Mark, ...]]]:
    """A document a row, with its marks in the order of its targets. Noise is drawn from the seed and the row's id."""
    alone, packed = sheets_of(planner)
    probe = Predicate("q", "Probe")
    for row in rows:
        try:
            prefix = prefix_of(planner, transcript(row), probe)
        except InvalidState:  # the model could not read it either
            continue
        random = Random(f"{seed}/{row.id}")  # noqa: S311 -- noise, not a secret
        sheets: list[Sheet] = []
        marks: list[Mark] = []
        labels = dict(row.labels)
        wanted: list[tuple[Branch, Asked]] = [
            (branch, asked) for (check, asked), branch in alone.items() if check in labels
        ]
        wanted.append((packed, "packed"))
        for branch, asked in wanted:
            canvas = list(branch.canvas)
            targets: list[Target] = []
            for offset, options, one in zip(branch.slots, branch.options, branch.taught, strict=True):
                canvas[offset] = random.randrange(vocab_size)
                (check,) = one.about
                if check in labels:
                    targets.append(Target(offset, options, (1.0, 0.0)))
                    yes, no = options
                    chars = len(judged_of(row))
                    marks.append(Mark(row.id, row.source, check, asked, labels[check], chars, yes, no))
            sheets.append(Sheet(branch.suffix, canvas, tuple(targets)))
        yield Document(prefix, tuple(sheets)), tuple(marks)
