"""The one table from any error, ours or another layer's, to the fault that answers it. Knows no dialect."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from starlette.exceptions import HTTPException

from canvas import CanvasError, InvalidQuestion, InvalidRead, InvalidState
from canvas.errors import InvalidOptions, StateTooLong
from deployments.engines.engine import EngineTimeout, EngineUnavailable, Overloaded
from deployments.errors import BadRequest, ContextExceeded, Fault, Finding, InvalidBody, MethodNotAllowed, NotFound
from guards.reader import ReadFailed
from guards.strict_json import InvalidJson

UNAVAILABLE_RETRY_S: Final = 1.0  # the official SDK's first back-off is .5 s and its budget 30 s


class _Engine(Fault):
    """What an engine's failure becomes; the status comes from the table."""

    def __init__(self, status: int, error_type: str, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.status = status
        self.error_type = error_type


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


def _invalid_json(error: InvalidJson) -> Fault:
    ctx = (("error", error.detail),) if error.detail else ()
    return InvalidBody((Finding(("body", *error.place), error.reason, error.kind, ctx),))


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
    InvalidJson: _invalid_json,
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
