"""Figures are right, the card says what was recorded, and the shipped graphs still answer as recorded."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.embedded.card_file import SHIPPED, load_card
from deployments.embedded.lessons.figures import auc, best_temperature, calibration_error, tempered
from deployments.embedded.lessons.model_card import model_card
from deployments.embedded.lessons.report import quality, read_obvious

QUALITY = json.loads((Path(__file__).parents[3] / "benchmarks/results/laptop/quality.json").read_text(encoding="utf-8"))
SAME_YES = 0.01  # other processors sum in another order, and a sharp probability magnifies that


@pytest.mark.parametrize(
    ("labels", "scores", "expected"),
    [
        ([True, False], [0.9, 0.1], 1.0),
        ([True, False], [0.1, 0.9], 0.0),
        ([True, False, True, False], [0.5] * 4, 0.5),
        ([True, True], [0.5, 0.6], None),
    ],
)
def test_auc_counts_pairs_in_order_and_ties_by_half(
    labels: list[bool], scores: list[float], expected: float | None
) -> None:
    assert auc(labels, scores) == expected


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1))
def test_turning_labels_round_turns_the_auc_round(pairs: list[tuple[bool, float]]) -> None:
    labels, scores = [label for label, _ in pairs], [score for _, score in pairs]
    found = auc(labels, scores)
    turned = auc([not label for label in labels], scores)
    assert (found is None and turned is None) or found == pytest.approx(1 - (turned or 0))


def test_a_calibrated_forecast_has_no_error_and_a_sure_wrong_one_has_all() -> None:
    assert calibration_error([True, False], [0.5, 0.5]) == 0
    assert calibration_error([False, False], [1.0, 1.0]) == 1
    assert calibration_error([], []) == 0


def test_an_overconfident_forecast_is_cooled() -> None:
    labels, probs = [True, True, True, False] * 50, [0.99] * 200
    assert best_temperature(labels, probs) > 1
    assert tempered(0.99, 4) == pytest.approx(0.759, abs=1e-3)


def prediction(number: int, asked: str, *, label: bool, yes: float) -> dict[str, Any]:
    return {
        "id": f"made/{number}", "source": "made", "check": "toxicity", "asked": asked, "label": int(label),
        "chars": 10, "yes": yes, "mass": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize(("yes", "floor", "status"), [(0.99, 0.99, "supported"), (0.6, 0.9, "experimental")])
def test_a_check_is_supported_when_it_ranks_and_calibrates_on_every_source(
    yes: float, floor: float, status: str
) -> None:
    predictions = [
        prediction(number, asked, label=number % 2 == 0, yes=yes if number % 2 == 0 else 1 - yes)
        for number in range(80)
        for asked in ("ask", "deny", "unseen", "packed")
    ]
    assert quality(predictions, {"toxicity": {"made": floor}})["toxicity"]["status"] == status


def test_the_model_card_is_generated_from_the_recorded_figures() -> None:
    assert (SHIPPED / "README.md").read_text(encoding="utf-8") == model_card(QUALITY, load_card(SHIPPED).card)


def test_the_recorded_figures_are_those_of_the_shipped_weights() -> None:
    assert QUALITY["revision"] == load_card(SHIPPED).card.revision


async def test_the_shipped_graphs_answer_the_obvious_cases_as_the_card_says() -> None:
    for answer, recorded in zip(await read_obvious(), QUALITY["obvious"], strict=True):
        assert answer["text"] == recorded["text"]
        assert answer["yes"] == pytest.approx(recorded["yes"], abs=SAME_YES)
