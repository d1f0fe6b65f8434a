"""A fault as each dialect's clients parse it. Knows statuses and bodies, not HTTP."""

from dataclasses import dataclass
from typing import Final, Literal

from deployments.errors import Fault, InvalidBody, MissingKey, UnknownModel, place
from deployments.fault_table import retry_headers

Dialect = Literal["systemone", "openai"]

MAX_FINDINGS: Final = 50  # a body of 400 wrong questions needs no 400 sentences; the last entry counts the rest

_SERVER: Final = 500
_OPENAI_TYPES: Final = {
    401: "authentication_error",
    403: "permission_error",
    404: "invalid_request_error",
    429: "rate_limit_error",
}


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """Status, JSON body and headers of an error."""

    status: int
    body: dict[str, object]
    headers: dict[str, str]


def dialect_of(path: str) -> Dialect:
    """TypeSafe's shape on its two routes and outside /v1; OpenAI's on every other /v1 path, known or not."""
    own = path.startswith(("/v1/systemone", "/v1/models")) or not path.startswith("/v1/")
    return "systemone" if own else "openai"


def render_error(fault: Fault, dialect: Dialect) -> ErrorReply:
    """The reply for a fault; never an empty message."""
    match dialect:
        case "systemone":
            return ErrorReply(fault.status, {"detail": _detail(fault)}, retry_headers(fault))
        case "openai":
            status = _openai_status(fault)
            error = {
                "message": fault.message,
                "type": _OPENAI_TYPES.get(status, "server_error" if status >= _SERVER else "invalid_request_error"),
                "param": fault.param,
                "code": _openai_code(fault),
            }
            return ErrorReply(status, {"error": error}, retry_headers(fault))


def _detail(fault: Fault) -> object:
    if not isinstance(fault, InvalidBody):
        return {"error_type": fault.error_type, "message": fault.message}
    listed: list[dict[str, object]] = []
    for finding in fault.findings[:MAX_FINDINGS]:
        entry: dict[str, object] = {"loc": list(finding.loc), "msg": finding.msg, "type": finding.type}
        if finding.ctx:
            entry["ctx"] = dict(finding.ctx)
        listed.append(entry)
    more = len(fault.findings) - MAX_FINDINGS
    if more > 0:
        listed.append({"loc": ["body"], "msg": f"and {more} more errors", "type": "too_many_errors"})
    return listed


def _openai_status(fault: Fault) -> int:
    """OpenAI's clients expect 400 for a bad body, 401 without a key and 404 for an unknown model."""
    match fault:
        case InvalidBody():
            return 400
        case MissingKey():
            return 401
        case UnknownModel():
            return 404
        case _:
            return fault.status


def _openai_code(fault: Fault) -> str | None:
    match fault:
        case UnknownModel():
            return "model_not_found"
        case InvalidBody():
            return None
        case _ if fault.error_type == "max_tokens_exceeded":
            return "context_length_exceeded"
        case _ if fault.status in {401, 403}:
            return "invalid_api_key"
        case _:
            return fault.error_type


def param_of(loc: tuple[str | int, ...]) -> str | None:
    """`("body", "questions", 0, "choices")` -> `questions[0].choices`, OpenAI's way to name a place."""
    out = ""
    for part in loc[1:] if loc[:1] == ("body",) else loc:
        out += f"[{part}]" if isinstance(part, int) else f".{part}" if out else part
    return out or None


__all__ = ["Dialect", "ErrorReply", "dialect_of", "param_of", "place", "render_error"]
