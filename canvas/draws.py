"""Which order a draw shows options in, and when more draws are worth it. Knows nothing of tokens."""

from math import log
from typing import Final

from canvas.decode import Distribution
from canvas.fingerprint import digest
from canvas.noise import shuffled
from canvas.questions import Choice, Question

# Chosen: no source has numbers for these three; benchmarks on the user's own model fit them later.
MAX_ENTROPY: Final = 0.5
"""Normalised entropy above which one draw is uncertain."""
MIN_MARGIN: Final = 0.3
"""Probability between the first two options below which one draw is uncertain."""
MAX_STDERR: Final = 0.05
"""Standard error at or below which re-reading ends."""


def order(question: Question, draw: int) -> tuple[int, ...]:
    """The option shown at each place: as given on draw 0, and every odd draw reverses the one before it.

    Pairs of opposite orders cancel a bias for the first place. Choices are shuffled anew for each pair, by their
    options alone, so that questions that share an alphabet share the order; levels stay ordered, up or down.
    """
    count = question.option_count
    pair = draw // 2
    shown = tuple(range(count))
    if isinstance(question, Choice) and pair:
        texts = (text for option in question.options for text in (option.name, option.description))
        shown = shuffled(digest((str(pair).encode(), *(text.encode() for text in texts))), count)
    return shown[::-1] if draw % 2 else shown


def is_uncertain(distribution: Distribution) -> bool:
    """Whether a first draw leaves doubt: by its entropy over the options, or by its margin."""
    probs = distribution.probs
    entropy = -sum(p * log(p) for p in probs if p > 0) / log(len(probs))
    second, first = sorted(probs)[-2:]
    return entropy > MAX_ENTROPY or first - second < MIN_MARGIN


def is_settled(distribution: Distribution) -> bool:
    """Whether two or more draws agree closely enough to stop."""
    return distribution.draws > 1 and distribution.stderr <= MAX_STDERR
