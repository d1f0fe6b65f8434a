"""The command line: what it prints, and its exit codes 0, 1 and 2."""

import json
from pathlib import Path

import pytest

from deployments.auth import Caller
from deployments.cli import main
from deployments.cli_ask import UsageError, questions_of, table
from tests.server import Setup, serving

CONFIGS = Path(__file__).parents[2] / "configs"
ASKED = ["--predicate", "Is it urgent?", "--choice", "Which team?=billing, sales", "--score", "How angry?=calm,furious"]


def test_ask_prints_a_line_for_each_answer(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Setup()) as url:
        assert main(["ask", "I was charged twice.", *ASKED, "--url", url]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["question", "answer", "probability", "others"]
    assert [line.split("?")[0] for line in lines[1:]] == ["Is it urgent", "Which team", "How angry"]


def test_ask_prints_the_servers_json_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Setup()) as url:
        assert main(["ask", "x", "--predicate", "Is it urgent?", "--packed", "--json", "--url", url]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["answers"]["Is it urgent?"]["type"] == "noul"
    assert body["x_packing"] == "packed"


def test_ask_sends_the_key_of_a_named_variable(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Setup(keys={Caller("acme"): "made-up-key"})) as url:
        assert main(["ask", "x", "--predicate", "Is it?", "--url", url]) == 1
        assert "Missing API key" in capsys.readouterr().err
        monkeypatch.setenv("ACME_KEY", "made-up-key")
        assert main(["ask", "x", "--predicate", "Is it?", "--url", url, "--key-env", "ACME_KEY"]) == 0


def test_ask_without_a_server_says_where_it_looked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", "x", "--predicate", "Is it?", "--url", "http://127.0.0.1:9"]) == 1
    assert "no answer from http://127.0.0.1:9" in capsys.readouterr().err


WRONG: list[tuple[list[str], str]] = [
    ([], "needs at least one"),
    (["--choice", "Which?"], "needs QUESTION=A,B"),
    (["--choice", "Which?=a,,b"], "needs QUESTION=A,B"),
    (["--score", "How?=a,a"], "given twice"),
    (["--predicate", "Is it?", "--predicate", "Is it?"], "the same text"),
    (["--predicate", "Is it?", "--key-env", "NO_SUCH_VARIABLE"], "NO_SUCH_VARIABLE is not set"),
]


WRONG_IDS = [f"{index} {reason}" for index, (_, reason) in enumerate(WRONG)]


@pytest.mark.parametrize(("arguments", "reason"), WRONG, ids=WRONG_IDS)
def test_a_question_that_cannot_be_asked_is_wrong_use(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", "x", *arguments]) == 2
    assert reason in capsys.readouterr().err


def test_an_option_may_hold_an_equals_sign_in_its_question() -> None:
    assert questions_of([], ["Is a=b?=yes,no"], [])["Is a=b?"]["criteria"] == {"yes": None, "no": None}
    with pytest.raises(UsageError):
        questions_of([], ["=a,b"], [])


def test_a_table_names_levels_and_the_runners_up() -> None:
    answer = {
        "type": "score",
        "score": 0.9,
        "legend": {"0": "calm", "1": "angry"},
        "probabilities": {"0": 0.1, "1": 0.9},
    }
    assert table({"How?": answer}).splitlines()[1].split() == ["How?", "0.90", "(angry)", "0.900", "calm", "0.100"]


def test_config_check_accepts_the_shipped_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", str(CONFIGS / "serve.dev.yaml")]) == 0
    assert "ok (embedded engine, 127.0.0.1:8000)" in capsys.readouterr().out


def test_config_check_fails_with_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "serve.yaml"
    path.write_text("applicatons: []\n")
    monkeypatch.setenv("READGATE_CONFIG", str(path))
    assert main(["config", "check"]) == 1
    assert f"{path}:1: unknown key 'applicatons' in the file; did you mean 'applications'?" in capsys.readouterr().err


def test_policy_check_and_test_judge_the_shipped_policies(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "check", str(CONFIGS / "policies")]) == 0
    assert main(["policy", "test", str(CONFIGS / "policies")]) == 0
    assert "cases hold" in capsys.readouterr().out


@pytest.mark.parametrize("action", ["check", "test"])
def test_a_broken_policy_fails_with_file_and_line(
    action: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("version: 1\nnam: x\n")
    assert main(["policy", action, str(path)]) == 1
    shown = capsys.readouterr()
    assert f"{path}:2" in shown.out + shown.err


def test_doctor_names_variables_and_never_their_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (CONFIGS / "serve.dev.yaml").read_text().replace("directory: policies", f"directory: {CONFIGS / 'policies'}")
    keyed = "keys: {acme: {key: {env: ACME_KEY}}, other: {key: {env: OTHER_KEY}}}\n      cache:"
    path = tmp_path / "serve.yaml"
    path.write_text(text.replace("cache:", keyed, 1))
    monkeypatch.setenv("ACME_KEY", "made-up-key")
    monkeypatch.delenv("OTHER_KEY", raising=False)
    assert main(["doctor", "--config", str(path)]) == 1
    shown = capsys.readouterr().out
    assert "environment variable ACME_KEY is set" in shown
    assert "environment variable OTHER_KEY is not set" in shown
    assert "made-up-key" not in shown


def test_an_unknown_command_is_wrong_use() -> None:
    with pytest.raises(SystemExit) as caught:
        main(["sreve"])
    assert caught.value.code == 2
