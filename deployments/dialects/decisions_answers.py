"""Decisions as OpenAI's ordered array of answers, a refusal where the labels held too little mass."""

from collections.abc import Sequence
from typing import Any, assert_never

from canvas import Answer, Decision, ReadOptions
from deployments.dialects.decisions_wire import ChoiceQuestion, PredicateQuestion, ScoreQuestion, WireQuestion


def render_decisions(
    decision: Decision, wire: Sequence[WireQuestion], model: str, options: ReadOptions, *, min_label_mass: float
) -> dict[str, Any]:
    """The 200 body. `output_tokens` counts slots; nothing reasons, so reasoning_tokens is 0."""
    usage = decision.usage
    return {
        "model": model,
        "answers": [
            _answer(answer, question, min_label_mass) for answer, question in zip(decision.answers, wire, strict=True)
        ],
        "usage": {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.input_tokens + usage.output_tokens,
        },
        "x_packing": options.packing,
        "x_cached": usage.canvases > 0 and usage.cached_canvases == usage.canvases,
        "x_questions_per_canvas": list(decision.questions_per_canvas),
        "x_fingerprint": decision.fingerprint,
    }


def _answer(answer: Answer, wire: WireQuestion, min_label_mass: float) -> dict[str, Any]:
    distribution = answer.distribution
    diagnostics: dict[str, Any] = {
        "x_label_mass": distribution.label_mass,
        "x_stderr": distribution.stderr,
        "x_draws": distribution.draws,
    }
    if answer.calibration:
        diagnostics["x_calibration"] = answer.calibration
    if answer.approximate:
        diagnostics["x_approximate"] = True
    if distribution.label_mass < min_label_mass:
        return {"type": "refusal", "name": wire.name, **diagnostics}
    return {**_typed(answer, wire), **diagnostics}


def _typed(answer: Answer, wire: WireQuestion) -> dict[str, Any]:
    probs = answer.distribution.probs
    match wire:
        case PredicateQuestion():
            return {"type": "predicate", "name": wire.name, "probability": answer.probability}
        case ChoiceQuestion():
            return {
                "type": "choice",
                "name": wire.name,
                "choice": wire.choices[answer.top].value,
                "probabilities": [
                    {"value": choice.value, "probability": prob}
                    for choice, prob in zip(wire.choices, probs, strict=True)
                ],
                "confidence": answer.confidence,
            }
        case ScoreQuestion():
            return {
                "type": "score",
                "name": wire.name,
                "score": answer.score,
                "probabilities": [
                    {"value": index, "label": level.label, "probability": prob}
                    for index, (level, prob) in enumerate(zip(wire.levels, probs, strict=True))
                ],
                "confidence": answer.confidence,
            }
        case _:
            assert_never(wire)
