"""No number in the README or in RESULTS.md that is not in a recorded run."""

import json
from pathlib import Path

import pytest

from benchmarks.record import RESULTS, ROOT, readme, table

FILES = sorted(RESULTS.glob("*.json"))


def test_the_results_page_is_what_the_recorded_runs_say() -> None:
    assert (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8") == table()


def test_the_readmes_table_is_what_the_recorded_runs_say() -> None:
    assert (ROOT / "README.md").read_text(encoding="utf-8") == readme()


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_a_recorded_run_names_its_machine_versions_and_commit(file: Path) -> None:
    entry = json.loads(file.read_text(encoding="utf-8"))
    assert entry["hardware"]
    assert entry["versions"]["python"]
    assert len(entry["commit"]) == 12
    assert entry["rows"]
