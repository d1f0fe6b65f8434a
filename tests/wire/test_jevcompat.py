"""The public conformance suite, every MUST and every SHOULD, against a server process of our own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deployments.auth import Caller
from tests.server import Setup, serving

KEY = "made-up-key"


def run_suite(url: str, report: Path, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "jevcompat.cli", "test", url, "--json", str(report), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)  # noqa: S603 - our own arguments
    assert done.returncode == 0, done.stdout
    return json.loads(report.read_text())


@pytest.mark.parametrize("keyed", [False, True])
def test_every_must_and_should_of_jevcompat_passes(keyed: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a parameter
    setup = Setup(keys={Caller("acme"): KEY} if keyed else {})
    with serving(setup) as url:
        report = run_suite(url, tmp_path / "report.json", *(("--key", KEY) if keyed else ()))
    failed = [one["id"] for one in report["results"] if one["status"] == "fail"]
    untested = {one["id"] for one in report["results"] if one["status"] not in {"pass", "fail"}}
    assert failed == []
    assert untested == ({"auth.ignored-when-off"} if keyed else {"auth.bearer", "auth.missing", "auth.invalid"})
