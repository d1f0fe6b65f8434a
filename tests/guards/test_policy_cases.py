from pathlib import Path

import pytest

from deployments.assembly import build_local_reader
from guards.errors import PolicyError
from guards.policy_cases import render_cases, run_cases
from guards.policy_check import check_policies, render_checks
from guards.reader import Reader
from tests.guards.fakes import ScriptedReader
from tests.guards.policies import FULL

SHIPPED = Path(__file__).parents[2] / "configs" / "policies"


def _beside(folder: Path, cases: str, policy: str = FULL) -> Path:
    (folder / "full.yaml").write_text(policy)
    (folder / "full_test.yaml").write_text("policy: full\ncases:\n" + cases)
    return folder


CASE = """\
  - name: a case
    messages: [{role: user, content: hello}]
    probabilities: {injection: 0.9}
    expect: {verdict: block, findings: {injection: block, topic: pass}}
"""


async def test_the_shipped_policies_pass_their_tests() -> None:
    checked = check_policies(SHIPPED)
    assert [result.error for result in checked] == [None] * len(checked)
    results = await run_cases(SHIPPED, lambda: build_local_reader({}))
    assert [result for result in results if not result.passed] == []


async def test_a_case_that_holds_passes(tmp_path: Path) -> None:
    results = await run_cases(_beside(tmp_path, CASE))
    assert render_cases(results) == f"ok      {tmp_path / 'full_test.yaml'}:3: a case\n1 of 1 cases hold"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("verdict: block", "verdict: pass", "verdict: expected pass, got block (injection 0.900"),
        ("injection: block", "injection: flag", "finding injection: expected flag, got block"),
        ("topic: pass", "harm: pass", "finding harm: expected pass, but the check did not run"),
        ("probabilities: {injection: 0.9}", "probabilities: unread", "was not read"),
        ("verdict: block", "read: false", "read: expected false, got true"),
        ("verdict: block", "message: Else", "message: expected 'Else'"),
        ("    probabilities", "    stage: response\n    probabilities", "did not run"),
        ("content: hello", "content: ''", "no check of the policy judges this conversation"),
    ],
)
async def test_a_case_that_does_not_hold_says_what_was_expected_and_what_came(
    tmp_path: Path, old: str, new: str, fault: str
) -> None:
    assert old in CASE
    (result,) = await run_cases(_beside(tmp_path, CASE.replace(old, new, 1)))
    assert not result.passed
    assert any(fault in one for one in result.faults), result.faults
    assert "FAILED" in render_cases([result])


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("{verdict: block, findings: {injection: block, topic: pass}}", "{}", r"full_test.yaml:\d: .*asserts nothing"),
        ("verdict: block", "verdikt: block", "did you mean 'verdict'"),
        ("injection: 0.9", "injecton: 0.9", "did you mean 'injection'"),
        ("injection: 0.9", "codename: 0.9", "unknown key 'codename' in probabilities"),
        ("topic: pass", "topik: pass", "did you mean 'topic'"),
        ("verdict: block", "verdict: blok", "verdict"),
        ("    expect", "    model: embedded\n    expect", "exclude each other"),
        ("probabilities: {injection: 0.9}", "model: embedded", "needs the embedded model"),
        ("role: user", "role: User", "messages\\[0\\].role"),
        ("[{role: user, content: hello}]", "[]", "messages"),
    ],
)
async def test_a_broken_test_file_is_an_error_with_its_line(tmp_path: Path, old: str, new: str, reason: str) -> None:
    assert old in CASE
    with pytest.raises(PolicyError, match=reason):
        await run_cases(_beside(tmp_path, CASE.replace(old, new, 1)))


async def test_a_policy_without_tests_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "full.yaml").write_text(FULL)
    with pytest.raises(PolicyError, match="has no tests"):
        await run_cases(tmp_path / "full.yaml")
    with pytest.raises(PolicyError, match="name the policy beside it"):
        await run_cases(tmp_path / "full_test.yaml")


async def test_tests_of_another_policy_are_an_error(tmp_path: Path) -> None:
    _beside(tmp_path, CASE)
    (tmp_path / "full_test.yaml").write_text("policy: other\ncases:\n" + CASE)
    with pytest.raises(PolicyError, match="tests 'other'"):
        await run_cases(tmp_path)


async def test_a_case_may_ask_the_model(tmp_path: Path) -> None:
    made = 0

    async def make() -> Reader:
        nonlocal made
        made += 1
        return ScriptedReader({"injection": (0.9, 0.1)})

    cases = CASE.replace("probabilities: {injection: 0.9}", "model: embedded")
    results = await run_cases(_beside(tmp_path, cases + cases.replace("a case", "again")), make)
    assert [result.passed for result in results] == [True, True]
    assert made == 1


def test_check_reports_every_file_and_goes_on_after_a_broken_one(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("version: 1\nnam: x\n")
    (tmp_path / "b.yaml").write_text(FULL)
    (tmp_path / "c.yaml").write_text(FULL)
    results = check_policies(tmp_path)
    assert [result.error is None for result in results] == [False, True, False]
    text = render_checks(results)
    assert "a.yaml:2: unknown key 'nam'; did you mean 'name'?" in text
    assert "full, 5 checks, hash" in text
    assert "the name 'full' is also in" in text


def test_an_empty_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="holds no policy"):
        check_policies(tmp_path)
