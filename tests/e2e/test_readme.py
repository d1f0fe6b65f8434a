"""Every command in the README and docs is run as written, and answers what the page shows."""

import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from canvas import JSON
from tests.e2e.served import ROOT, Served

PAGES = ("README.md",)
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VOLATILE = frozenset({"id", "created", "ms", "request_id"})
PROBABILITY_TOLERANCE = 0.02  # floating point on another processor; the page shows what one machine said


def commands() -> Iterator[tuple[str, str, str]]:
    """Page, command, shown output, for every `$` line of a console block."""
    for page in PAGES:
        for block in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                lines = part.splitlines()
                end = next(i for i, _ in enumerate(lines) if _complete("\n".join(lines[: i + 1])))
                yield page, "\n".join(lines[: end + 1]), "\n".join(lines[end + 1 :]).strip()


def _complete(command: str) -> bool:
    return not command.endswith("\\") and command.count("'") % 2 == 0


def assert_like(got: JSON, shown: JSON, where: str = "") -> None:
    """Equal, but for identifiers and times, and numbers within the tolerance."""
    if isinstance(shown, dict):
        assert isinstance(got, dict), where
        assert list(got) == list(shown), where
        for key in set(shown) - VOLATILE:
            assert_like(got[key], shown[key], f"{where}.{key}")
    elif isinstance(shown, list):
        assert isinstance(got, list), where
        assert len(got) == len(shown), where
        for index, pair in enumerate(zip(got, shown, strict=True)):
            assert_like(*pair, f"{where}[{index}]")
    elif isinstance(shown, float):
        assert isinstance(got, float), where
        assert math.isclose(got, shown, abs_tol=PROBABILITY_TOLERANCE), f"{where}: {got} is not near {shown}"
    else:
        assert got == shown, where


@pytest.mark.slow
@pytest.mark.parametrize(("page", "command", "shown"), list(commands()))
def test_a_command_of_the_docs_answers_as_shown(page: str, command: str, shown: str, served: Served) -> None:
    line = command.replace("localhost:8000", served.url.removeprefix("http://"))
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    done = subprocess.run(  # noqa: S603 - the commands of our own pages
        ["/bin/bash", "-c", line], cwd=ROOT, env={"PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip(), f"{page}: no output; {done.stderr}"
    if shown.startswith("{"):
        assert_like(json.loads(done.stdout), json.loads(shown))
    else:
        assert done.stdout.strip() == shown
