"""Which questions share a canvas. Pure and deterministic; asks only how many of a list one canvas can hold."""

from collections.abc import Callable, Sequence
from typing import Final

from canvas.questions import Predicate, Question

Fill = Callable[[Sequence[Question]], int]
"""How many leading questions fit one canvas together; 0 where even the first must be read alone."""

SMALL_GROUP: Final = 3
"""READING 2: two or three questions with two or more yes/no ones read .600 together against .883 alone; four do not."""


def pack(questions: Sequence[Question], fill: Fill) -> tuple[tuple[int, ...], ...]:
    """Each question's index on exactly one canvas, in order: as few canvases as the rules allow, evenly filled."""
    runs: list[range] = []
    for run in _spread(questions, fill):
        group = [index for index in run if isinstance(questions[index], Predicate)]
        if len(run) <= SMALL_GROUP and len(group) > 1:
            runs += (range(index, index + 1) for index in run)
        else:
            runs.append(run)
    return tuple(tuple(run) for run in runs)


def bracket_sizes(count: int, limit: int) -> tuple[int, ...] | None:
    """As few brackets of at most `limit` as hold `count` options, sizes at most one apart.

    None where a bracket would hold one option, or the winners would not fit a final.
    """
    brackets = -(-count // limit)
    if brackets > limit or count // brackets < 2:  # noqa: PLR2004 -- a bracket of one decides nothing
        return None
    return _even(count, brackets)


def _spread(questions: Sequence[Question], fill: Fill) -> list[range]:
    fewest = len(_greedy(questions, fill, len(questions)))
    even: list[range] = []
    for size in _even(len(questions), fewest):
        start = even[-1].stop if even else 0
        even.append(range(start, start + size))
    if all(len(run) == 1 or fill(questions[run.start : run.stop]) == len(run) for run in even):
        return even
    # An alphabet or one wide question stands in the way: the smallest largest canvas that keeps the number.
    caps = range(-(-len(questions) // fewest), len(questions) + 1)
    return next(runs for cap in caps if len(runs := _greedy(questions, fill, cap)) == fewest)


def _greedy(questions: Sequence[Question], fill: Fill, cap: int) -> list[range]:
    runs: list[range] = []
    start = 0
    while start < len(questions):
        size = max(1, fill(questions[start : start + cap]))
        runs.append(range(start, start + size))
        start += size
    return runs


def _even(count: int, shares: int) -> tuple[int, ...]:
    size, larger = divmod(count, shares)
    return (size + 1,) * larger + (size,) * (shares - larger)
