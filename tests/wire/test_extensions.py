"""What System One does not know: read options, batches, diagnostics, disconnects."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from fastapi import APIRouter

from deployments.engines.scripted_engine import ScriptedEngine
from deployments.limits import Limits
from tests.server import Setup, client, scripted_api

NOUL = {"type": "noul", "instructions": "Is it urgent?"}
CHOICE = {"type": "choice", "instructions": "Which?", "criteria": {"a": None, "b": None}}
QUESTIONS = {
    "w": NOUL,
    "x": CHOICE,
    "y": {**NOUL, "instructions": "Is it rude?"},
    "z": {**CHOICE, "instructions": "Who?"},
}


async def ask(setup: Setup, **fields: Any) -> httpx.Response:  # noqa: ANN401 - JSON
    body = {"model": "jev-latest", "state": "Fix this today!", "questions": QUESTIONS, **fields}
    async with client(setup) as http:
        return await http.post("/v1/systemone", json=body)


async def test_packed_reads_put_all_questions_on_one_canvas() -> None:
    engine = ScriptedEngine()
    reply = await ask(Setup(engine=engine), x_readgate={"packing": "packed"})
    assert reply.json()["x_packing"] == "packed"
    assert reply.json()["x_questions_per_canvas"] == [4]
    assert engine.started_runs == 1


async def test_isolated_is_the_default_and_one_canvas_a_question() -> None:
    reply = await ask(Setup())
    assert reply.json()["x_packing"] == "isolated"
    assert reply.json()["x_questions_per_canvas"] == [1, 1, 1, 1]


async def test_draws_are_reported_with_their_spread() -> None:
    reply = await ask(Setup(), x_readgate={"draws": 3})
    for answer in reply.json()["answers"].values():
        assert answer["x_draws"] == 3
        assert answer["x_stderr"] > 0
        assert 0 < answer["x_label_mass"] <= 1


BAD = [
    ({"packing": "tight"}, ["body", "x_readgate", "packing"]),
    ({"draws": 17}, ["body", "x_readgate", "draws", "constrained-int"]),
    ({"draw": 2}, ["body", "x_readgate", "draw"]),
    ({"cache": "no"}, ["body", "x_readgate", "cache"]),
]


@pytest.mark.parametrize(("options", "loc"), BAD, ids=[str(options) for options, _ in BAD])
async def test_an_unknown_or_wrong_read_option_is_an_error_with_its_place(
    options: dict[str, Any], loc: list[str]
) -> None:
    reply = await ask(Setup(), x_readgate=options)
    assert reply.status_code == 422
    assert loc[:3] == reply.json()["detail"][0]["loc"][:3]


async def test_an_unknown_key_inside_a_question_is_an_error_with_its_place() -> None:
    reply = await ask(Setup(), questions={"q": {**NOUL, "critera": {}}})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "questions", "q", "noul", "critera"]


async def test_a_question_id_given_twice_is_an_error_with_its_place() -> None:
    raw = b'{"model": "jev-latest", "state": "x", "questions": {"q": %s, "q": %s}}' % ((json.dumps(NOUL).encode(),) * 2)
    async with client(Setup()) as http:
        reply = await http.post("/v1/systemone", content=raw, headers={"content-type": "application/json"})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "questions", "q"]


async def test_more_questions_than_the_limit_are_refused() -> None:
    reply = await ask(Setup(limits=Limits(questions=3)))
    assert reply.json()["detail"][0]["msg"] == "Dictionary should have at most 3 items after validation, not 4"


async def test_a_level_of_any_size_of_number_is_echoed_as_it_came() -> None:
    levels: list[Any] = [{"n": 2**80}, "high"]
    reply = await ask(Setup(), questions={"q": {"type": "score", "criteria": levels}})
    assert reply.json()["answers"]["q"]["legend"] == {"0": {"n": 2**80}, "1": "high"}


async def test_a_second_request_is_answered_from_the_cache_and_says_so() -> None:
    setup = Setup()
    await setup.engine.start()
    transport = httpx.ASGITransport(scripted_api(setup))
    body = {"model": "jev-latest", "state": "x", "questions": QUESTIONS}
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        replies = [(await http.post("/v1/systemone", json=body)).json() for _ in range(2)]
        bypassed = (await http.post("/v1/systemone", json={**body, "x_readgate": {"cache": "bypass"}})).json()
    assert [reply["x_cached"] for reply in (*replies, bypassed)] == [False, True, False]
    assert replies[0]["answers"] == replies[1]["answers"] == bypassed["answers"]
    assert setup.engine.started_runs == 8


async def test_a_batch_answers_each_state_in_its_place_and_errors_too() -> None:
    states = ["one", "long " * 40_000, {"two": 2}]
    async with client(Setup()) as http:
        reply = await http.post("/v1/systemone/batch", json={"states": states, "questions": {"q": NOUL}})
    assert reply.status_code == 200
    first, second, third = reply.json()["results"]
    assert set(first["answers"]) == set(third["answers"]) == {"q"}
    assert second["error"]["error_type"] == "max_tokens_exceeded"
    assert first["answers"]["q"] != third["answers"]["q"]


async def test_a_batch_larger_than_the_limit_is_refused() -> None:
    async with client(Setup(limits=Limits(batch_states=2))) as http:
        reply = await http.post("/v1/systemone/batch", json={"states": ["x"] * 3, "questions": {"q": NOUL}})
    assert reply.status_code == 422
    assert "at most 2 items" in reply.text


async def test_a_client_that_leaves_takes_its_work_with_it() -> None:
    setup = Setup(engine=ScriptedEngine(latency_s=30), deadline_s=60)
    await setup.engine.start()
    api = scripted_api(setup)
    body = json.dumps({"model": "jev-latest", "state": "x", "questions": QUESTIONS}).encode()
    arriving: list[dict[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]
    left = asyncio.Event()
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        if arriving:
            return arriving.pop()
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:  # noqa: ANN401 - an ASGI message
        sent.append(message)

    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/v1/systemone",
        "raw_path": b"",
        "query_string": b"",
        "headers": [],
    }
    call = asyncio.create_task(api({**scope, "http_version": "1.1", "scheme": "http"}, receive, send))
    await asyncio.sleep(0.1)
    assert setup.engine.started_runs == 4
    left.set()
    await call
    await asyncio.sleep(0.05)
    assert setup.engine.cancelled_runs == 4
    assert sent == []


async def test_readiness_names_engine_model_and_cache() -> None:
    async with client(Setup()) as http:
        ready = (await http.get("/readyz")).json()
    assert ready == {
        "ready": True,
        "engine": "scripted",
        "model": "scripted-1",
        "cache": "memory",
        "policies": [],
        "reason": "",
    }


async def test_metrics_count_requests_by_route_and_canvases_by_source() -> None:
    async with client(Setup()) as http:
        for _ in range(2):
            await http.post("/v1/systemone", json={"model": "jev-latest", "state": "x", "questions": {"q": NOUL}})
        await http.get("/anything/at/all")
        text = (await http.get("/metrics")).text
    assert 'readgate_requests_total{route="/v1/systemone",status="200"} 2.0' in text
    assert 'readgate_requests_total{route="unknown",status="404"} 1.0' in text
    assert 'readgate_canvases_total{source="engine"} 1.0' in text
    assert 'readgate_canvases_total{source="cache"} 1.0' in text


async def test_the_root_says_what_is_served_here_the_included_routers_too() -> None:
    router = APIRouter()
    router.add_api_route("/v1/chat/completions", lambda: None, methods=["POST"])
    async with client(Setup(), router) as http:
        reply = await http.get("/")
    assert reply.status_code == 200
    assert reply.json()["name"] == "readgate"
    assert {"POST /v1/systemone", "POST /v1/chat/completions", "GET /readyz"} <= set(reply.json()["routes"])
    assert "README.md" in reply.json()["docs"]
