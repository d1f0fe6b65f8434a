"""Every way a request can fail, and its status. Knows no dialect: rendering is dialects.errors'.

Errors of other layers become faults in `fault_table`.

Fault
├─ InvalidBody        422  a body that is no valid request; a list of findings, each with its place
├─ BadRequest         400  well formed, and impossible: an unknown model, an unclaimed asset
├─ UnknownModel       400  (404 for OpenAI's clients)
├─ Unauthenticated    401  a key that is none of ours
├─ MissingKey         403  no key where one is needed (401 for OpenAI's clients)
├─ TooLarge           413  more bytes than a limit
├─ UnsupportedType    415  a content type or encoding that is not read
└─ RateLimited        429  this key's own limit
"""

from dataclasses import dataclass

Loc = tuple[str | int, ...]


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


def place(loc: Loc) -> str:
    """`("body", "questions", "q")` -> `questions.q`, as the official SDK prints it."""
    parts = loc[1:] if loc[:1] == ("body",) and len(loc) > 1 else loc
    return ".".join(str(part) for part in parts)
