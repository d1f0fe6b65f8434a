"""A choice with more options than one slot can tell apart: brackets, then a final among their winners."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from canvas.decode import Distribution
from canvas.errors import CanvasOverflow
from canvas.packing import bracket_sizes
from canvas.questions import Choice


def brackets(question: Choice, limit: int) -> tuple[Choice, ...]:
    """The question once for each consecutive run of its options. Raises CanvasOverflow where that cannot work."""
    sizes = bracket_sizes(question.option_count, limit) if limit else None
    if sizes is None:
        raise CanvasOverflow(question.id, f"{question.option_count} options need brackets; a slot tells {limit} apart")
    ends = accumulate(sizes)
    return tuple(
        replace(question, options=question.options[end - size : end]) for end, size in zip(ends, sizes, strict=True)
    )


def final(question: Choice, parts: Sequence[Choice], reads: Sequence[Distribution]) -> Choice:
    """The question about the winner of each bracket."""
    winners = (part.options[_winner(read)] for part, read in zip(parts, reads, strict=True))
    return replace(question, options=tuple(winners))


def combine(reads: Sequence[Distribution], last: Distribution) -> Distribution:
    """P(i) = within_b(i) M_b with M_b proportional to final(w_b) / within_b(w_b), w_b the winner of bracket b.

    So the winners keep the final's ratios, and each bracket its own. Sums to 1. The label mass is the smallest seen.
    """
    masses = [p / max(read.probs) for p, read in zip(last.probs, reads, strict=True)]
    total = sum(masses)
    probs = tuple(p * mass / total for read, mass in zip(reads, masses, strict=True) for p in read.probs)
    return Distribution(probs, min(last.label_mass, *(read.label_mass for read in reads)))


def _winner(read: Distribution) -> int:
    return read.probs.index(max(read.probs))
