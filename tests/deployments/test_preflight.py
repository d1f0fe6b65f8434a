"""What a file rightly asks for and a machine lacks is named with the file's line, before anything starts."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from deployments.cli import main
from deployments.config import load_config
from deployments.preflight import lacks

CONFIGS = Path(__file__).parents[2] / "configs"
LAPTOP = (CONFIGS / "serve.dev.yaml").read_text().replace("directory: policies", f"directory: {CONFIGS / 'policies'}")
ABOVE = "      cache: {"


def written(folder: Path, right: str, wrong: str) -> Path:
    assert right in LAPTOP
    path = folder / "serve.yaml"
    path.write_text(LAPTOP.replace(right, wrong, 1))
    return path


def found(path: Path, environ: Mapping[str, str] | None = None) -> list[tuple[str, bool]]:
    return [(str(lack.error), lack.elsewhere) for lack in lacks(load_config(path), environ or {})]


def test_the_laptops_file_lacks_nothing(tmp_path: Path) -> None:
    assert found(written(tmp_path, "models:", "models:")) == []


LACKING = [
    ("{kind: embedded}", "{kind: embedded, checkpoint: nope}", "nope has no card.json and no tokenizer.json"),
    ("default: default", "default: defualt", "there is no policy 'defualt'; did you mean 'default'?"),
    ("default: default", "default: default, routes: {'gpt*': nope}", "policies.routes.gpt*: there is no policy 'nope'"),
    (f"{CONFIGS / 'policies'}", "/nope", "policies.directory: /nope is no directory"),
    (ABOVE, f"      audit: {{file: /nope/audit.jsonl}}\n{ABOVE}", "cannot write into the folder /nope"),
    (
        ABOVE,
        f"      keys: {{a: {{key: {{file: __file__}}, policies: [nope]}}}}\n{ABOVE}",
        "keys.a.policies.0: there is no policy 'nope'",
    ),
]


@pytest.mark.parametrize(("right", "wrong", "reason"), LACKING, ids=[reason for _, _, reason in LACKING])
def test_what_is_missing_here_fails_the_check_with_its_line(
    right: str, wrong: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, right, wrong.replace("__file__", __file__))
    line = next(number for number, text in enumerate(path.read_text().splitlines(), 1) if wrong[:20].strip() in text)
    assert main(["config", "check", str(path)]) == 1
    shown = capsys.readouterr()
    assert f"{path}:{line}: " in shown.err
    assert reason in shown.err
    assert "ok (" not in shown.out


def test_a_secret_that_is_not_set_is_a_warning_where_a_file_is_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    path = written(tmp_path, "models:", "models:\n        gpt: {upstream: 'http://x', api_key: {env: NO_SUCH_KEY}}")
    assert main(["config", "check", str(path)]) == 0
    shown = capsys.readouterr()
    assert "warning:" in shown.err
    assert "models.gpt.api_key: environment variable NO_SUCH_KEY is not set" in shown.err
    assert "ok (" in shown.out


def test_a_secret_that_is_not_set_fails_serving_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    path = written(tmp_path, "models:", "models:\n        gpt: {upstream: 'http://x', api_key: {env: NO_SUCH_KEY}}")
    assert main(["serve", "--config", str(path)]) == 1
    assert "models.gpt.api_key: environment variable NO_SUCH_KEY is not set" in capsys.readouterr().err


def test_two_tenants_with_one_key_are_wrong_wherever_it_is_served(tmp_path: Path) -> None:
    path = written(tmp_path, ABOVE, f"      keys: {{a: {{key: {{env: A}}}}, b: {{key: {{env: B}}}}}}\n{ABOVE}")
    ((reason, elsewhere),) = found(path, {"A": "made-up-key", "B": "made-up-key"})
    assert "keys.b.key: is also the key of 'a'" in reason
    assert "made-up-key" not in reason
    assert not elsewhere
    assert found(path, {"A": "made-up-key", "B": "another-key"}) == []


def test_weights_of_a_cluster_need_not_lie_where_its_file_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "check", str(CONFIGS / "serve.yaml")]) == 0
    assert "warning:" in capsys.readouterr().err
