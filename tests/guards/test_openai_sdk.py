"""The official SDK, sync and async, streamed and not, through the real proxy: every outcome is one it knows."""

import asyncio
from collections.abc import Callable
from typing import Any

import openai
import pytest
from openai import APIStatusError, AsyncOpenAI, BadRequestError, InternalServerError, OpenAI

from guards.policy import Policy
from guards.reader import ReadFailed
from tests.guards.fakes import DONE, USAGE_CHUNK, stream_of
from tests.guards.policies import policy, rule_only
from tests.guards.rig import Rig, rig

MESSAGES: list[Any] = [{"role": "user", "content": "Hello"}]
Ask = Callable[[Rig], Any]


async def _async(one: Rig) -> tuple[str, str | None]:
    async with AsyncOpenAI(base_url=f"{one.url}/v1", api_key="k") as client:
        reply = await client.chat.completions.create(model="gpt", messages=MESSAGES)
        return reply.choices[0].message.content or "", reply.choices[0].finish_reason


async def _async_stream(one: Rig) -> tuple[str, str | None]:
    async with AsyncOpenAI(base_url=f"{one.url}/v1", api_key="k") as client:
        text, finish, usage = "", None, None
        stream = await client.chat.completions.create(
            model="gpt", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
        )
        async for chunk in stream:
            usage = chunk.usage or usage
            for choice in chunk.choices:
                text += choice.delta.content or ""
                finish = choice.finish_reason or finish
        assert usage is not None
        return text, finish


def _sync_call(url: str) -> tuple[str, str | None]:
    with OpenAI(base_url=f"{url}/v1", api_key="k") as client:
        reply = client.chat.completions.create(model="gpt", messages=MESSAGES)
        return reply.choices[0].message.content or "", reply.choices[0].finish_reason


def _sync_stream_call(url: str) -> tuple[str, str | None]:
    with OpenAI(base_url=f"{url}/v1", api_key="k") as client:
        text, finish = "", None
        for chunk in client.chat.completions.create(model="gpt", messages=MESSAGES, stream=True):
            for choice in chunk.choices:
                text += choice.delta.content or ""
                finish = choice.finish_reason or finish
        return text, finish


async def _sync(one: Rig) -> tuple[str, str | None]:
    return await asyncio.to_thread(_sync_call, one.url)


async def _sync_stream(one: Rig) -> tuple[str, str | None]:
    return await asyncio.to_thread(_sync_stream_call, one.url)


WAYS = pytest.mark.parametrize(
    ("ask", "stream"), [(_async, False), (_async_stream, True), (_sync, False), (_sync_stream, True)]
)


def _answer(one: Rig, text: str, *, stream: bool) -> None:
    if stream:
        one.upstream.streams([stream_of(*text).replace(DONE, USAGE_CHUNK + DONE)])
    else:
        one.upstream.says(text)


@WAYS
async def test_a_pass_is_parsed(ask: Ask, *, stream: bool) -> None:
    async with rig(policy()) as one:
        _answer(one, "Hello there.", stream=stream)
        assert await ask(one) == ("Hello there.", "stop")


@WAYS
@pytest.mark.parametrize("where", ["request", "response"])
async def test_a_block_is_a_bad_request_with_its_code(ask: Ask, where: str, *, stream: bool) -> None:
    blocking: Policy = rule_only()
    async with rig(policy() if where == "request" else blocking) as one:
        one.reader.probs["injection"] = (0.9, 0.1)
        _answer(one, "FORBIDDEN", stream=stream)
        with pytest.raises(BadRequestError) as caught:
            await ask(one)
        assert caught.value.code == "content_policy"
        assert "PROJECT" not in str(caught.value)
        assert len(one.upstream.bodies) == (0 if where == "request" else 1)


@WAYS
async def test_a_refusal_is_an_answer_that_ends_by_content_filter(ask: Ask, *, stream: bool) -> None:
    async with rig(rule_only(blocked="{as: refusal, message: I cannot say that.}")) as one:
        _answer(one, "FORBIDDEN", stream=stream)
        assert await ask(one) == ("I cannot say that.", "content_filter")


@WAYS
async def test_a_failed_read_is_raised_once_and_generates_nothing_again(ask: Ask, *, stream: bool) -> None:
    async with rig(policy()) as one:
        _answer(one, "Hello", stream=stream)
        one.reader.error = ReadFailed("gone")
        with pytest.raises(InternalServerError) as caught:
            await ask(one)
        assert caught.value.status_code == 503
        assert len(one.reader.states) == 1


async def test_a_read_that_fails_after_the_answer_costs_one_generation() -> None:
    only_answers = policy().model_copy(update={"checks": policy().checks[2:]})
    async with rig(only_answers) as one:
        one.reader.error = ReadFailed("gone")
        with pytest.raises(InternalServerError):
            await _async(one)
        assert len(one.upstream.bodies) == 1


async def test_a_late_block_in_a_stream_is_raised_as_an_api_error() -> None:
    async with rig(rule_only(), keep_alive_s=0.02) as one:
        sent = stream_of("FORBIDDEN")
        one.upstream.streams([sent[:60], sent[60:]])
        one.upstream.wait_s = 0.1
        with pytest.raises(openai.APIError) as caught:
            await _async_stream(one)
        assert not isinstance(caught.value, APIStatusError)
        assert caught.value.code == "content_policy"
