"""One table from type to status, in both dialects."""

import pytest

from canvas import CanvasOverflow, InvalidQuestion, InvalidRead, InvalidState
from canvas.errors import InvalidOptions, StateTooLong
from deployments.dialects.errors import MAX_FINDINGS, render_error
from deployments.engines.engine import EngineTimeout, EngineUnavailable, Overloaded
from deployments.errors import (
    BadRequest,
    Finding,
    InvalidBody,
    MethodNotAllowed,
    MissingKey,
    NotFound,
    RateLimited,
    TooLarge,
    Unauthenticated,
    UnknownModel,
    UnsupportedType,
)
from deployments.fault_table import fault_of
from guards.reader import ReadFailed

TABLE: list[tuple[Exception, int, int, str]] = [
    (InvalidBody((Finding(("body", "state"), "Field required", "missing"),)), 422, 400, "Field required"),
    (InvalidQuestion("q", "needs 2 to 255 options, got 256"), 422, 400, "needs 2 to 255"),
    (CanvasOverflow("q", "is too long"), 422, 400, "is too long"),
    (InvalidState("takes no images"), 422, 400, "takes no images"),
    (InvalidOptions("draws: needs 1 to 16, got 17"), 422, 400, "draws"),
    (StateTooLong(state_tokens=9, other_tokens=1, limit_tokens=5), 400, 400, "at most 4 of state fit"),
    (BadRequest("a part is claimed by no asset"), 400, 400, "claimed"),
    (UnknownModel("Unknown model: x"), 400, 404, "Unknown model"),
    (Unauthenticated("Invalid API key."), 401, 401, "Invalid"),
    (MissingKey("Missing API key."), 403, 401, "Missing"),
    (NotFound("no such route"), 404, 404, "route"),
    (MethodNotAllowed("not this method"), 405, 405, "method"),
    (TooLarge("larger than 8 MiB"), 413, 413, "8 MiB"),
    (UnsupportedType("send zstd"), 415, 415, "zstd"),
    (RateLimited("used up", retry_after_s=0.25), 429, 429, "used up"),
    (Overloaded("the queue is full", 0.25), 429, 429, "full"),
    (EngineUnavailable("loading"), 503, 503, "loading"),
    (ReadFailed("nothing came"), 503, 503, "nothing came"),
    (EngineTimeout("too slow"), 504, 504, "too slow"),
    (TimeoutError(), 504, 504, "in time"),
    (InvalidRead("a cut canvas"), 502, 502, "a cut canvas"),
    (RuntimeError("private"), 500, 500, "internal error"),
]


@pytest.mark.parametrize(("error", "systemone", "openai", "words"), TABLE, ids=[type(row[0]).__name__ for row in TABLE])
def test_each_error_has_its_status_and_its_words(error: Exception, systemone: int, openai: int, words: str) -> None:
    first, second = render_error(fault_of(error), "systemone"), render_error(fault_of(error), "openai")
    assert (first.status, second.status) == (systemone, openai)
    assert words in str(first.body)
    assert words in str(second.body)
    assert "private" not in f"{first.body}{second.body}"
    assert (systemone == 422) == isinstance(first.body["detail"], list)


@pytest.mark.parametrize(
    ("seconds", "header", "milliseconds"), [(0.0001, "1", "1"), (0.25, "1", "250"), (1.5, "2", "1500")]
)
def test_retry_headers_round_up(seconds: float, header: str, milliseconds: str) -> None:
    reply = render_error(fault_of(Overloaded("full", seconds)), "systemone")
    assert reply.headers == {"retry-after": header, "retry-after-ms": milliseconds}


def test_many_findings_are_cut_and_counted() -> None:
    findings = tuple(Finding(("body", "questions", str(number)), "wrong", "x") for number in range(400))
    detail = render_error(InvalidBody(findings), "systemone").body["detail"]
    assert isinstance(detail, list)
    assert len(detail) == MAX_FINDINGS + 1  # pyright: ignore[reportUnknownArgumentType] - JSON
    assert detail[-1] == {"loc": ["body"], "msg": "and 350 more errors", "type": "too_many_errors"}
