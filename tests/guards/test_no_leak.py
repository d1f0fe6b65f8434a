"""Law 5 for held streams: whatever the upstream says, however it is cut, no text leaves before its verdict."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.types import Message

from guards.policy import Policy
from guards.policy_book import PolicyBook
from guards.screen import Guard
from guards.upstream import UpstreamReply, UpstreamRequest
from tests.guards.fakes import CountingMeter, ListAudit, ScriptedReader, Someone, chunk
from tests.guards.policies import rule_only
from tests.guards.rig import CHAT, build_app

FORBIDDEN = "FORBIDDEN"
_texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
_fields = st.sampled_from(["content", "reasoning_content", "refusal", "x_unknown"])
_deltas = st.lists(st.tuples(st.integers(0, 2), _fields, _texts), min_size=1, max_size=8)


class _Cut:
    """An upstream that sends given pieces and notes what the caller had by each of them."""

    def __init__(self, pieces: Sequence[bytes], sent: list[bytes]) -> None:
        self._pieces = pieces
        self._sent = sent
        self.early: list[bytes] = []

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    @asynccontextmanager
    async def send(self, request: UpstreamRequest) -> AsyncGenerator[UpstreamReply]:
        assert request.stream
        yield UpstreamReply(200, {"content-type": "text/event-stream"}, self._body())

    async def _body(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece
            await asyncio.sleep(0)
            self.early = [one for one in self._sent if one != b": keep-alive\n\n"]


async def _call(pieces: Sequence[bytes], keep_alive_s: float, words: Policy) -> tuple[int, bytes, _Cut]:
    """The proxy's ASGI messages for one streamed request."""
    sent: list[bytes] = []
    status = 0
    upstream = _Cut(pieces, sent)
    guard = Guard(ScriptedReader(), audit=ListAudit(), meter=CountingMeter(), clock_s=lambda: 0.0, now_s=lambda: 0.0)
    app = build_app(
        guard, PolicyBook({"words": words}, "words"), {"gpt": upstream}, keep_alive_s=keep_alive_s, caller=Someone()
    )
    body = json.dumps({"model": "gpt", "stream": True, "messages": [{"role": "user", "content": "hi"}]}).encode()
    asked = False

    async def receive() -> Message:
        nonlocal asked
        if asked:
            await asyncio.Event().wait()
        asked = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        elif message.get("body"):
            sent.append(message["body"])

    scope: dict[str, Any] = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": CHAT, "raw_path": CHAT.encode(), "query_string": b"", "root_path": "", "headers": [], "client": None,
        "server": None,
    }  # fmt: skip
    await app(scope, receive, send)
    return status, b"".join(one for one in sent if one != b": keep-alive\n\n"), upstream


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    deltas=_deltas,
    cuts=st.lists(st.integers(0, 2000), max_size=12),
    late=st.booleans(),
    forbidden=st.none() | st.integers(1, 8),
    ends=st.sampled_from(["\n\n", "\r\n\r\n", "\r\r"]),
)
async def test_no_byte_leaves_before_the_verdict_and_none_of_a_blocked_answer_ever(
    *, deltas: list[tuple[int, str, str]], cuts: list[int], late: bool, forbidden: int | None, ends: str
) -> None:
    said = [(index, name, text.replace("F", "f")) for index, name, text in deltas]
    if forbidden is not None:  # the word in two deltas of one field of one choice, others' deltas between
        first = said[0][:2]
        between = [one for one in said[1:] if one[:2] != first]
        said = [said[0], (*first, FORBIDDEN[:forbidden]), *between, (*first, FORBIDDEN[forbidden:])]
    events = b"".join(chunk({name: text}, index=index) for index, name, text in said) + b"data: [DONE]\n\n"
    raw = events.replace(b"\n\n", ends.encode())
    places = sorted({min(cut, len(raw)) for cut in cuts})
    pieces = [raw[a:b] for a, b in zip([0, *places], [*places, len(raw)], strict=True)]
    status, body, upstream = await _call(pieces, 0.0 if late else 30.0, rule_only())
    assert upstream.early == []
    if forbidden is None:
        assert status == 200
        assert body == raw
    else:
        assert status == (200 if late else 400)
        assert b'"content_policy"' in body
        for event in raw.split(ends.encode()):
            assert not event.startswith(b"data: {") or event not in body


@pytest.mark.parametrize("keep_alive_s", [0.0, 30.0])
async def test_with_no_check_of_answers_each_piece_has_left_before_the_next_is_asked_for(keep_alive_s: float) -> None:
    pieces = [chunk({"content": "FORB"})[:9], chunk({"content": "FORB"})[9:], chunk({"content": FORBIDDEN})]
    status, body, upstream = await _call(pieces, keep_alive_s, rule_only("request"))
    assert status == 200
    assert upstream.early == pieces
    assert body == b"".join(pieces)
