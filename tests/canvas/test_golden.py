import json
from pathlib import Path
from typing import TypedDict

import pytest

from canvas import TEMPLATE_VERSION
from tests.golden.cases import CASES, Case, plans, vector
from tests.golden.regenerate import document
from tests.toy_tokenizer import make


class Vector(TypedDict):
    case: str
    prompt: str
    answer: str
    prompt_ids: list[int]
    canvas_ids: list[int]
    slots: list[tuple[int, list[list[int]]]]


class Golden(TypedDict):
    template_version: int
    plans: list[Vector]


GOLDEN_FILE = Path(__file__).parents[1] / "golden" / "plans.json"


def golden() -> Golden:
    return json.loads(GOLDEN_FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_requests_still_have_the_plans_that_were_recorded(case: Case) -> None:
    tokenizer = make()
    found = [{"case": case.name, **vector(plan, tokenizer)} for plan in plans(case, tokenizer)]
    assert json.loads(json.dumps(found)) == [each for each in golden()["plans"] if each["case"] == case.name]


def test_recorded_texts_encode_to_the_recorded_ids() -> None:
    tokenizer = make()
    for each in golden()["plans"]:
        assert list(tokenizer.encode_with_specials(each["prompt"])) == each["prompt_ids"]
        canvas = list(tokenizer.encode_with_specials(each["answer"]))
        for position, groups in each["slots"]:
            assert canvas[position] == groups[0][0]
            canvas[position] = each["canvas_ids"][position]  # the noise is what the text does not say
        assert canvas == each["canvas_ids"]


def test_the_recorded_file_is_what_regenerating_writes_for_this_template_version() -> None:
    assert golden()["template_version"] == TEMPLATE_VERSION
    assert document() == GOLDEN_FILE.read_text(encoding="utf-8")
