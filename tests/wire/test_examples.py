"""Every example of the contract's wire fixtures: what we answer, and what the official SDK makes of it."""

import json
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from deployments.auth import Caller
from deployments.engines.engine import EngineTimeout, EngineUnavailable, Overloaded
from deployments.engines.scripted_engine import SCRIPTED_CARD, ScriptedEngine
from deployments.limits import Limits
from deployments.rates import Rates
from guards.reader import ReadFailed
from tests.server import Setup, client

EXAMPLES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "examples.json").read_text())["examples"]
BY_NAME = {example["name"]: example for example in EXAMPLES}
ANSWERED = [
    example
    for example in EXAMPLES
    if example["status"] == 200 and example["method"] == "POST" and not example["name"].startswith("box_")
]
INVALID = [example for example in EXAMPLES if example["name"].startswith("error_422")]
# Not given as a body in the fixtures, but described.
DESCRIBED = {"<map with 256 options>": {f"q{number}": None for number in range(256)}}


def body_of(example: dict[str, Any]) -> bytes:
    request = example["request"]
    if isinstance(request, str):
        return request.encode()
    return (
        json.dumps(request)
        .replace('"<map with 256 options>"', json.dumps(DESCRIBED["<map with 256 options>"]))
        .encode()
    )


async def post(setup: Setup, example: dict[str, Any], **headers: str) -> httpx.Response:
    async with client(setup) as http:
        reply = await http.post(
            example["path"], content=body_of(example), headers={"content-type": "application/json", **headers}
        )
    assert reply.headers["x-typesafe-request-id"]
    assert reply.headers["content-type"] == "application/json"
    return reply


def shape(value: Any) -> Any:  # noqa: ANN401 - JSON
    """The value with every number and free text replaced by its type, so that two answers can be compared."""
    match value:
        case dict():
            fields = cast("dict[str, Any]", value)
            return {key: shape(item) for key, item in fields.items() if not key.startswith("x_")}
        case bool() | int() | float():
            return "number"
        case _:
            return type(value).__name__


@pytest.mark.parametrize("example", ANSWERED, ids=[example["name"] for example in ANSWERED])
async def test_a_valid_request_gets_the_answers_of_the_example(example: dict[str, Any]) -> None:
    reply = await post(Setup(), example)
    assert reply.status_code == 200
    assert shape(reply.json()) == shape(example["response"])
    for id_, answer in reply.json()["answers"].items():
        expected = example["response"]["answers"][id_]
        if "legend" in expected:
            assert answer["legend"] == expected["legend"]
        if "probabilities" in expected:
            assert list(answer["probabilities"]) == list(expected["probabilities"])
            assert sum(answer["probabilities"].values()) == pytest.approx(1)


@pytest.mark.parametrize("example", INVALID, ids=[example["name"] for example in INVALID])
async def test_an_invalid_request_gets_the_detail_of_the_example(example: dict[str, Any]) -> None:
    reply = await post(Setup(), example)
    assert reply.status_code == 422
    expected, found = example["response"]["detail"][0], reply.json()["detail"][0]
    assert (found["loc"], found["type"], found["msg"]) == (expected["loc"], expected["type"], expected["msg"])


async def test_unknown_top_level_fields_are_named_in_a_header() -> None:
    reply = await post(Setup(), BY_NAME["multi_question_mixed"])
    assert reply.headers["x-readgate-ignored"] == "x_trace_id,seed"


@pytest.mark.parametrize("name", ["box_json_base64_asset"])
async def test_a_box_is_refused_with_words_of_its_own(name: str) -> None:
    reply = await post(Setup(), BY_NAME[name])
    assert reply.status_code == 422
    detail = reply.json()["detail"]
    assert detail[0]["loc"] == ["body", "questions", "dog"]
    assert "not supported" in detail[0]["msg"]


async def test_models_are_listed_as_in_the_example() -> None:
    async with client(Setup()) as http:
        body = (await http.get("/v1/models")).json()
    assert shape(body["models"][0]) == shape(BY_NAME["models_list"]["response"]["models"][0])
    assert {"jev-latest", "jev-preview"} <= {model["name"] for model in body["models"]}


def failing(error: ReadFailed) -> Setup:
    engine = ScriptedEngine()
    engine.failure = error
    return Setup(engine=engine)


KEYED = {Caller("acme"): "made-up-key"}
FAULTS: list[tuple[str, Setup, dict[str, str]]] = [
    ("error_400_unknown_model", Setup(), {}),
    ("error_401_invalid_key", Setup(keys=KEYED), {"authorization": "Bearer nope"}),
    ("error_403_missing_key", Setup(keys=KEYED), {}),
    ("error_413_too_large", Setup(limits=Limits(body_bytes=64)), {}),
    ("error_415_encoding", Setup(), {"content-encoding": "br"}),
    ("error_503_draining", failing(EngineUnavailable("the engine is draining")), {}),
    ("error_504_timeout", failing(EngineTimeout("the model did not answer in time")), {}),
]


@pytest.mark.parametrize(("name", "setup", "headers"), FAULTS, ids=[name for name, _, _ in FAULTS])
async def test_a_fault_has_the_status_and_type_of_the_example(name: str, setup: Setup, headers: dict[str, str]) -> None:
    example = BY_NAME[name]
    reply = await post(setup, example, **headers)
    expected, found = example["response"]["detail"], reply.json()["detail"]
    assert reply.status_code == example["status"]
    assert found["error_type"] == expected["error_type"]
    assert found["message"]
    if name in {"error_400_unknown_model", "error_401_invalid_key", "error_403_missing_key", "error_415_encoding"}:
        assert found["message"] == expected["message"]


async def test_a_state_too_long_is_a_400_that_names_the_limit() -> None:
    example = BY_NAME["error_400_context_exceeded"]
    long = {**example, "request": {**example["request"], "state": "word " * 40_000}}
    reply = await post(Setup(), long)
    assert reply.status_code == 400
    assert reply.json()["detail"]["error_type"] == "max_tokens_exceeded"
    assert str(SCRIPTED_CARD.context_tokens) in reply.json()["detail"]["message"]


async def test_a_rate_limit_says_when_to_come_back() -> None:
    setup = Setup(keys=KEYED, rates={"acme": Rates({"requests": 1})})
    example = BY_NAME["error_429_rate_limit"]
    async with client(setup) as http:
        bearer = {"authorization": "Bearer made-up-key"}
        first = await http.post(example["path"], json=example["request"], headers=bearer)
        reply = await http.post(example["path"], json=example["request"], headers=bearer)
    assert first.status_code == 200
    assert reply.status_code == 429
    assert reply.json()["detail"]["error_type"] == "rate_limit_error"
    assert int(reply.headers["retry-after-ms"]) > 0
    assert int(reply.headers["retry-after"]) == 60


async def test_an_overloaded_engine_is_a_429_with_both_retry_headers() -> None:
    reply = await post(failing(Overloaded("the queue is full", 0.25)), BY_NAME["noul_instructions_only"])
    assert reply.status_code == 429
    assert (reply.headers["retry-after-ms"], reply.headers["retry-after"]) == ("250", "1")


async def test_an_error_that_nobody_foresaw_is_a_500_without_its_text() -> None:
    def broken(_: object) -> Any:  # noqa: ANN401 - never returns
        raise RuntimeError("secret detail")

    reply = await post(Setup(engine=ScriptedEngine(script=broken)), BY_NAME["noul_instructions_only"])
    assert reply.status_code == 500
    assert reply.json()["detail"]["error_type"] == "unknown"
    assert "secret" not in reply.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nope", 404),
        ("POST", "/v1/systemone/nope", 404),
        ("GET", "/v1/systemone", 405),
        ("DELETE", "/v1/models", 405),
    ],
)
async def test_unknown_paths_and_wrong_methods_speak_system_one(method: str, path: str, status: int) -> None:
    async with client(Setup()) as http:
        reply = await http.request(method, path)
    assert reply.status_code == status
    assert set(reply.json()["detail"]) == {"error_type", "message"}
    assert reply.headers["x-typesafe-request-id"]


@pytest.mark.parametrize(("method", "path", "status"), [("POST", "/v1/embeddings", 404), ("GET", "/v1/decisions", 405)])
async def test_unknown_paths_and_wrong_methods_under_v1_speak_openai(method: str, path: str, status: int) -> None:
    async with client(Setup()) as http:
        reply = await http.request(method, path)
    assert reply.status_code == status
    assert set(reply.json()["error"]) == {"message", "type", "param", "code"}


@pytest.mark.parametrize("given", ["abc-123", "x" * 128])
async def test_a_request_id_is_echoed(given: str) -> None:
    async with client(Setup()) as http:
        reply = await http.get("/healthz", headers={"x-request-id": given})
    assert reply.headers["x-request-id"] == reply.headers["x-typesafe-request-id"] == given


async def test_a_request_id_that_is_too_long_is_replaced() -> None:
    async with client(Setup()) as http:
        reply = await http.get("/healthz", headers={"x-request-id": "x" * 129})
    assert reply.headers["x-request-id"].startswith("req_")
