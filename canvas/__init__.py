"""Pure layout and decoding of structured reads: no I/O, no clock, no model."""

from canvas.answers import Answer, Decision, Usage, choice_confidence, score_confidence
from canvas.card import ModelCard
from canvas.decode import Distribution
from canvas.errors import (
    CanvasError,
    CanvasOverflow,
    InvalidCalibration,
    InvalidQuestion,
    InvalidRead,
    InvalidState,
)
from canvas.options import Draws, Layout, Packing, ReadOptions
from canvas.plan import CanvasPlan, CanvasRead, Slot
from canvas.questions import Choice, Option, Predicate, Question, Score
from canvas.state import JSON, Image, State, render
from canvas.tokens import Tokenizer

__all__ = [
    "JSON",
    "Answer",
    "CanvasError",
    "CanvasOverflow",
    "CanvasPlan",
    "CanvasRead",
    "Choice",
    "Decision",
    "Distribution",
    "Draws",
    "Image",
    "InvalidCalibration",
    "InvalidQuestion",
    "InvalidRead",
    "InvalidState",
    "Layout",
    "ModelCard",
    "Option",
    "Packing",
    "Predicate",
    "Question",
    "ReadOptions",
    "Score",
    "Slot",
    "State",
    "Tokenizer",
    "Usage",
    "choice_confidence",
    "render",
    "score_confidence",
]
