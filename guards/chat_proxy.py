"""One guarded chat completion: request judged, upstream asked, answer held and judged, outcome. Knows no framework."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

from canvas import JSON
from guards.chat_outcomes import (
    JSON_TYPE,
    UNREAD,
    Unjudged,
    as_events,
    error_outcome,
    failed_headers,
    unread_outcome,
    verdict_headers,
)
from guards.checks import Stage
from guards.dialects.chat import ChatRequest
from guards.dialects.chat_blocks import (
    DONE_EVENT,
    Refusal,
    blocked_error,
    error_object,
    event,
    refusal_body,
    refusal_events,
)
from guards.errors import InvalidConversation, UnknownModel, UpstreamFailed
from guards.held_answer import FIRST_ERROR_STATUS, HeldAnswer, header_details, is_stream, passed_back, take_apart
from guards.policy import OnError, Policy
from guards.policy_book import PolicyBook
from guards.release import Outcome, Relay
from guards.screen import Caller, Guard
from guards.upstream import Upstream, UpstreamReply, UpstreamRequest
from guards.verdict import Action, Verdict, strictest

MAX_ANSWER_BYTES: Final = 64 << 20  # held in memory; a 128,000-token answer streamed token by token is some 30 MiB
PASSED_ON: Final = frozenset({"accept", "user-agent", "traceparent", "tracestate", "openai-beta", "idempotency-key"})
LOOP_BYTES: Final = 64 << 10  # taken apart in about 5 ms; a longer answer is left to a thread
_STATUSES: Final = (*range(200, 300), *range(400, 600))


@dataclass(frozen=True, slots=True)
class Asked:
    """A request on its way: who asks for what, under which policy, from which upstream."""

    request: ChatRequest
    body: bytes
    headers: Mapping[str, str]
    policy: Policy
    upstream: Upstream
    caller: Caller
    request_id: str
    started_s: float


class ChatProxy:
    """Guards chat completions for any number of upstreams. `clock_s` is monotonic, `now_s` the time of day."""

    def __init__(
        self,
        guard: Guard,
        policies: PolicyBook,
        upstreams: Mapping[str, Upstream],
        *,
        new_id: Callable[[], str],
        clock_s: Callable[[], float],
        now_s: Callable[[], float],
        max_answer_bytes: int = MAX_ANSWER_BYTES,
    ) -> None:
        self._guard = guard
        self._policies = policies
        self._upstreams = dict(upstreams)
        self._new_id = new_id
        self._clock_s = clock_s
        self._now_s = now_s
        self._max_answer_bytes = max_answer_bytes

    def accept(
        self, request: ChatRequest, body: bytes, headers: Mapping[str, str], caller: Caller, request_id: str
    ) -> Asked:
        """Choose policy and upstream. Raises UnknownModel or UnknownPolicy."""
        upstream = self._upstreams.get(request.model)
        if upstream is None:
            raise UnknownModel(
                f"no upstream serves the model {request.model!r}; known: {', '.join(sorted(self._upstreams))}"
            )
        policy = self._policies.choose(request.model, headers.get("x-readgate-policy"), caller.policies)
        passed_on = {name.lower(): value for name, value in headers.items() if name.lower() in PASSED_ON}
        return Asked(request, body, passed_on, policy, upstream, caller, request_id, self._clock_s())

    async def complete(self, asked: Asked) -> Outcome | Relay:
        """The upstream's bytes as they came, or what stands in their place; a stream without checks is left open."""
        judging_s = self._clock_s()
        verdicts = await self._guard.screen(
            asked.policy,
            asked.request.transcript,
            (Stage.REQUEST, Stage.TOOL_RESULT),
            caller=asked.caller,
            request_id=asked.request_id,
        )
        judged_s = self._clock_s() - judging_s
        if _stopped(verdicts):
            return self._block(asked, verdicts, judged_s, usage=None)
        sent = UpstreamRequest(asked.body, asked.request.fields, asked.request.stream, asked.headers)
        try:
            async with AsyncExitStack() as opened:
                reply = await opened.enter_async_context(asked.upstream.send(sent))
                if reply.status not in _STATUSES:  # a redirect is not followed: it would carry the key elsewhere
                    raise UpstreamFailed(f"the upstream answered with status {reply.status}, which is no answer")  # noqa: TRY301
                if reply.status < FIRST_ERROR_STATUS and is_stream(reply.headers) and not _judges_answers(asked.policy):
                    headers = {**passed_back(reply.headers), **verdict_headers(asked.policy, verdicts, judged_s)}
                    return Relay(reply.status, headers, _until_broken(reply.body), opened.pop_all().aclose)
                return await self._answer(asked, reply, verdicts, judged_s)
        except UpstreamFailed as error:
            headers = failed_headers(asked.policy, verdicts, judged_s)
            return error_outcome(error.status, headers, error_object(str(error), "server_error", "upstream_failed"))
        except InvalidConversation as error:  # this upstream takes less than the API allows
            headers = failed_headers(asked.policy, verdicts, judged_s)
            return error_outcome(400, headers, error_object(str(error), "invalid_request_error", None, error.param))

    async def _answer(self, asked: Asked, reply: UpstreamReply, before: Sequence[Verdict], judged_s: float) -> Outcome:
        """Hold the whole answer, an error too, judge it, release or replace it."""
        headers = passed_back(reply.headers)
        held = await self._hold(asked, reply)
        if held.fault and _judges_answers(asked.policy) and asked.policy.on_error is OnError.BLOCK:
            return unread_outcome(asked.policy, before, judged_s, Unjudged(Stage.RESPONSE, (held.fault,)))
        judging_s = self._clock_s()
        after = await self._guard.screen(
            asked.policy,
            asked.request.transcript.followed_by(held.segments, (*held.details, *header_details(headers))),
            (Stage.RESPONSE, Stage.TOOL_CALL),
            caller=asked.caller,
            request_id=asked.request_id,
        )
        judged_s += self._clock_s() - judging_s
        verdicts = (*before, *after)
        if _stopped(after):
            return self._block(asked, verdicts, judged_s, usage=held.usage)
        ours = verdict_headers(asked.policy, verdicts, judged_s)
        if held.fault and _judges_answers(asked.policy):
            ours["x-readgate-verdict"] = UNREAD
        as_they_came = is_stream(reply.headers) and reply.status < FIRST_ERROR_STATUS
        events = held.body if as_they_came else as_events(held.body)
        return Outcome(reply.status, {**headers, **ours}, held.body, events)

    async def _hold(self, asked: Asked, reply: UpstreamReply) -> HeldAnswer:
        """All of an answer, taken apart."""
        body = b"".join([chunk async for chunk in self._bounded(reply.body)])

        def work() -> HeldAnswer:
            choices = asked.request.choices
            return take_apart(body, status=reply.status, streamed=is_stream(reply.headers), choices=choices)

        return work() if len(body) <= LOOP_BYTES else await asyncio.to_thread(work)

    async def _bounded(self, body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        held = 0
        async for chunk in body:
            held += len(chunk)
            if held > self._max_answer_bytes:
                raise UpstreamFailed(f"the upstream's answer is larger than {self._max_answer_bytes} bytes")
            yield chunk

    def _block(self, asked: Asked, verdicts: Sequence[Verdict], judged_s: float, *, usage: JSON) -> Outcome:
        verdict = strictest([verdict for verdict in verdicts if verdict.action is Action.BLOCK])
        if not verdict.blocking:
            reasons = [f"{f.check.id}: {f.unread}" for f in verdict.findings if f.unread and not f.check.shadow]
            return unread_outcome(asked.policy, verdicts, judged_s, Unjudged(verdict.stage, tuple(reasons), verdict))
        headers = verdict_headers(asked.policy, verdicts, judged_s)
        if asked.policy.blocked.as_ == "error":
            return error_outcome(asked.policy.blocked.status, {**JSON_TYPE, **headers}, blocked_error(verdict))
        refusal = Refusal(
            f"chatcmpl-{self._new_id()}", int(self._now_s()), asked.request.model, asked.request.choices, usage
        )
        if not asked.request.stream:
            return Outcome(200, {**JSON_TYPE, **headers}, refusal_body(verdict.message, refusal))
        events = refusal_events(verdict.message, refusal, include_usage=asked.request.include_usage)
        return Outcome(200, {"content-type": "text/event-stream; charset=utf-8", **headers}, events, events)


def _stopped(verdicts: Sequence[Verdict]) -> bool:
    return any(verdict.action is Action.BLOCK for verdict in verdicts)


def _judges_answers(policy: Policy) -> bool:
    return bool(policy.at(Stage.RESPONSE) or policy.at(Stage.TOOL_CALL))


async def _until_broken(body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """What has been sent stays sent: an upstream that breaks off ends the open event, and an error event follows."""
    try:
        async for piece in body:
            yield piece
    except UpstreamFailed as error:
        yield b"\n\n" + event(error_object(str(error), "server_error", "upstream_failed")) + DONE_EVENT
