"""Every way a request can fail, as one table from type to status. Knows no dialect: rendering is dialects.errors'.

Fault
├─ InvalidBody        422  a body that is no valid request; a list of findings, each with its place
├─ BadRequest         400  well formed, and impossible: an unknown model, an unclaimed asset
├─ UnknownModel       400  (404 for OpenAI's clients)
├─ Unauthenticated    401  a key that is none of ours
├─ MissingKey         403  no key where one is needed (401 for OpenAI's clients)
├─ TooLarge           413  more bytes than a limit
├─ UnsupportedType    415  a content type or encoding that is not read
└─ RateLimited        429  this key's own limit
Errors of other layers (canvas, guards.reader, deployments.engines) are mapped here too: `fault_of`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from starlette.exceptions import HTTPException

from canvas import CanvasError, InvalidQuestion, InvalidRead, InvalidState
from canvas.errors import InvalidOptions, StateTooLong
from deployments.engines.engine import EngineTimeout, EngineUnavailable, Overloaded
from guards.reader import ReadFailed

Loc = tuple[str | int, ...]

UNAVAILABLE_RETRY_S: Final = 1.0  # the official SDK's first back-off is .5 s and its budget 30 s


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with a body: where (from "body" down), what, and pydantic's or our own type word."""

    loc: Loc
    msg: str
    type: str
    ctx: tuple[tuple[str, str | int | float], ...] = ()


class Fault(Exception):
    """A request that is answered with an error."""

    status: int = 500
    error_type: str = "unknown"

    def __init__(self, message: str, *, param: str | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.retry_after_s = retry_after_s


class InvalidBody(Fault):
    """Findings, at least one."""

    status = 422
    error_type = "invalid_request"

    def __init__(self, findings: tuple[Finding, ...], *, param: str | None = None) -> None:
        first = findings[0]
        super().__init__(f"{place(first.loc)}: {first.msg}" if first.loc else first.msg, param=param)
        self.findings = findings


class BadRequest(Fault):
    """Well formed, but it cannot be done."""

    status = 400
    error_type = "invalid_request"


class UnknownModel(Fault):
    """A model name that is not served here."""

    status = 400
    error_type = "invalid_request"


class Unauthenticated(Fault):
    """The bearer key is none of the configured ones."""

    status = 401
    error_type = "authentication_error"


class MissingKey(Fault):
    """Keys are configured and the request brought none."""

    status = 403
    error_type = "authentication_error"


class TooLarge(Fault):
    """More than a limit allows, in bytes."""

    status = 413
    error_type = "request_too_large"


class UnsupportedType(Fault):
    """A Content-Type or Content-Encoding that is not read."""

    status = 415
    error_type = "unsupported_encoding"


class RateLimited(Fault):
    """This key has used its own limit up; retry after `retry_after_s`."""

    status = 429
    error_type = "rate_limit_error"


class NotFound(Fault):
    """No such route."""

    status = 404
    error_type = "not_found"


class MethodNotAllowed(Fault):
    """The route exists, under another method."""

    status = 405
    error_type = "method_not_allowed"


class ContextExceeded(Fault):
    """Prompt and canvas exceed the model's length; live clients branch on this error_type."""

    status = 400
    error_type = "max_tokens_exceeded"


class _Engine(Fault):
    """What an engine's failure becomes; the status comes from the table."""

    def __init__(self, status: int, error_type: str, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.status = status
        self.error_type = error_type


def place(loc: Loc) -> str:
    """`("body", "questions", "q")` -> `questions.q`, as the official SDK prints it."""
    parts = loc[1:] if loc[:1] == ("body",) and len(loc) > 1 else loc
    return ".".join(str(part) for part in parts)


def fault_of(error: BaseException) -> Fault:
    """The table's entry of the error's nearest class.

    An error that has none is ours: 500, without its text, because that may quote the request.
    """
    if isinstance(error, Fault):
        return error
    for kind in type(error).__mro__:
        made = _TABLE.get(kind)
        if made is not None:
            return made(error)
    return _Engine(500, "unknown", "internal error; the log has it under this request id")


def _invalid(place_of: str) -> Callable[[Any], Fault]:
    return lambda error: InvalidBody((Finding(("body", place_of), str(error), "value_error"),), param=place_of)


def _invalid_question(error: InvalidQuestion) -> Fault:
    finding = Finding(("body", "questions", error.question_id), error.reason, "value_error")
    return InvalidBody((finding,), param=error.question_id)


def _http(error: HTTPException) -> Fault:
    match error.status_code:
        case 404:
            return NotFound("no such route")
        case 405:
            return MethodNotAllowed("this route does not take this method")
        case _:
            return BadRequest(str(error.detail))


def _unavailable(error: BaseException) -> Fault:
    return _Engine(503, "unavailable", str(error) or "the engine is not available", UNAVAILABLE_RETRY_S)


def _timeout(error: BaseException) -> Fault:
    return _Engine(504, "timeout", str(error) or "the model did not answer in time")


_TABLE: Final[Mapping[type[BaseException], Callable[[Any], Fault]]] = {
    HTTPException: _http,
    InvalidQuestion: _invalid_question,
    InvalidState: _invalid("state"),
    StateTooLong: lambda error: ContextExceeded(str(error)),
    InvalidOptions: _invalid("x_readgate"),
    InvalidRead: lambda error: _Engine(502, "invalid_read", f"the engine broke its word: {error}"),
    CanvasError: lambda error: _Engine(500, "unknown", f"this server is misconfigured: {error}"),
    Overloaded: lambda error: _Engine(429, "overloaded", str(error), error.retry_after_s),
    EngineTimeout: _timeout,
    TimeoutError: _timeout,
    EngineUnavailable: _unavailable,
    ReadFailed: _unavailable,
}


def retry_headers(fault: Fault) -> dict[str, str]:
    """`retry-after` in whole seconds, rounded up, and `retry-after-ms`, which the official SDK reads first."""
    if fault.retry_after_s is None:
        return {}
    return {
        "retry-after": str(max(1, math.ceil(fault.retry_after_s))),
        "retry-after-ms": str(max(1, math.ceil(fault.retry_after_s * 1000))),
    }
