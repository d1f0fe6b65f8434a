"""What the caller of a chat completion sees when the answer is not the upstream's. Knows no HTTP machinery.

Every form exists twice: as a body with a status, and as events for a stream whose status has already been sent.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from canvas import JSON
from guards.audit import finding_record
from guards.verdict import Verdict

DONE_EVENT: Final = b"data: [DONE]\n\n"
_NO_USAGE: Final[Mapping[str, JSON]] = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a refusal needs beside its words. `usage` is the upstream's, or None when no upstream was asked."""

    id: str
    created_s: int
    model: str
    choices: int
    usage: JSON


def event(content: JSON) -> bytes:
    """One data event."""
    return b"data: " + dump(content) + b"\n\n"


def dump(content: JSON) -> bytes:
    """Compact JSON, non-ASCII kept."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def error_object(message: str, kind: str, code: str | None, param: str | None = None) -> dict[str, JSON]:
    """OpenAI's error object."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def blocked_error(verdict: Verdict) -> JSON:
    """The error of a block: which checks, at which value, against which threshold."""
    return {
        "error": {
            "message": verdict.message,
            "type": "invalid_request_error",
            "param": None,
            "code": "content_policy",
            "readgate": {
                "policy": verdict.policy.name,
                "stage": verdict.stage.value,
                "checks": [_details(finding_record(finding)) for finding in verdict.blocking],
            },
        }
    }


@dataclass(frozen=True, slots=True)
class UnreadForm:
    """How the error of an unread text is put: whose fault it is decides code and type."""

    message: str
    kind: str
    code: str


UNREADABLE: Final = UnreadForm(
    "The text holds what cannot be checked, so it was not passed on: ", "invalid_request_error", "content_unreadable"
)
UNAVAILABLE: Final = UnreadForm(
    "The text could not be checked, so it was not let through: ", "server_error", "guard_unavailable"
)
BUSY: Final = UnreadForm(
    "The guard is busy, so the text was not checked and not let through; ask again later: ",
    "server_error",
    "guard_unavailable",
)


def unread_error(
    verdict: Verdict | None, policy: str, stage: str, reasons: Sequence[str], form: UnreadForm = UNAVAILABLE
) -> JSON:
    """The error of a text that could not be read, so was not let through."""
    unread = [] if verdict is None else [finding for finding in verdict.findings if finding.unread]
    return {
        "error": {
            "message": form.message + "; ".join(reasons),
            "type": form.kind,
            "param": None,
            "code": form.code,
            "readgate": {
                "policy": policy,
                "stage": stage,
                "checks": [{"id": finding.check.id, "unread": finding.unread} for finding in unread],
            },
        }
    }


def refusal_body(message: str, refusal: Refusal) -> bytes:
    """A normal completion whose every choice says the message and ends by content filter."""
    choices: list[JSON] = [
        {
            "index": index,
            "message": {"role": "assistant", "content": message, "refusal": None},
            "logprobs": None,
            "finish_reason": "content_filter",
        }
        for index in range(refusal.choices)
    ]
    return dump({**_head(refusal, "chat.completion"), "choices": choices, "usage": refusal.usage or _NO_USAGE})


def refusal_events(message: str, refusal: Refusal, *, include_usage: bool) -> bytes:
    """The same as a stream, usage at its end when it was asked for."""
    head = _head(refusal, "chat.completion.chunk")
    chunks: list[JSON] = []
    for index in range(refusal.choices):
        deltas: tuple[tuple[JSON, str | None], ...] = (
            ({"role": "assistant", "content": message}, None),
            ({}, "content_filter"),
        )
        for delta, reason in deltas:
            choice: JSON = {"index": index, "delta": delta, "logprobs": None, "finish_reason": reason}
            chunks.append({**head, "choices": [choice]})
    if include_usage:
        chunks.append({**head, "choices": [], "usage": refusal.usage or _NO_USAGE})
    return b"".join(event(chunk) for chunk in chunks) + DONE_EVENT


def _head(refusal: Refusal, kind: str) -> dict[str, JSON]:
    return {"id": refusal.id, "object": kind, "created": refusal.created_s, "model": refusal.model}


def _details(record: Mapping[str, JSON]) -> JSON:
    """A finding as the caller may see it: spans say where and what kind, which names no secret."""
    renamed = {"id": record["check"], **{key: value for key, value in record.items() if key not in {"check", "shadow"}}}
    return {"probability": renamed.pop("probability", None), **renamed} if "score" not in renamed else renamed
