from pathlib import Path

import pytest

from guards.checks import ChoiceCheck, Stage
from guards.errors import PolicyError
from guards.loader import load_directory, load_policy, parse_policy
from tests.guards.policies import FULL, policy


def _error(text: str) -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        parse_policy(text, "p.yaml")
    return caught.value


def test_a_policy_with_every_kind_of_check_loads() -> None:
    loaded = policy()
    assert [check.id for check in loaded.checks] == ["injection", "topic", "harm", "codename", "secrets"]
    assert [check.id for check in loaded.at(Stage.REQUEST)] == ["injection", "topic", "codename"]
    assert loaded.read.packing == "packed"


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("at: 0.85", "att: 0.85", 8, "unknown key 'att' in block; did you mean 'at'?"),
        ("version: 1", "version: 2", 1, "version"),
        ("version: 1", "versoin: 1", 1, "did you mean 'version'?"),
        ("name: full", "name: Full Name", 2, "name"),
        ("stage: [response]\n    score", "stage: [respons]\n    score", 17, "did you mean 'response'?"),
        ("stage: [response]\n    score", "stage: [response, response]\n    score", 16, "a stage is named twice"),
        ("at: 0.5", "at: 0.9", 5, "flag.at must be below block.at"),
        ("at: 0.85", "at: 1.85", 5, "at most 1"),
        ("at: 1.5", "at: 2.5", 16, "at most 2"),
        ("block: {at: 1.5}", "block: {}", 16, "block needs a threshold: at"),
        ("block: {at: 1.5}", "redact: {}", 20, "'redact' is not supported in this version"),
        ("block: {at: 1.5}", "shadow: false", 16, "needs an action"),
        ("id: harm", "id: topic", 16, "the id 'topic' is also on line 10"),
        ("allow: [billing,", "allow: [biling,", 14, "unknown option 'biling'; did you mean 'billing'?"),
        ("allow: [billing, technical]", "allow: [billing, technical, other]", 10, "could never act"),
        (
            "{billing: Payments, technical: Bugs, other: Anything else}",
            "[billing, billing, technical]",
            10,
            "named twice",
        ),
        ("levels: [harmless, careless, dangerous]", "levels: [harmless]", 19, "at least 2"),
        ("rule: secrets", "rule: pii", 28, "rule: pii is not supported in this version"),
        ("rule: secrets", "rule: secretz", 28, "unknown rule 'secretz'; did you mean 'secrets'?"),
        ("\\d+", "\\d+(?=x)", 24, "not a pattern of RE2"),
        ("PROJECT-[A-Z]{4}\\d+", "x*", 24, "matches the empty text"),
        ("    score: How harmful is it?\n", "", 16, "needs exactly one of predicate, choice, score, rule"),
        ("score: How", "scores: How", 18, "did you mean 'score'?"),
        ("block: {}", "block: {at: 0.5}", 21, "an exact rule has no threshold"),
        ("flag: {}", "flag: {}\n    block: {}", 26, "could never act"),
        ("description: Every kind of check.", "on_error: fail", 3, "on_error"),
        ("description: Every kind of check.", "extends: other", 3, "'extends' is not supported"),
        (
            "description: Every kind of check.",
            "stream: {release: window}",
            3,
            "not supported in this version; use hold",
        ),
        ("description: Every kind of check.", "stream: {window_tokens: 9}", 3, "'window_tokens' is not supported"),
        ("description: Every kind of check.", "sample: 0.5", 1, "sample below 1 needs shadow"),
        ("description: Every kind of check.", "timeout_s: .inf", 3, "timeout_s"),
        ("description: Every kind of check.", "timeout_s: 0", 3, "greater than 0"),
        ("description: Every kind of check.", "blocked: {as: refusal, status: 400}", 3, "belongs to as: error"),
        ("description: Every kind of check.", "blocked: {as: error, status: 503}", 3, "less than or equal to 499"),
        ("description: Every kind of check.", "read: {draws: 0}", 3, "read.draws"),
        ("description: Every kind of check.", "read: {packing: paked}", 3, "'paked' is not known"),
        ("description: Every kind of check.", "context: {turn: 3}", 3, "did you mean 'turns'?"),
        ("description: Every kind of check.", "context: {turns: ten}", 3, "context.turns"),
        ("description: Every kind of check.", "name: again", 3, "the key 'name' is there twice"),
    ],
)
def test_an_error_names_the_line_and_the_nearest_known_name(old: str, new: str, line: int, reason: str) -> None:
    assert old in FULL
    error = _error(FULL.replace(old, new, 1))
    assert reason in error.reason
    assert error.line == line
    assert str(error).startswith(f"p.yaml:{line}: ")


@pytest.mark.parametrize(
    "text", ["[]", "just text", "checks: 3\nversion: 1\nname: x\n", "checks: [3]\nversion: 1\nname: x\n"]
)
def test_what_is_no_policy_is_an_error(text: str) -> None:
    assert _error(text).line == 1


def test_the_hash_changes_with_a_threshold_and_not_with_the_description() -> None:
    assert policy(FULL.replace("Every kind of check.", "Else.")).hash == policy().hash
    assert policy(FULL.replace("0.85", "0.86")).hash != policy().hash


def test_options_may_be_a_plain_list_and_may_be_called_yes_and_no() -> None:
    loaded = policy(
        FULL.replace("{billing: Payments, technical: Bugs, other: Anything else}", "[yes, no, 'null']").replace(
            "allow: [billing, technical]", "allow: [yes, no]"
        )
    )
    check = loaded.checks[1]
    assert isinstance(check, ChoiceCheck)
    assert list(check.options) == ["yes", "no", "null"]


def test_a_directory_loads_by_name_and_leaves_tests_out(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(FULL)
    (tmp_path / "b.yml").write_text(FULL.replace("name: full", "name: other"))
    (tmp_path / "a_test.yaml").write_text("not: a policy")
    assert sorted(load_directory(tmp_path)) == ["full", "other"]


def test_one_broken_file_fails_the_whole_directory(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(FULL)
    (tmp_path / "b.yaml").write_text("version: 9\n")
    with pytest.raises(PolicyError, match=r"b\.yaml:1"):
        load_directory(tmp_path)


def test_two_files_of_one_name_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(FULL)
    (tmp_path / "b.yaml").write_text(FULL)
    with pytest.raises(PolicyError, match=r"'full' is also in a\.yaml"):
        load_directory(tmp_path)


def test_an_empty_or_missing_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="holds no policy"):
        load_directory(tmp_path)
    with pytest.raises(PolicyError, match="is not a directory"):
        load_directory(tmp_path / "none")


def test_a_file_that_is_missing_or_not_utf8_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="cannot be read"):
        load_policy(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: \xe9\n")
    with pytest.raises(PolicyError, match="not UTF-8"):
        load_policy(tmp_path / "latin.yaml")
