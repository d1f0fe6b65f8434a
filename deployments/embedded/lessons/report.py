"""Predictions on the dev split, and the shipped engine's answers to the obvious cases, to quality.json and the card.

    python -m deployments.embedded.lessons.report PREDICTIONS.jsonl.gz FLOORS.json QUALITY.json
    python -m deployments.embedded.lessons.report --card QUALITY.json

FLOORS.json holds {check: {source: AUC}} of the linear floors that come with the training data.
"""

import argparse
import asyncio
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from canvas import Planner, Predicate, decode
from deployments.embedded.card_file import SHIPPED, load_card
from deployments.embedded.lessons.branches import first_plans
from deployments.embedded.lessons.figures import MANY, auc, best_temperature, calibration_error, tempered
from deployments.embedded.lessons.model_card import model_card
from deployments.embedded.lessons.obvious import CASES
from deployments.engines.embedded_engine import EmbeddedEngine
from deployments.engines.engine import Engine
from deployments.engines.tokenizer import load_tokenizer

WORDINGS: Final = ("ask", "deny", "unseen", "packed")
FLOOR_MARGIN: Final = 0.02  # a net may lie this far below the linear floor,
FLOOR_CAP: Final = (0.97, 0.95)  # and floors above the first count as the second: those sources are easy
MOST_ECE: Final = 0.05


def quality(predictions: Iterable[Mapping[str, Any]], floors: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """By check: figures over all sources and by source, and whether the gate is passed."""
    groups: dict[str, dict[str, dict[str, list[Mapping[str, Any]]]]] = {}
    for one in predictions:
        sources = groups.setdefault(one["check"], {})
        for source in ("", one["source"]):
            sources.setdefault(source, {}).setdefault(one["asked"], []).append(one)
    return {check: _check(sources, floors.get(check, {})) for check, sources in sorted(groups.items())}


def _check(
    sources: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]], floors: Mapping[str, float]
) -> dict[str, Any]:
    rows = {
        source: _figures(asked) | {"floor": floors.get(source)}
        for source, asked in sorted(sources.items())
        if source and 0 < sum(one["label"] for one in asked["ask"]) < len(asked["ask"])
    }
    whole = _figures(sources[""])
    judged = [row for row in rows.values() if row["enough"]]
    passes = bool(judged) and all(_passes(row) for row in judged)
    return {"status": "supported" if passes else "experimental", "all": whole, "sources": rows}


def _passes(row: Mapping[str, Any]) -> bool:
    floor = row["floor"] if row["floor"] is not None else 1.0
    wanted = (FLOOR_CAP[1] if floor > FLOOR_CAP[0] else floor) - FLOOR_MARGIN
    return row["auc"]["ask"] >= wanted and row["ece"] <= MOST_ECE


def _figures(asked: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    ones = asked["ask"]
    labels = [bool(one["label"]) for one in ones]
    probs = [float(one["yes"]) for one in ones]
    halves = [int(sha256(one["id"].encode()).hexdigest()[8:10], 16) % 2 == 0 for one in ones]
    fitting = [place for place, half in enumerate(halves) if half]
    kept = [place for place, half in enumerate(halves) if not half]
    fitted = best_temperature([labels[place] for place in fitting], [probs[place] for place in fitting])
    return {
        "rows": len(ones),
        "positives": sum(labels),
        "enough": min(sum(labels), len(labels) - sum(labels)) >= MANY,
        "auc": {name: _round(auc(labels, [float(one["yes"]) for one in asked[name]])) for name in WORDINGS},
        "length_auc": _round(auc(labels, [float(one["chars"]) for one in ones])),
        "ece": _round(calibration_error(labels, probs)),
        "temperature": _round(fitted),
        "ece_tempered_on_other_half": _round(
            calibration_error([labels[place] for place in kept], [tempered(probs[place], fitted) for place in kept])
        ),
    }


def _round(number: float | None) -> float | None:
    return None if number is None else round(number, 3)


async def obvious(engine: Engine, planner: Planner) -> list[dict[str, Any]]:
    """Every case read alone by the real engine, through the real planner."""
    answers: list[dict[str, Any]] = []
    for case in CASES:
        (plan,) = first_plans(planner, case.state, [Predicate("q", case.question)], "isolated")
        (distribution,) = decode(plan, await engine.run(plan))
        yes = distribution.probs[0]
        right = (yes > 1 / 2) is case.expected
        answers.append({"text": case.text, "question": case.question, "yes": round(yes, 3), "right": right})
    return answers


async def read_obvious(checkpoint: Path = SHIPPED) -> list[dict[str, Any]]:
    """By a checkpoint on ONNX Runtime."""
    card_file = load_card(checkpoint)
    engine = EmbeddedEngine(checkpoint, card_file)
    await engine.start()
    try:
        return await obvious(engine, Planner(load_tokenizer(checkpoint), card_file.card))
    finally:
        await engine.close()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Figures of the embedded model, and its card.")
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--card", action="store_true")
    parser.add_argument("--training", type=json.loads, default={}, help="JSON: what is known of the run")
    chosen = parser.parse_args()
    if chosen.card:
        text = model_card(json.loads(chosen.paths[0].read_text()), load_card(SHIPPED).card)
        (SHIPPED / "README.md").write_text(text, encoding="utf-8")
        return
    predictions, floors, out = chosen.paths
    with gzip.open(predictions, "rt") as lines:
        checks = quality(map(json.loads, lines), json.loads(floors.read_text()))
    card = load_card(SHIPPED).card
    entry = {"revision": card.revision, "training": chosen.training, "checks": checks}
    entry["obvious"] = asyncio.run(read_obvious())
    out.write_text(json.dumps(entry, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
