"""JSON as it is written: nothing dropped, nothing bent, every refusal with its place."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guards.strict_json import InvalidJson, parse, parse_keeping_all

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda below: st.lists(below) | st.dictionaries(st.text(), below),
    max_leaves=20,
)


@given(JSON, st.booleans())
def test_every_json_value_comes_back(value: Any, escaped: bool) -> None:  # noqa: ANN401, FBT001 - any JSON
    body = json.dumps(value, ensure_ascii=escaped).encode()
    assert parse(body, depth=50) == value
    assert parse_keeping_all(body, depth=50) == value


REFUSED: list[tuple[bytes, list[str | int], str]] = [
    (b'{"a": {"b": [0, {"c": 1, "c": 2}]}}', ["a", "b", 1, "c"], "duplicate_key"),
    (b'{"a": 1, "a": {"a": 1, "a": 1}}', ["a"], "duplicate_key"),
    (b'{"a": [1e999]}', ["a", 0], "finite_number"),
    (b'{"a": NaN}', [0], "json_invalid"),
    (b'["\\ud800"]', [0], "string_unicode"),
    (b'{"\\uDfff": 1}', [], "string_unicode"),
    (b'"\xff"', [1], "json_invalid"),
    (b"[" * 10 + b"]" * 10, [0, 0, 0], "too_deep"),
    (b"[" * 100_000, [], "too_deep"),
    (b"1" * 5000, [0], "json_invalid"),
    (b"", [0], "json_invalid"),
    (b'{"a": 1} x', [9], "json_invalid"),
]


@pytest.mark.parametrize(
    ("body", "place", "kind"), REFUSED, ids=[f"{row[2]}-{index}" for index, row in enumerate(REFUSED)]
)
def test_a_refusal_names_the_place(body: bytes, place: list[str | int], kind: str) -> None:
    with pytest.raises(InvalidJson) as caught:
        parse(body, depth=5)
    error = caught.value
    assert (list(error.place), error.kind) == (place, kind)
    json.dumps([error.place, error.reason, error.detail, str(error)], ensure_ascii=False).encode()


def test_a_whole_surrogate_pair_is_a_character() -> None:
    assert parse(b'"\\ud83d\\ude00"') == "\N{GRINNING FACE}"


def test_of_a_models_answer_every_value_of_a_repeated_key_is_kept() -> None:
    assert parse_keeping_all(b'{"a": 1, "a": 2, "a (again)": 3, "a": 4}') == {
        "a": 1,
        "a (again)": 2,
        "a (again) (again)": 3,
        "a (again) (again) (again)": 4,
    }


def test_a_model_may_send_half_of_a_surrogate_pair_because_the_other_half_may_follow() -> None:
    assert parse_keeping_all('"\\ud83d"') == "\ud83d"


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_a_model_may_send_a_number_that_is_none_because_no_text_hides_in_it(number: str) -> None:
    assert str(parse_keeping_all(f"[{number}]")) == {"NaN": "[nan]", "-Infinity": "[-inf]", "1e999": "[inf]"}[number]


KEPT = {"duplicate_key", "string_unicode", "finite_number"}


@pytest.mark.parametrize("row", [row for row in REFUSED if row[2] not in KEPT and b"NaN" not in row[0]])
def test_in_all_else_an_answer_is_read_as_strictly_as_a_request(row: tuple[bytes, list[str | int], str]) -> None:
    with pytest.raises(InvalidJson) as caught:
        parse_keeping_all(row[0], depth=5)
    assert (list(caught.value.place), caught.value.kind) == (row[1], row[2])
