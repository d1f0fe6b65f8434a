"""Pure layout and decoding of structured reads: no I/O, no clock, no model."""

from canvas.answers import Answer, Decision, Usage, choice_confidence, score_confidence
from canvas.calibration import NO_CALIBRATION, Calibration, QuestionMap, question_digest
from canvas.calibration import parse as parse_calibration
from canvas.card import ModelCard
from canvas.decode import Distribution, decode
from canvas.errors import (
    CanvasError,
    CanvasOverflow,
    InvalidCalibration,
    InvalidOptions,
    InvalidQuestion,
    InvalidRead,
    InvalidState,
    StateTooLong,
)
from canvas.fingerprint import TEMPLATE_VERSION, digest, fingerprint
from canvas.options import MAX_DRAWS, Draws, Layout, Packing, ReadOptions
from canvas.plan import CanvasPlan, CanvasRead, Slot
from canvas.planner import Planner
from canvas.questions import Choice, Option, Predicate, Question, Score
from canvas.rounds import Rounds
from canvas.state import JSON, Image, State, render
from canvas.tokens import Tokenizer

__all__ = [
    "JSON",
    "MAX_DRAWS",
    "NO_CALIBRATION",
    "TEMPLATE_VERSION",
    "Answer",
    "Calibration",
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
    "InvalidOptions",
    "InvalidQuestion",
    "InvalidRead",
    "InvalidState",
    "Layout",
    "ModelCard",
    "Option",
    "Packing",
    "Planner",
    "Predicate",
    "Question",
    "QuestionMap",
    "ReadOptions",
    "Rounds",
    "Score",
    "Slot",
    "State",
    "StateTooLong",
    "Tokenizer",
    "Usage",
    "choice_confidence",
    "decode",
    "digest",
    "fingerprint",
    "parse_calibration",
    "question_digest",
    "render",
    "score_confidence",
]
