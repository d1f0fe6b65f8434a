"""From verdicts to what the caller of a chat completion gets: status, headers, a body in both forms. No upstream."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from canvas import JSON
from guards.checks import Stage
from guards.dialects.chat import parse_answer
from guards.dialects.chat_blocks import (
    BUSY,
    DONE_EVENT,
    UNAVAILABLE,
    UNREADABLE,
    dump,
    error_object,
    event,
    unread_error,
)
from guards.errors import InvalidAnswer
from guards.policy import Policy
from guards.release import Outcome
from guards.verdict import Action, Verdict, strictest

JSON_TYPE: Final = {"content-type": "application/json"}
UNREAD: Final = "unread"
NONE: Final = "none"
_UNREAD_STATUS: Final = 503
_CALLERS: Final = frozenset({Stage.REQUEST, Stage.TOOL_RESULT})
_CALLERS_STATUS: Final = 400


@dataclass(frozen=True, slots=True)
class Unjudged:
    """A text that was not let through because it could not be read, and why."""

    stage: Stage
    reasons: tuple[str, ...]
    verdict: Verdict | None = None


def unread_outcome(policy: Policy, verdicts: Sequence[Verdict], judged_s: float, unjudged: Unjudged) -> Outcome:
    """By whose fault: what the caller must change is a 400; else a 503, with a time when the reader was only busy.

    A retry would have the upstream generate again for nothing, so client SDKs are told not to.
    """
    headers = {**JSON_TYPE, **verdict_headers(policy, verdicts, judged_s), "x-should-retry": "false"}
    headers["x-readgate-verdict"] = Action.BLOCK.value
    findings = () if unjudged.verdict is None else unjudged.verdict.findings
    unread = [finding for finding in findings if finding.unread and not finding.check.shadow]
    waits = [finding.retry_after_s for finding in unread if finding.retry_after_s is not None]
    form, status = UNAVAILABLE, _UNREAD_STATUS
    if unread and unjudged.stage in _CALLERS and all(finding.permanent for finding in unread):
        form, status = UNREADABLE, _CALLERS_STATUS
    elif waits:
        form = BUSY
        headers["retry-after"] = str(max(1, math.ceil(max(waits))))
    content = unread_error(unjudged.verdict, policy.name, unjudged.stage.value, unjudged.reasons, form)
    return error_outcome(status, headers, content)


def error_outcome(status: int, headers: Mapping[str, str], content: JSON) -> Outcome:
    """An error, as a body and as events."""
    return Outcome(status, headers, dump(content), event(content) + DONE_EVENT)


def as_events(body: bytes) -> bytes:
    """A reply that is no event stream, for a stream that has begun: its own object, or its text in an error."""
    try:
        content = parse_answer(body)
    except InvalidAnswer:
        content = error_object(body.decode("utf-8", "replace"), "server_error", "upstream_failed")
    return event(content) + DONE_EVENT


def failed_headers(policy: Policy, verdicts: Sequence[Verdict], judged_s: float) -> dict[str, str]:
    """Those of an answer that never came: that its request passed is no verdict about it."""
    headers = verdict_headers(policy, verdicts, judged_s)
    if headers["x-readgate-verdict"] == Action.PASS.value:
        headers["x-readgate-verdict"] = NONE
    return {**JSON_TYPE, **headers}


def verdict_headers(policy: Policy, verdicts: Sequence[Verdict], judged_s: float) -> dict[str, str]:
    """Which policy, what came out, and what ran with its value; a check that did not run is not named.

    What no check could see is: a policy of exact rules alone lets pictures and sound pass, and must not seem to have
    judged them.
    """
    ran = [
        finding
        for verdict in verdicts
        for finding in verdict.findings
        if not finding.unread and not finding.check.shadow
    ]
    read = all(verdict.read for verdict in verdicts)
    action = strictest(verdicts).action.value if verdicts and (ran or not read) else NONE
    if not read and action == Action.PASS.value:
        action = UNREAD  # on_error: allow let it go, and says so
    headers = {
        "x-readgate-policy": policy.name,
        "x-readgate-verdict": action,
        "x-readgate-ms": f"{judged_s * 1000:.1f}",
    }
    if ran:
        headers["x-readgate-checks"] = ", ".join(
            f"{finding.check.id}={len(finding.spans) if finding.value is None else format(finding.value, '.3f')}"
            for finding in ran
        )
    unseen = {
        finding.unseen: None
        for verdict in verdicts
        for finding in verdict.findings
        if finding.unseen and all(one.value is None for one in verdict.findings)
    }
    if unseen:
        headers["x-readgate-unseen"] = ", ".join(unseen)
    return headers
