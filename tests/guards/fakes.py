"""What guards need from outside, in ten lines each: a reader, an upstream, a server on a loopback port."""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from canvas import Answer, Decision, Distribution, Predicate, Question, ReadOptions, State, Usage
from guards.verdict import Verdict


@dataclass
class ScriptedReader:
    """Answers by question id; what is not scripted is answered as far from acting as can be."""

    probs: dict[str, tuple[float, ...]] = field(default_factory=dict[str, tuple[float, ...]])
    error: Exception | None = None
    delay_s: float = 0.0
    states: list[str] = field(default_factory=list[str])
    cancelled: int = 0

    async def read(
        self,
        state: State,
        questions: Sequence[Question],
        options: ReadOptions,  # noqa: ARG002 (the protocol's signature)
        *,
        tenant: str = "",  # noqa: ARG002
        use_cache: bool = True,  # noqa: ARG002
        calibration: str = "",  # noqa: ARG002
    ) -> Decision:
        self.look(state.text)
        self.states.append(state.text)
        try:
            await asyncio.sleep(self.delay_s)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.error is not None:
            raise self.error
        answers = tuple(
            Answer(question, Distribution(self.judge(question, state.text), label_mass=1.0)) for question in questions
        )
        return Decision(answers, Usage(1, 1), (len(answers),), "scripted")

    def look(self, text: str) -> None:
        """Before anything else: a subclass may refuse the text."""

    def judge(self, question: Question, text: str) -> tuple[float, ...]:  # noqa: ARG002 (for subclasses that look)
        if question.id in self.probs:
            return self.probs[question.id]
        harmless = (0.0, 1.0) if isinstance(question, Predicate) else (1.0,)
        return harmless + (0.0,) * (question.option_count - len(harmless))


class ListAudit:
    """Keeps records; fails when told."""

    def __init__(self) -> None:
        self.records: list[Mapping[str, Any]] = []
        self.error: OSError | None = None

    def write(self, record: Mapping[str, Any]) -> None:
        if self.error is not None:
            raise self.error
        json.dumps(record)
        self.records.append(record)


class CountingMeter:
    def __init__(self) -> None:
        self.verdicts: list[Verdict] = []
        self.lost = 0

    def judged(self, verdict: Verdict, elapsed_s: float) -> None:
        assert elapsed_s >= 0
        self.verdicts.append(verdict)

    def audit_lost(self) -> None:
        self.lost += 1


@dataclass(frozen=True, slots=True)
class Someone:
    tenant: str = "tests"
    policies: frozenset[str] | None = None


class FakeUpstream:
    """An OpenAI-compatible server that says what it is told, in the pieces it is told."""

    def __init__(self) -> None:
        self.status = 200
        self.headers: dict[str, str] = {"content-type": "application/json"}
        self.pieces: list[bytes] = [json.dumps(completion("Hello there.")).encode()]
        self.bodies: list[bytes] = []
        self.request_headers: list[Mapping[str, str]] = []
        self.wait_s = 0.0
        self.left = asyncio.Event()
        self.app = Starlette(routes=[Route("/v1/chat/completions", self._answer, methods=["POST"])])

    def says(self, *answers: str, **extra: Any) -> None:  # noqa: ANN401
        self.headers = {"content-type": "application/json"}
        self.pieces = [json.dumps({**completion(*answers), **extra}).encode()]

    def streams(self, pieces: Sequence[bytes]) -> None:
        self.headers = {"content-type": "text/event-stream"}
        self.pieces = list(pieces)

    async def _answer(self, request: Request) -> Response:
        self.bodies.append(await request.body())
        self.request_headers.append(dict(request.headers))
        return StreamingResponse(self._pieces(), self.status, self.headers)

    async def _pieces(self) -> AsyncIterator[bytes]:
        try:
            for piece in self.pieces:
                yield piece
                await asyncio.sleep(self.wait_s)
        except asyncio.CancelledError:
            self.left.set()
            raise


def completion(*answers: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-up",
        "object": "chat.completion",
        "created": 1,
        "model": "up",
        "choices": [
            {"index": i, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            for i, text in enumerate(answers)
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
    }


def chunk(delta: Mapping[str, Any], *, index: int = 0, finish: str | None = None) -> bytes:
    body = {
        "id": "chatcmpl-up",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "up",
        "choices": [{"index": index, "delta": delta, "finish_reason": finish}],
    }
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


USAGE_CHUNK = (
    b'data: {"id":"chatcmpl-up","object":"chat.completion.chunk","created":1,"model":"up","choices":[],'
    b'"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}\n\n'
)
DONE = b"data: [DONE]\n\n"


def stream_of(*texts: str) -> bytes:
    return b"".join(
        [chunk({"role": "assistant"}), *(chunk({"content": t}) for t in texts), chunk({}, finish="stop"), DONE]
    )


@contextlib.asynccontextmanager
async def serving(app: ASGIApp) -> AsyncGenerator[str]:
    """The app on a loopback port of its own, by real HTTP."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off", timeout_graceful_shutdown=1))
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 (uvicorn offers a flag, no event)
        await asyncio.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await task
