"""Reads as generators: they yield plans, are sent what an engine read, and return a value. Nothing here waits."""

from collections.abc import Generator, Sequence
from typing import TypeVar

from canvas.errors import InvalidRead
from canvas.plan import CanvasPlan, CanvasRead

T = TypeVar("T")
Plans = tuple[CanvasPlan, ...]
Reads = tuple[CanvasRead, ...]
Rounds = Generator[Plans, Reads, T]
"""Each yielded batch may run in parallel; `send` its reads in the same order. StopIteration.value is the result."""


def gather(members: Sequence[Rounds[T]]) -> Rounds[tuple[T, ...]]:
    """All members in step: one batch a round for those that have not returned. Results in the members' order."""
    results: dict[int, T] = {}
    waiting: dict[int, Plans] = {}

    def advance(index: int, reads: Reads | None) -> None:
        try:
            waiting[index] = next(members[index]) if reads is None else members[index].send(reads)
        except StopIteration as stop:
            results[index] = stop.value

    for index in range(len(members)):
        advance(index, None)
    while waiting:
        round_plans = waiting
        waiting = {}
        batch = tuple(plan for plans in round_plans.values() for plan in plans)
        reads = yield batch
        if len(reads) != len(batch):
            raise InvalidRead(f"the engine returned {len(reads)} reads for {len(batch)} plans")
        start = 0
        for index, plans in round_plans.items():
            advance(index, reads[start : start + len(plans)])
            start += len(plans)
    return tuple(results[index] for index in range(len(members)))
