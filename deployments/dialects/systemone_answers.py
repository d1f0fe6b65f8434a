"""Decisions as System One answers. What its specification does not know is prefixed `x_`."""

from collections.abc import Mapping, Sequence
from typing import Any

from canvas import Answer, Choice, Decision, Predicate, ReadOptions, Score
from deployments.errors import Fault


def render_systemone(
    decision: Decision, model: str, options: ReadOptions, levels: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    """The 200 body; `levels` are the score levels as the request gave them, echoed in each legend."""
    usage = decision.usage
    return {
        "model": model,
        "answers": {answer.question.id: _answer(answer, levels) for answer in decision.answers},
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
        "x_packing": options.packing,
        "x_cached": usage.canvases > 0 and usage.cached_canvases == usage.canvases,
        "x_questions_per_canvas": list(decision.questions_per_canvas),
        "x_fingerprint": decision.fingerprint,
    }


def render_batch_error(fault: Fault) -> dict[str, Any]:
    """One state's failure inside a batch."""
    return {"error": {"error_type": fault.error_type, "message": fault.message, "status": fault.status}}


def _answer(answer: Answer, levels: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    probs = answer.distribution.probs
    body: dict[str, Any]
    match answer.question:
        case Predicate():
            body = {"type": "noul", "noul": answer.probability}
        case Choice() as question:
            body = {
                "type": "choice",
                "choice": question.options[answer.top].name,
                "probabilities": {option.name: prob for option, prob in zip(question.options, probs, strict=True)},
                "confidence": answer.confidence,
            }
        case Score() as question:
            body = {
                "type": "score",
                "score": answer.score,
                "legend": {str(index): level for index, level in enumerate(levels[question.id])},
                "probabilities": {str(index): prob for index, prob in enumerate(probs)},
                "confidence": answer.confidence,
            }
    body["x_label_mass"] = answer.distribution.label_mass
    body["x_stderr"] = answer.distribution.stderr
    body["x_draws"] = answer.distribution.draws
    if answer.calibration:
        body["x_calibration"] = answer.calibration
    if answer.approximate:
        body["x_approximate"] = True
    return body
