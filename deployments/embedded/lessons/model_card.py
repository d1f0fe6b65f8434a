"""The model card from quality.json: every number in it is generated."""

from collections.abc import Mapping
from typing import Any, Final

from canvas import ModelCard

_HEAD: Final = """# readgate-embedded, revision {revision}

A DiffusionGemma of {parameters_m} million parameters, so that Readgate answers real reads on a laptop without a GPU.
It is **quickly trained** ({seconds} seconds on one {device}) for the checks below, in English, and it is **not**
the real DiffusionGemma: nothing here says how well that one judges. Do not protect anything with it alone.

- `model.safetensors`, `config.json`, `tokenizer.json`: a checkpoint for transformers and vLLM, bfloat16.
- `encode.onnx`, `read.onnx`, `card.json`: its graphs for ONNX Runtime (docs/adr/0005-embedded-engine.md).
- Canvases up to {canvas_tokens} tokens, prompt and canvas together up to {context_tokens:,}. Lessons had at most
  2,048 in all: what longer prompts give is not known.
- No images: the vision tower was never trained.
- Trained `state_first` only: `questions_first` is served, and was never seen.
- Generated from `benchmarks/results/laptop/quality.json`; curves in `training_*.jsonl` beside it.

## How well it judges

On the dev split of its training data: one row in ten, from the same sources, templates and annotators. So these
figures are flattering; what other people's texts give is not measured here. AUC of the usual wording, of the opposite
question, of a wording that no lesson used, and with all checks on one canvas; beside them the linear floor (TF-IDF
and logistic regression) and what the text's length alone gives. ECE is the calibration error as served (no
calibration is shipped). "Supported" means: on every source with at least 30 rows of each class, AUC at most .02 below
the floor (floors above .97 count as .95) and ECE at most .05. Rows marked * have fewer: their AUC says little.

| check | status | source | rows (positive) | AUC | opposite | unseen wording | packed | floor | length | ECE |
|---|---|---|---|---|---|---|---|---|---|---|
"""
_TAIL: Final = """
## The obvious cases

{right} of {cases} short texts that anybody would judge at once, written apart from the lessons, come out right
(probability on the right side of one half), read by the shipped graphs through the product's own planner.
{wrong}

## What fails

- **Wordings.** It knows the checks, not language: a question about anything else (urgency, sentiment, facts) gets a
  confident and meaningless answer. Questions near a check's usual wording work; the column "unseen wording" shows how
  far that carries, and for some checks it does not (ranks stay, probabilities do not).
- **Hate** against offensive words that attack no group, **harm** in other styles than the training replies, and
  **unsupported claims** lie below their linear floors or near them; harassment, self-harm, sexual content and violence
  had 4 to 14 positive dev rows.
- **Length and style.** Long prompts that play a role look like jailbreaks; polite, short and new attacks pass.
- Anything but English, implicit hate, over-refusal contrasts, and facts: not trained, not promised.
- Choices and scores were learnt from yes/no labels and from banking and assistant intents; their levels are ends, not
  measures.

## How it was made

`deployments/embedded/lessons` (texts, vocabulary, wordings, short texts of our own), then
`deployments/embedded/training` (soft labels from linear models for unlabelled pairs, training, evaluation), then
`deployments/embedded/export_onnx.py`. Sources, licences and known artefacts of the data: the data's own card, which
names share-alike sources (Jigsaw comments, SNLI, BIPIA tables) whose reach over trained weights is open.
"""


def model_card(quality: Mapping[str, Any], card: ModelCard) -> str:
    """Markdown, for the card of the weights that the figures are of."""
    lines = [
        _row(check, entry["status"] if number == 0 else "", source, figures)
        for check, entry in quality["checks"].items()
        for number, (source, figures) in enumerate(entry["sources"].items())
    ]
    wrong = [case for case in quality["obvious"] if not case["right"]]
    told = "\n".join(f'- wrong: *{case["question"]}* of "{case["text"]}": {case["yes"]:.2f}' for case in wrong)
    tail = _TAIL.format(
        right=len(quality["obvious"]) - len(wrong), cases=len(quality["obvious"]), wrong=f"\n{told}" if told else ""
    )
    sizes = {"canvas_tokens": card.canvas_tokens, "context_tokens": card.context_tokens}
    return _HEAD.format(revision=quality["revision"], **quality["training"], **sizes) + "\n".join(lines) + "\n" + tail


def _row(check: str, status: str, source: str, figures: Mapping[str, Any]) -> str:
    auc = figures["auc"]
    mark = "" if figures["enough"] else " *"
    floor = "-" if figures["floor"] is None else f"{figures['floor']:.3f}"
    cells = [
        check, status, source, f"{figures['rows']} ({figures['positives']}){mark}",
        *(f"{auc[name]:.3f}" for name in ("ask", "deny", "unseen", "packed")),
        floor, f"{figures['length_auc']:.3f}", f"{figures['ece']:.3f}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"
