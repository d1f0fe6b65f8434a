"""The remote engine against servers that misbehave; a real vLLM server is in the engine suite."""

import json
from collections.abc import Callable

import httpx
import pytest

from canvas import InvalidRead
from deployments.engines.engine import EngineTimeout, EngineUnavailable, Overloaded
from deployments.engines.remote_engine import RemoteEngine, remote_client
from guards.reader import ReadFailed
from tests.engine_contract import hand_made_plan

Answer = Callable[[httpx.Request], httpx.Response]
MODELS = {"data": [{"id": "model", "max_model_len": 512}]}


def stream(
    *rows_by_chunk: int, request: httpx.Request, end: str = "data: [DONE]\n\n", id_prefix: str = "token_id:"
) -> str:
    """What vLLM streams: chunks of rows that hold every id asked for, then a finish reason."""
    asked = json.loads(request.content)
    row = {f"{id_prefix}{token}": -1.0 for token in asked["logprob_token_ids"]}
    chunks = [{"choices": [{"text": "", "logprobs": {"top_logprobs": [row] * rows}}]} for rows in rows_by_chunk]
    last = {"choices": [{"text": "", "logprobs": None, "finish_reason": "length"}]}
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in (*chunks, last)) + end


def whole(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, text=stream(json.loads(request.content)["max_tokens"], request=request))


async def started(answer: Answer = whole, models: httpx.Response | None = None) -> RemoteEngine:
    """An engine whose server answers whole reads while it starts, and `answer` afterwards."""
    warm = False

    def serve(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/completions":
            return answer(request) if warm else whole(request)
        return (models or httpx.Response(200, json=MODELS)) if request.url.path == "/v1/models" else httpx.Response(200)

    client = httpx.AsyncClient(base_url="http://vllm", transport=httpx.MockTransport(serve))
    remote = RemoteEngine(client, model="model", revision="1", vocab_size=2048, canvas_tokens=64)
    await remote.start()
    warm = True
    return remote


async def failure(answer: Answer) -> ReadFailed | InvalidRead:
    remote = await started(answer)
    with pytest.raises((ReadFailed, InvalidRead)) as caught:
        await remote.run(hand_made_plan(remote.card, 1))
    await remote.close()
    return caught.value


async def test_the_request_is_one_step_over_the_seeded_canvas() -> None:
    seen: list[dict[str, object]] = []

    def record(request: httpx.Request) -> httpx.Response:
        seen.append(json.loads(request.content))
        return whole(request)

    remote = await started(record)
    plan = hand_made_plan(remote.card, 1)
    await remote.run(plan)
    (body,) = seen
    assert body["prompt"] == list(plan.prompt_ids)
    assert body["logprob_token_ids"] == list(plan.token_ids)
    assert body["vllm_xargs"] == {
        "diffusion_seed_canvas": list(plan.canvas_ids),
        "diffusion_canvas_length": 16,
        "diffusion_max_steps": 1,
        "diffusion_read_only": 1,
    }
    await remote.close()


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (429, {}, Overloaded),
        (429, {"retry-after": "7"}, Overloaded),
        (503, {"retry-after": "2"}, Overloaded),
        (503, {}, EngineUnavailable),
        (500, {}, EngineUnavailable),
        (504, {}, EngineTimeout),
        (401, {}, EngineUnavailable),
        (404, {}, EngineUnavailable),
        (400, {}, InvalidRead),
    ],
)
async def test_a_status_has_its_error_and_the_servers_words(
    status: int, headers: dict[str, str], expected: type[Exception]
) -> None:
    error = await failure(lambda _: httpx.Response(status, headers=headers, text="its words"))
    assert type(error) is expected
    assert "its words" in str(error)
    if isinstance(error, Overloaded):
        assert error.retry_after_s == float(headers.get("retry-after", "1"))


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (httpx.ConnectError("refused"), EngineUnavailable),
        (httpx.ConnectTimeout("slow"), EngineUnavailable),
        (httpx.ReadTimeout("slow"), EngineTimeout),
        (httpx.PoolTimeout("full"), Overloaded),
        (httpx.RemoteProtocolError("cut off"), EngineUnavailable),
    ],
)
async def test_a_transport_fault_has_its_error(raised: httpx.HTTPError, expected: type[Exception]) -> None:
    def fail(_: httpx.Request) -> httpx.Response:
        raise raised

    assert type(await failure(fail)) is expected


async def test_a_canvas_that_comes_in_two_chunks_was_cut() -> None:
    error = await failure(lambda request: httpx.Response(200, text=stream(10, 6, request=request)))
    assert isinstance(error, InvalidRead)
    assert "cut" in str(error)


@pytest.mark.parametrize("rows", [0, 15, 17])
async def test_any_other_number_of_rows_is_invalid(rows: int) -> None:
    error = await failure(lambda request: httpx.Response(200, text=stream(rows, request=request)))
    assert str(error) == f"the server returned {rows} rows, the canvas has 16"


async def test_a_row_without_a_label_id_is_invalid_and_names_it() -> None:
    error = await failure(lambda request: httpx.Response(200, text=stream(16, request=request, id_prefix="")))
    assert isinstance(error, InvalidRead)
    assert "no log-probability for ids" in str(error)


async def test_a_stream_that_is_no_stream_is_invalid() -> None:
    assert isinstance(await failure(lambda _: httpx.Response(200, text='data: {"error": "oops"}\n\n')), InvalidRead)


async def test_a_stream_without_its_end_is_a_lost_server() -> None:
    error = await failure(lambda request: httpx.Response(200, text=stream(16, request=request, end="")))
    assert isinstance(error, EngineUnavailable)


async def test_an_aborted_read_is_a_lost_server() -> None:
    aborted = 'data: {"choices": [{"finish_reason": "abort"}]}\n\ndata: [DONE]\n\n'
    assert isinstance(await failure(lambda _: httpx.Response(200, text=aborted)), EngineUnavailable)


@pytest.mark.parametrize(
    "models",
    [
        httpx.Response(200, json={"data": [{"id": "another", "max_model_len": 512}]}),
        httpx.Response(200, json={"data": [{"id": "model"}]}),
        httpx.Response(200, text="<html>"),
        httpx.Response(401, text="no key"),
    ],
)
async def test_a_server_that_does_not_serve_the_model_does_not_start(models: httpx.Response) -> None:
    with pytest.raises(EngineUnavailable, match=r"/v1/models|serves \['another'\]"):
        await started(models=models)


async def test_a_server_that_cuts_canvases_when_it_is_full_does_not_start() -> None:
    def serve(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/models":
            return httpx.Response(200, json=MODELS)
        width = json.loads(request.content)["max_tokens"]
        return httpx.Response(200, text=stream(*((width,) if width < 64 else (44, 20)), request=request))

    client = httpx.AsyncClient(base_url="http://vllm", transport=httpx.MockTransport(serve))
    remote = RemoteEngine(client, model="model", revision="1", vocab_size=2048, canvas_tokens=64)
    with pytest.raises(EngineUnavailable, match=r"canvases of 64 tokens: .* cut"):
        await remote.start()
    await remote.close()


async def test_an_engine_that_has_not_started_has_no_card() -> None:
    client = remote_client("http://vllm/v1/", api_key="key", timeout_s=3)
    remote = RemoteEngine(client, model="model", revision="1", vocab_size=2048, canvas_tokens=64)
    with pytest.raises(EngineUnavailable, match="not started"):
        assert remote.card
    assert str(client.base_url) == "http://vllm"
    assert client.headers["authorization"] == "Bearer key"
    await remote.close()


async def test_a_closed_engine_refuses_reads_and_says_that_it_is_ill() -> None:
    remote = await started()
    await remote.check_health()
    await remote.close()
    with pytest.raises(EngineUnavailable):
        await remote.run(hand_made_plan(remote.card, 1))
    with pytest.raises(EngineUnavailable):
        await remote.check_health()
