"""Everything this package raises, by whose fault it is.

CanvasError
├─ InvalidQuestion     the caller must change a question
│  └─ CanvasOverflow   what was asked does not fit: a canvas, the model's length, a label alphabet
├─ InvalidState        the caller must change the state (an image the engine cannot take, a lone surrogate)
│  └─ StateTooLong     the state and its questions exceed the model's length: shorten it, or read it in windows
├─ InvalidOptions      the caller must change how it wants to be read
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


class StateTooLong(InvalidState):
    """Prompt plus canvas exceed `limit_tokens`; at most `state_limit_tokens` of the state's tokens would fit."""

    def __init__(self, *, state_tokens: int, other_tokens: int, limit_tokens: int) -> None:
        super().__init__(
            f"state: {state_tokens} tokens plus {other_tokens} of questions and canvas"
            f" exceed the model's {limit_tokens}; at most {limit_tokens - other_tokens} of state fit",
        )
        self.state_tokens = state_tokens
        self.limit_tokens = limit_tokens
        self.state_limit_tokens = limit_tokens - other_tokens


class InvalidOptions(CanvasError):
    """How to read is outside a limit; the message names the option and the limit."""


class InvalidRead(CanvasError):
    """The engine broke its word: wrong number of slots or rows, a cut canvas, a value that is no log-probability."""


class InvalidCalibration(CanvasError):
    """A calibration map is malformed; the message names the entry."""
