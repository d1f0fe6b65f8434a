"""JSON as it is written: nothing dropped, nothing bent, every refusal with its place."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.errors import InvalidBody
from deployments.strict_json import parse_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda below: st.lists(below) | st.dictionaries(st.text(), below),
    max_leaves=20,
)


@given(JSON, st.booleans())
def test_every_json_value_comes_back(value: Any, escaped: bool) -> None:  # noqa: ANN401, FBT001 - any JSON
    assert parse_json(json.dumps(value, ensure_ascii=escaped).encode(), depth=50) == value


REFUSED: list[tuple[bytes, list[str | int], str]] = [
    (b'{"a": {"b": [0, {"c": 1, "c": 2}]}}', ["body", "a", "b", 1, "c"], "duplicate_key"),
    (b'{"a": 1, "a": {"a": 1, "a": 1}}', ["body", "a"], "duplicate_key"),
    (b'{"a": [1e999]}', ["body", "a", 0], "finite_number"),
    (b'{"a": NaN}', ["body", 0], "json_invalid"),
    (b'["\\ud800"]', ["body", 0], "string_unicode"),
    (b'{"\\uDfff": 1}', ["body"], "string_unicode"),
    (b'"\xff"', ["body", 1], "json_invalid"),
    (b"[" * 10 + b"]" * 10, ["body", 0, 0, 0], "too_deep"),
    (b"[" * 100_000, ["body"], "too_deep"),
    (b"1" * 5000, ["body", 0], "json_invalid"),
    (b"", ["body", 0], "json_invalid"),
    (b'{"a": 1} x', ["body", 9], "json_invalid"),
]


@pytest.mark.parametrize(
    ("body", "loc", "kind"), REFUSED, ids=[f"{row[2]}-{index}" for index, row in enumerate(REFUSED)]
)
def test_a_refusal_names_the_place(body: bytes, loc: list[str | int], kind: str) -> None:
    with pytest.raises(InvalidBody) as caught:
        parse_json(body, depth=5)
    finding = caught.value.findings[0]
    assert (list(finding.loc), finding.type) == (loc, kind)
    json.dumps([finding.loc, finding.msg], ensure_ascii=False).encode()


def test_a_whole_surrogate_pair_is_a_character() -> None:
    assert parse_json(b'"\\ud83d\\ude00"', depth=5) == "\N{GRINNING FACE}"
