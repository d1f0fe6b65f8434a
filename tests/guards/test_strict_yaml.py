import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guards.errors import PolicyError
from guards.strict_yaml import MAX_BYTES, parse

_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcdef", min_size=1), inner, max_size=4),
    max_leaves=12,
)


@given(_values)
def test_json_is_read_as_it_is(value: object) -> None:
    text = json.dumps({"value": value}, ensure_ascii=False)  # which is YAML
    assert parse(text, "f").value == {"value": value}


def test_scalars_are_read_as_yaml_1_2_does() -> None:
    text = "{a: no, b: on, c: 12:30, d: 010, e: 0x1f, f: 1e3, g: ~, h: true, i: 2024-01-01, j: -7, k: '1'}"
    assert parse(text, "f").value == {
        "a": "no", "b": "on", "c": "12:30", "d": "010", "e": "0x1f", "f": 1000.0,
        "g": None, "h": True, "i": "2024-01-01", "j": -7, "k": "1",
    }  # fmt: skip


def test_lines_are_those_of_keys_and_items() -> None:
    document = parse("a:\n  - 1\n  - b: 2\n", "f")
    assert document.line(("a",)) == 1
    assert document.line(("a", 1, "b")) == 3
    assert document.line(("a", 1, "c", "d")) == 3


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "empty"),
        ("a: 1\nb: [", 2, "not YAML"),
        ("a: 1\na: 2", 2, "there twice"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n", 3, "merge keys"),
        ("a: !!python/object:os.system x", 1, "tag"),
        ("a: !!set {b}", 1, "tag"),
        ("? [a]\n: 1", 1, "a key must be a text"),
        ("a: \x00", 1, "not YAML"),
        ("a: 1\n---\nb: 2", 2, "not YAML"),
        ("[" * 3000, 1, ""),
        ("a: " + "[" * 40 + "]" * 40, 1, "nested deeper"),
        ("a: &a [*a]", 1, "nested deeper"),
        ("x" * (MAX_BYTES + 1), 1, "larger than"),
    ],
)
def test_a_fault_has_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse(text, "f")
    assert reason in caught.value.reason
    assert caught.value.line == line


def test_a_few_lines_cannot_stand_for_millions() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 8)}]" for i in range(1, 9)]
    with pytest.raises(PolicyError, match="aliases followed"):
        parse("\n".join(lines), "f")
