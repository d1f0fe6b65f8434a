"""Slot log-probabilities in, distributions out. Knows nothing of questions."""

from dataclasses import dataclass


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
