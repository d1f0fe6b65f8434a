"""Which of the policies of a file or directory load, and why the others do not. Runs none of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from guards.errors import PolicyError
from guards.loader import load_policy, policies_at
from guards.policy import Policy


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One policy file: the policy, or why it is none."""

    file: str
    policy: Policy | None
    error: PolicyError | None


def check_policies(path: Path) -> tuple[CheckResult, ...]:
    """Each policy of a file or directory, loaded or not: the work of `readgate policy check`."""
    results: list[CheckResult] = []
    names: dict[str, str] = {}
    for file in policies_at(path):
        try:
            policy = load_policy(file)
            if policy.name in names:
                raise PolicyError(str(file), 1, f"the name {policy.name!r} is also in {names[policy.name]}")  # noqa: TRY301 (one place makes results)
        except PolicyError as error:
            results.append(CheckResult(str(file), None, error))
            continue
        names[policy.name] = str(file)
        results.append(CheckResult(str(file), policy, None))
    return tuple(results)


def render_checks(results: Sequence[CheckResult]) -> str:
    """One line a file."""
    lines = [
        f"{result.error}"
        if result.policy is None
        else f"ok  {result.file}: {result.policy.name}, {len(result.policy.checks)} checks, hash {result.policy.hash}"
        for result in results
    ]
    return "\n".join(lines)
