"""Everything this package raises, by whose fault it is.

CanvasError
├─ InvalidQuestion     the caller must change a question
│  └─ CanvasOverflow   what was asked does not fit: a canvas, the model's length, a label alphabet
├─ InvalidState        the caller must change the state (too long, an image the engine cannot take)
├─ InvalidRead         the engine returned something that the plan cannot decode
└─ InvalidCalibration  a calibration file says something that is not a map of probabilities
"""


class CanvasError(Exception):
    """Base of every error of the pure core."""


class InvalidQuestion(CanvasError):
    """Says which question is wrong, and which limit it broke."""

    def __init__(self, question_id: str, reason: str) -> None:
        super().__init__(f"question {question_id!r}: {reason}")
        self.question_id = question_id
        self.reason = reason


class CanvasOverflow(InvalidQuestion):
    """The question is well formed but larger than a limit of the model or the canvas."""


class InvalidState(CanvasError):
    """The state cannot be read as it is; the message names the limit."""


class InvalidRead(CanvasError):
    """The engine broke its word: wrong number of slots or rows, a cut canvas, a value that is no log-probability."""


class InvalidCalibration(CanvasError):
    """A calibration map is malformed; the message names the entry."""
