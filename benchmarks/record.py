"""Where a bench's numbers go: one JSON file a bench, with the machine, the versions and the commit beside them.

`python benchmarks/record.py` writes RESULTS.md and the README's table from the recorded files. A run from a dirty tree
is printed, never recorded: its numbers would belong to no commit.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
RESULTS: Final = ROOT / "benchmarks" / "results"
PACKAGES: Final = ("ray", "fastapi", "litellm", "onnxruntime", "tokenizers", "vllm", "torch")


def summary(values: Sequence[float]) -> dict[str, float]:
    """Median and range, rounded to four significant digits."""
    return {name: float(f"{f(values):.4g}") for name, f in (("median", median), ("min", min), ("max", max))}


def record(name: str, *, question: str, rows: Sequence[Mapping[str, object]], notes: Sequence[str] = ()) -> None:
    """Print the rows, and keep them under benchmarks/results/NAME.json when the tree is clean.

    `question` says in one sentence what was measured; every row is a flat mapping, the table's columns are its keys.
    """
    entry = {
        "name": name,
        "question": question,
        "date": datetime.now(UTC).date().isoformat(),
        "hardware": _hardware(),
        "versions": {"python": platform.python_version()} | _versions(),
        "commit": _git("rev-parse", "--short=12", "HEAD"),
        "rows": [dict(row) for row in rows],
        "notes": list(notes),
    }
    print(_section(entry))
    if _git("status", "--porcelain", "--untracked-files=no"):
        print(f"not recorded: the tree has uncommitted changes, so {name} has no commit", file=sys.stderr)
        return
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entry, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"recorded {path.relative_to(ROOT)}", file=sys.stderr)


def table() -> str:
    """RESULTS.md, from every recorded file."""
    entries = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*.json"))]
    head = (
        "# Results\n\nGenerated from `benchmarks/results/*.json` by `python benchmarks/record.py`. "
        "Machines are shared: trust ratios and CPU per request before absolute times.\n\n"
    )
    return head + "\n".join(map(_section, entries))


def _section(entry: Mapping[str, Any]) -> str:
    columns = list(dict.fromkeys(key for row in entry["rows"] for key in row))
    lines = [
        f"## {entry['name']}",
        "",
        entry["question"],
        "",
        f"{entry['date']}, {entry['hardware']}, commit {entry['commit']}, "
        + ", ".join(f"{name} {number}" for name, number in entry["versions"].items()),
        "",
        "| " + " | ".join(columns) + " |",
        "|" + "---|" * len(columns),
        *("| " + " | ".join(str(row.get(column, "")) for column in columns) + " |" for row in entry["rows"]),
        "",
        *(f"- {note}" for note in entry["notes"]),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _hardware() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} cores of {model}"


def _versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _git(*args: str) -> str:
    git = shutil.which("git") or "git"
    done = subprocess.run((git, *args), cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603 - our arguments
    return done.stdout.strip()


HIGHLIGHTS: Final = (
    # what the README calls it, the bench, its row by the first column, the column of CPU-ms
    (
        "decision API, 12 packed questions, engine answers at once",
        "serving",
        "systemone, 12 questions packed, uncached",
        1,
    ),
    ("the same, answered from the cache", "serving", "systemone, 12 questions packed, cache hit", 1),
    ("guarded chat, exact rules, upstream answers at once", "serving", "guarded chat, raw relay", 1),
    ("embedded engine alone, 12 packed questions, 256-token state", "embedded", "packed", 3),
)
MARK: Final = "<!-- measured: python benchmarks/record.py -->\n"


def highlights() -> str:
    """The README's table: one number a row, all in CPU milliseconds of all processes."""
    lines = ["| what | CPU-ms, all processes |", "|---|---|"]
    dates: set[str] = set()
    hardware: set[str] = set()
    for label, bench, key, column in HIGHLIGHTS:
        entry = json.loads((RESULTS / f"{bench}.json").read_text(encoding="utf-8"))
        dates.add(entry["date"])
        hardware.add(entry["hardware"])
        found = [list(row.values())[column] for row in entry["rows"] if next(iter(row.values())) == key]
        lines.append(f"| {label} | {found[0]} |")
    where = f"{', '.join(sorted(dates))}, {', '.join(sorted(hardware))}"
    return f"Measured {where} ([all results](benchmarks/RESULTS.md)):\n\n" + "\n".join(lines) + "\n"


def readme() -> str:
    """README.md with its table renewed between its two marks."""
    head, _, tail = (ROOT / "README.md").read_text(encoding="utf-8").split(MARK)
    return head + MARK + highlights() + MARK + tail


if __name__ == "__main__":
    (ROOT / "README.md").write_text(readme(), encoding="utf-8")
    (ROOT / "benchmarks" / "RESULTS.md").write_text(table(), encoding="utf-8")
