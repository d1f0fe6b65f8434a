"""From a policy's checks and what was measured to findings and a verdict. Pure: no reader, no clock, no texts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, assert_never

from canvas import Distribution, InvalidRead
from guards.checks import (
    Check,
    ChoiceCheck,
    PredicateCheck,
    ReadCheck,
    RegexCheck,
    ScoreCheck,
    SecretsCheck,
    Stage,
)
from guards.policy import OnError, Policy
from guards.rules.span import Span

PROBS_TOLERANCE: Final = 1e-3  # a sum further from 1 is no distribution; float32 over 255 options stays below 1e-4


class Action(StrEnum):
    """What happens to a text, from the mildest to the strictest; the strictest finding is the verdict.

    This version takes pass, flag and block; the order of all is fixed, because callers compare.
    """

    PASS = "pass"  # noqa: S105 (a verdict, not a password)
    FLAG = "flag"
    REDACT = "redact"
    REWRITE = "rewrite"
    REGENERATE = "regenerate"
    ESCALATE = "escalate"
    BLOCK = "block"

    @property
    def severity(self) -> int:
        return tuple(Action).index(self)


@dataclass(frozen=True, slots=True)
class Measured:
    """A read check's distributions: one a window that was read; the worst decides."""

    windows: tuple[Distribution, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What an exact rule found, perhaps nothing; `unseen` names what holds no text for it: pictures, sound, files."""

    spans: tuple[Span, ...]
    unseen: str = ""


@dataclass(frozen=True, slots=True)
class Unread:
    """The check could not run, and why.

    `permanent`: because of the text itself, so that it will not run next time either. `retry_after_s`: the reader was
    only busy.
    """

    reason: str
    permanent: bool = False
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Empty:
    """There was no text for the check to judge; it did not run, and no finding says that it did."""


Outcome = Measured | Found | Unread | Empty


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's outcome. `value` is what thresholds are compared with (None for rules and unread checks).

    `action` is what the check asks for; a shadow check's is recorded and never acted upon. `threshold` is the one
    that was reached, or else the lowest that could have been.
    """

    check: Check
    action: Action
    value: float | None = None
    threshold: float | None = None
    spans: tuple[Span, ...] = ()
    unseen: str = ""
    unread: str = ""
    permanent: bool = False
    retry_after_s: float | None = None

    @property
    def acts(self) -> bool:
        return self.action is not Action.PASS and not self.check.shadow


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happens to the text of one stage, and why."""

    policy: Policy
    stage: Stage
    findings: tuple[Finding, ...]

    @property
    def action(self) -> Action:
        """The strictest asked for by an acting check; a check that could not run blocks unless the policy allows."""
        actions = [Action.PASS, *(finding.action for finding in self.findings if finding.acts)]
        if not self.read and self.policy.on_error is OnError.BLOCK:
            actions.append(Action.BLOCK)
        return max(actions, key=lambda action: action.severity)

    @property
    def read(self) -> bool:
        """Whether every acting check ran."""
        return not any(finding.unread and not finding.check.shadow for finding in self.findings)

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """The findings that block; empty when the text is blocked only because it could not be read."""
        return tuple(finding for finding in self.findings if finding.acts and finding.action is Action.BLOCK)

    @property
    def message(self) -> str:
        """What the caller is told of a block: the first blocking check's own message, or the policy's."""
        own = (finding.check.block.message for finding in self.blocking if finding.check.block is not None)
        return next((message for message in own if message), self.policy.blocked.message)


def judge(policy: Policy, stage: Stage, outcomes: Mapping[str, Outcome]) -> Verdict:
    """One finding for each outcome, in the policy's order.

    A check of the stage without an outcome is one that could not run, unless it is a shadow that was not sampled.
    """
    findings: list[Finding] = []
    for check in policy.at(stage):
        missing: Outcome = Empty() if check.shadow else Unread("it has no outcome")
        outcome = outcomes.get(check.id, missing)
        if not isinstance(outcome, Empty):
            findings.append(_finding(check, outcome))
    return Verdict(policy, stage, tuple(findings))


def strictest(verdicts: Sequence[Verdict]) -> Verdict:
    """The one that decides among verdicts of several stages: the strictest, unread before read, the first of equals."""
    return max(verdicts, key=lambda verdict: (verdict.action.severity, not verdict.read))


def measure(check: ReadCheck, distribution: Distribution) -> float:
    """The number that the check's thresholds are compared with.

    Raises canvas.InvalidRead when it is not a distribution over the check's options: a NaN is below every threshold,
    so it would pass.
    """
    probs = distribution.probs
    count = check.question.option_count
    if len(probs) != count:
        raise InvalidRead(f"check {check.id!r}: {len(probs)} probabilities for {count} options")
    if not all(math.isfinite(p) and p >= 0 for p in probs) or abs(sum(probs) - 1) > PROBS_TOLERANCE:
        raise InvalidRead(f"check {check.id!r}: the probabilities do not sum to 1")
    match check:
        case PredicateCheck():
            return probs[1] if check.invert else probs[0]
        case ChoiceCheck():
            names = check.options
            return sum(p for name, p in zip(names, probs, strict=True) if name not in check.allow)
        case ScoreCheck():
            return sum(level * p for level, p in enumerate(probs))
        case _:
            assert_never(check)


def _finding(check: Check, outcome: Measured | Found | Unread) -> Finding:
    match outcome:
        case Unread():
            return Finding(
                check,
                Action.PASS,
                unread=outcome.reason,
                permanent=outcome.permanent,
                retry_after_s=outcome.retry_after_s,
            )
        case Found():
            action = _exact(check) if outcome.spans else Action.PASS
            return Finding(check, action, spans=outcome.spans, unseen=outcome.unseen)
        case Measured():
            return _measured(check, outcome)
        case _:
            assert_never(outcome)


def _measured(check: Check, outcome: Measured) -> Finding:
    match check:
        case RegexCheck() | SecretsCheck():
            return Finding(check, Action.PASS, unread="a rule has no probabilities")
        case PredicateCheck() | ChoiceCheck() | ScoreCheck():
            pass
        case _:
            assert_never(check)
    if not outcome.windows:
        return Finding(check, Action.PASS, unread="no window was read")
    try:
        value = max(measure(check, window) for window in outcome.windows)
    except InvalidRead as error:
        return Finding(check, Action.PASS, unread=str(error))
    thresholds = [
        (Action.BLOCK, None if check.block is None else check.block.at),
        (Action.FLAG, None if check.flag is None else check.flag.at),
    ]
    lowest: float | None = None
    for action, at in thresholds:
        if at is None:
            continue
        if value >= at:
            return Finding(check, action, value, at)
        lowest = at
    return Finding(check, Action.PASS, value, lowest)


def _exact(check: Check) -> Action:
    if check.block is not None:
        return Action.BLOCK
    return Action.FLAG if check.flag is not None else Action.PASS
