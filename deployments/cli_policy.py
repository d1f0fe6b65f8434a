"""`readgate policy check|test`: guards' own work, printed. Needs the base install, but for `model: embedded` cases."""

import asyncio
import os
import sys
from pathlib import Path

from guards.errors import PolicyError
from guards.policy_cases import render_cases, run_cases
from guards.policy_check import check_policies, render_checks
from guards.reader import Reader


def check(path: Path) -> int:
    """0 when every policy loads."""
    try:
        results = check_policies(path)
    except PolicyError as error:
        print(error, file=sys.stderr)
        return 1
    print(render_checks(results))
    return 0 if all(result.error is None for result in results) else 1


def test(path: Path) -> int:
    """0 when every case holds."""
    try:
        results = asyncio.run(run_cases(path, _embedded_reader))
    except PolicyError as error:
        print(error, file=sys.stderr)
        return 1
    print(render_cases(results))
    return 0 if all(result.passed for result in results) else 1


async def _embedded_reader() -> Reader:
    from deployments.assembly import build_local_reader  # noqa: PLC0415 - the serve extra, only where a case needs it

    return await build_local_reader(os.environ)
