"""`readgate policy check|test`: guards' own checks, printed. Needs the base install."""

import sys
from pathlib import Path

from guards.errors import PolicyError
from guards.loader import load_directory, load_policy


def check_policies(path: Path) -> int:
    """0 when every policy loads."""
    try:
        policies = load_directory(path) if path.is_dir() else {path.stem: load_policy(path)}
    except PolicyError as error:
        print(error, file=sys.stderr)
        return 1
    for name, policy in policies.items():
        print(f"{name}: ok ({len(policy.checks)} checks)")
    return 0


def test_policies(path: Path) -> int:
    """Until guards' policy tests land: said, not pretended."""
    print(f"readgate policy test: not built yet ({path})", file=sys.stderr)
    return 1
