"""Typed results, and TypeSafe's confidence formulas. Knows nothing of canvases or wires."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from canvas.decode import Distribution
from canvas.questions import Choice, Predicate, Question, Score


@dataclass(frozen=True, slots=True)
class Answer:
    """One question's outcome. `approximate` marks choices that were read in brackets (over 128 options).

    `calibration` names the map that was applied, or is empty.
    """

    question: Question
    distribution: Distribution
    approximate: bool = False
    calibration: str = ""

    @property
    def probability(self) -> float:
        """Of yes, for a predicate; of the most probable option otherwise."""
        probs = self.distribution.probs
        return probs[0] if isinstance(self.question, Predicate) else max(probs)

    @property
    def top(self) -> int:
        """Index of the most probable option; the first of equals."""
        probs = self.distribution.probs
        return probs.index(max(probs))

    @property
    def score(self) -> float:
        """Expected level, sum of i * p_i, from 0."""
        return sum(i * p for i, p in enumerate(self.distribution.probs))

    @property
    def confidence(self) -> float:
        """TypeSafe's: by choice_confidence or score_confidence; a predicate has its probability instead."""
        match self.question:
            case Choice():
                return choice_confidence(self.distribution.probs)
            case Score():
                return score_confidence(self.distribution.probs)
            case Predicate():
                return self.probability
            case _:
                assert_never(self.question)


@dataclass(frozen=True, slots=True)
class Usage:
    """`input_tokens` counts each prompt that was read, once a canvas; `output_tokens` the slots read."""

    input_tokens: int
    output_tokens: int
    cached_canvases: int = 0
    canvases: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    """All answers of a request, in the questions' order."""

    answers: tuple[Answer, ...]
    usage: Usage
    questions_per_canvas: tuple[int, ...]
    fingerprint: str


def choice_confidence(probs: Sequence[float]) -> float:
    """(m - 1/n) / (1 - 1/n) with m the largest probability; 1 for one option. Source: TypeSafe's reference."""
    n = len(probs)
    return 1.0 if n == 1 else (max(probs) - 1 / n) / (1 - 1 / n)


def score_confidence(probs: Sequence[float]) -> float:
    """max(0, 1 - sum p_i |i - k| / D), k the mode, D = (1/n) sum |i - (n-1)/2|. Source: TypeSafe's reference."""
    n = len(probs)
    if n == 1:
        return 1.0
    mode = probs.index(max(probs))
    spread = sum(abs(i - (n - 1) / 2) for i in range(n)) / n
    return max(0.0, 1 - sum(p * abs(i - mode) for i, p in enumerate(probs)) / spread)
