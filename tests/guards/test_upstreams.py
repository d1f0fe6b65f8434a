import json
from collections.abc import AsyncIterator, Mapping
from types import ModuleType

import httpx
import pytest

from canvas import JSON
from guards.errors import InvalidConversation, InvalidUpstream, UpstreamFailed
from guards.litellm_upstream import LitellmUpstream
from guards.relay_upstream import RelayUpstream
from guards.upstream import Upstream, UpstreamRequest

FIELDS: Mapping[str, JSON] = {"model": "demo", "messages": [{"role": "user", "content": "hi"}]}


def _request(*, stream: bool = False, more: Mapping[str, JSON] | None = None) -> UpstreamRequest:
    fields = {**FIELDS, "stream": stream, **(more or {})}
    return UpstreamRequest(json.dumps(fields).encode(), fields, stream, {})


async def _whole(upstream: Upstream, request: UpstreamRequest) -> tuple[int, bytes]:
    async with upstream.send(request) as reply:
        return reply.status, b"".join([chunk async for chunk in reply.body])


class _Flaky(httpx.AsyncBaseTransport):
    """Fails as told, then answers."""

    def __init__(self, *errors: Exception) -> None:
        self._errors = list(errors)
        self.calls = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.calls += 1
        if self._errors:
            raise self._errors.pop(0)
        return httpx.Response(200, json={"ok": True}, request=request)


class _Breaking(httpx.AsyncByteStream):
    def __init__(self, error: Exception) -> None:
        self._error = error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"data: "
        raise self._error


def _relay(transport: httpx.AsyncBaseTransport, retries: int = 1) -> tuple[RelayUpstream, httpx.AsyncClient]:
    client = httpx.AsyncClient(transport=transport)
    return RelayUpstream(client, "http://up/v1/", retries=retries), client


async def test_a_connection_that_fails_before_any_byte_is_tried_again() -> None:
    transport = _Flaky(httpx.ConnectError("refused"))
    relay, client = _relay(transport)
    async with client:
        await relay.start()
        assert await _whole(relay, _request()) == (200, b'{"ok":true}')
        await relay.close()
    assert transport.calls == 2


@pytest.mark.parametrize(
    ("error", "calls", "status"),
    [
        (httpx.ConnectError("refused"), 2, 502),
        (httpx.ReadTimeout("slow"), 1, 504),
        (httpx.WriteError("cut"), 1, 502),
        (httpx.RemoteProtocolError("closed without an answer"), 1, 502),
    ],
)
async def test_what_may_already_be_generating_is_not_asked_again(error: Exception, calls: int, status: int) -> None:
    transport = _Flaky(*[error] * 5)
    relay, client = _relay(transport)
    async with client:
        with pytest.raises(UpstreamFailed) as caught:
            await _whole(relay, _request())
    assert (transport.calls, caught.value.status) == (calls, status)


@pytest.mark.parametrize(("error", "status"), [(httpx.ReadError("cut"), 502), (httpx.ReadTimeout("slow"), 504)])
async def test_an_answer_that_breaks_off_is_a_failure_and_no_answer(error: Exception, status: int) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=_Breaking(error)))
    relay, client = _relay(transport)
    async with client:
        with pytest.raises(UpstreamFailed) as caught:
            await _whole(relay, _request())
    assert caught.value.status == status


async def test_the_demo_answers_through_litellm_without_a_provider() -> None:
    demo = LitellmUpstream("openai/demo", mock_response="Hello from the demo.")
    with pytest.raises(UpstreamFailed, match="not started"):
        await _whole(demo, _request())
    await demo.start()
    status, body = await _whole(demo, _request())
    assert status == 200
    assert json.loads(body)["choices"][0]["message"]["content"] == "Hello from the demo."
    status, body = await _whole(demo, _request(stream=True, more={"stream_options": {"include_usage": True}}))
    events = body.decode().strip().split("\n\n")
    assert events[-1] == "data: [DONE]"
    chunks = [json.loads(event.removeprefix("data: ")) for event in events[:-1]]
    text = "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])
    assert text == "Hello from the demo."
    assert chunks[-1]["usage"]["total_tokens"] > 0
    await demo.close()


@pytest.mark.parametrize("name", ["api_base", "base_url", "api_key", "mock_response", "extra_headers", "fallbacks"])
async def test_a_caller_cannot_set_what_belongs_to_the_operator(name: str) -> None:
    demo = LitellmUpstream("openai/demo", mock_response="x")
    await demo.start()
    with pytest.raises(InvalidConversation) as caught:
        await _whole(demo, _request(more={name: "http://elsewhere"}))
    assert caught.value.param == name


async def test_a_providers_error_passes_with_its_status() -> None:
    demo = LitellmUpstream("openai/demo", mock_response="litellm.RateLimitError")
    await demo.start()
    status, body = await _whole(demo, _request())
    assert status == 429
    assert json.loads(body)["error"]["type"] == "RateLimitError"


async def test_a_missing_sdk_is_said_at_start() -> None:
    def missing(name: str) -> ModuleType:
        raise ImportError(f"No module named {name!r}")

    with pytest.raises(InvalidUpstream, match="needs the package litellm: No module named 'litellm'"):
        await LitellmUpstream("anthropic/x", import_module=missing).start()
