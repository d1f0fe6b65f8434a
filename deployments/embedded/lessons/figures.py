"""Labels and probabilities in, figures out. Knows no check."""

from collections.abc import Sequence
from math import exp, log
from typing import Final

BINS: Final = 10
MANY: Final = 30  # of each class; below, an AUC says little (its standard error is above .05 even at .9)
SURE: Final = 1e-6  # no probability is taken for surer than this
_TEMPERATURES: Final = tuple(2 ** (step / 4) for step in range(-8, 13))


def auc(labels: Sequence[bool], scores: Sequence[float]) -> float | None:
    """Probability that a positive scores above a negative, ties counting half; None with one class only."""
    order = sorted(range(len(scores)), key=scores.__getitem__)
    ranks = [0.0] * len(scores)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and scores[order[end]] == scores[order[start]]:
            end += 1
        for place in range(start, end):
            ranks[order[place]] = (start + 1 + end) / 2
        start = end
    positives = sum(labels)
    negatives = len(labels) - positives
    if not positives or not negatives:
        return None
    total = sum(rank for rank, label in zip(ranks, labels, strict=True) if label)
    return (total - positives * (positives + 1) / 2) / (positives * negatives)


def calibration_error(labels: Sequence[bool], probs: Sequence[float]) -> float:
    """Expected calibration error over ten equal bins of the probability; 0 of nothing."""
    bins: list[list[int]] = [[] for _ in range(BINS)]
    for place, prob in enumerate(probs):
        bins[min(int(prob * BINS), BINS - 1)].append(place)
    return sum(
        abs(sum(labels[place] for place in found) - sum(probs[place] for place in found)) for found in bins
    ) / max(1, len(labels))


def tempered(prob: float, temperature: float) -> float:
    """The probability with its log-odds divided by the temperature."""
    clipped = min(max(prob, SURE), 1 - SURE)
    scaled = 1 / (1 + exp(-log(clipped / (1 - clipped)) / temperature))
    return min(max(scaled, SURE), 1 - SURE)


def best_temperature(labels: Sequence[bool], probs: Sequence[float]) -> float:
    """The one of a fixed grid with the least log loss."""

    def loss(temperature: float) -> float:
        scaled = [tempered(prob, temperature) for prob in probs]
        return -sum(log(prob if label else 1 - prob) for label, prob in zip(labels, scaled, strict=True))

    return min(_TEMPERATURES, key=loss)
