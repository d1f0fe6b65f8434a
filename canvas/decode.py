"""Slot log-probabilities in, distributions out. Knows nothing of questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite, sqrt
from typing import Final

from canvas.errors import InvalidRead
from canvas.plan import CanvasPlan, CanvasRead, Slot

ROUNDING: Final = 1e-3
"""How far float32 log-softmax over 262,144 entries may leave a sum of probabilities above one, with room."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """Probabilities over a question's options, in option order.

    `probs` sums to one. `label_mass` is the full-vocabulary probability that the labels held before that
    normalisation. `stderr` is the largest standard error of an option over draws (0 with one draw).
    `agreement` is the share of draws whose top option is the averaged top.
    """

    probs: tuple[float, ...]
    label_mass: float
    stderr: float = 0.0
    draws: int = 1
    agreement: float = 1.0


def decode(plan: CanvasPlan, read: CanvasRead) -> tuple[Distribution, ...]:
    """One distribution a slot: softmax over the labels, summed over each option's token ids.

    Raises InvalidRead when slots or ids are missing or too many, or a value is no log-probability.
    """
    if len(read) != len(plan.slots):
        raise InvalidRead(f"the engine returned {len(read)} slots for {len(plan.slots)}")
    return tuple([_decode_slot(slot, logprobs) for slot, logprobs in zip(plan.slots, read, strict=True)])


def average(draws: Sequence[Distribution]) -> Distribution:
    """The mean of single draws in probability space, with the spread that the draws show."""
    count = len(draws)
    if count == 1:
        return draws[0]
    columns = tuple(zip(*(draw.probs for draw in draws), strict=True))
    probs = tuple(sum(column) / count for column in columns)
    variances = (
        sum((p - mean) ** 2 for p in column) / (count - 1) for column, mean in zip(columns, probs, strict=True)
    )
    top = probs.index(max(probs))
    return Distribution(
        probs=probs,
        label_mass=sum(draw.label_mass for draw in draws) / count,
        stderr=sqrt(max(variances) / count),
        draws=count,
        agreement=sum(draw.probs.index(max(draw.probs)) == top for draw in draws) / count,
    )


def _decode_slot(slot: Slot, logprobs: Sequence[float]) -> Distribution:
    expected = sum(map(len, slot.label_ids))
    if len(logprobs) != expected:
        raise InvalidRead(f"slot at {slot.position}: {len(logprobs)} log-probabilities for {expected} label ids")
    for logprob in logprobs:
        if not isfinite(logprob) or logprob > ROUNDING:
            raise InvalidRead(f"slot at {slot.position}: {logprob!r} is no log-probability")
    largest = max(logprobs)
    weights = [exp(logprob - largest) for logprob in logprobs]
    total = sum(weights)
    label_mass = exp(largest) * total
    if label_mass > 1 + ROUNDING:
        raise InvalidRead(f"slot at {slot.position}: its labels hold a probability of {label_mass}")
    probs: list[float] = []
    start = 0
    for group in slot.label_ids:
        end = start + len(group)
        probs.append(sum(weights[start:end]) / total)
        start = end
    return Distribution(tuple(probs), min(label_mass, 1.0))  # the excess that ROUNDING allows is rounding
