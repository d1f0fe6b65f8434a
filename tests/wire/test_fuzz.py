"""No body, however wrong, gets a 5xx or an empty message."""

import asyncio
import json
from typing import Any

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deployments.dialects.errors import dialect_of
from tests.server import Setup, scripted_api

TEXTS = st.text(st.characters(codec=None), max_size=20)  # lone surrogates included
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
JSON = st.recursive(
    SCALARS, lambda below: st.lists(below, max_size=4) | st.dictionaries(TEXTS, below, max_size=4), max_leaves=12
)
TYPES = st.sampled_from(["noul", "choice", "score", "box", "predicate", "other"]) | JSON


def partly(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Some of the fields, right or wrong, and perhaps an unknown one."""
    return st.fixed_dictionaries({}, optional={**{key: value | JSON for key, value in fields.items()}, "extra": JSON})


CONTENT = TEXTS | st.dictionaries(TEXTS, JSON, max_size=3) | st.lists(JSON, max_size=3)
QUESTION = partly(
    {
        "type": TYPES,
        "instructions": CONTENT,
        "criteria": st.dictionaries(TEXTS, CONTENT, max_size=4) | st.lists(CONTENT, max_size=4),
        "name": TEXTS,
        "choices": st.lists(partly({"value": TEXTS | st.booleans(), "description": TEXTS}), max_size=4),
        "levels": st.lists(partly({"label": TEXTS, "description": TEXTS}), max_size=4),
    }
)
PART = partly(
    {"type": st.sampled_from(["input_text", "input_json", "input_image", "refusal"]), "text": TEXTS, "data": JSON}
)
ITEM = partly(
    {
        "role": st.sampled_from(["user", "system", "assistant"]),
        "type": st.sampled_from(["message", "function_call", "function_call_output"]),
        "content": TEXTS | st.lists(PART, max_size=3),
        "call_id": TEXTS,
        "output": TEXTS,
    }
)
OPTIONS = partly(
    {"packing": st.just("packed"), "draws": st.integers(0, 3) | st.just("auto"), "cache": st.just("bypass")}
)
SYSTEM_ONE = partly(
    {
        "model": st.just("jev-latest"),
        "state": CONTENT,
        "questions": st.dictionaries(TEXTS, QUESTION, max_size=4),
        "assets": st.dictionaries(TEXTS, partly({"data_base64": TEXTS, "part": TEXTS}), max_size=2),
        "x_readgate": OPTIONS,
    }
)
BATCH = partly({"states": st.lists(CONTENT, max_size=3), "questions": st.dictionaries(TEXTS, QUESTION, max_size=3)})
DECISIONS = partly(
    {
        "model": st.just("scripted"),
        "input": TEXTS | st.lists(ITEM, max_size=3),
        "questions": st.lists(QUESTION, max_size=4),
        "x_readgate": OPTIONS,
    }
)
BODIES = {"/v1/systemone": SYSTEM_ONE, "/v1/systemone/batch": BATCH, "/v1/decisions": DECISIONS}


async def post(path: str, body: bytes, content_type: str = "application/json") -> httpx.Response:
    setup = Setup()
    await setup.engine.start()
    transport = httpx.ASGITransport(scripted_api(setup))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        return await http.post(path, content=body, headers={"content-type": content_type})


def no_constant(name: str) -> float:
    raise AssertionError(f"{name} is not JSON")


def check(reply: httpx.Response, path: str) -> None:
    assert reply.status_code < 500, reply.text
    assert reply.headers["x-typesafe-request-id"]
    body = json.loads(reply.text, parse_constant=no_constant)
    if reply.status_code == 200:
        return
    if dialect_of(path) == "openai":
        assert body["error"]["message"]
    else:
        detail = body["detail"]
        assert detail[0]["msg"] if isinstance(detail, list) else detail["message"]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(BODIES)).flatmap(lambda path: st.tuples(st.just(path), BODIES[path])))
def test_no_json_body_gets_a_5xx(case: tuple[str, Any]) -> None:
    path, body = case
    check(asyncio.run(post(path, json.dumps(body).encode())), path)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(BODIES)),
    st.binary(max_size=200),
    st.sampled_from(["application/json", "multipart/form-data; boundary=b", "text/plain", "", "multipart/form-data"]),
)
def test_no_bytes_get_a_5xx(path: str, body: bytes, content_type: str) -> None:
    check(asyncio.run(post(path, body, content_type)), path)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=100), st.sampled_from([b"request", b"asset-0", b""]), st.booleans())
def test_no_multipart_body_gets_a_5xx(data: bytes, name: bytes, closed: bool) -> None:  # noqa: FBT001 - drawn
    head = b'--b\r\nContent-Disposition: form-data; name="' + name + b'"\r\n\r\n'
    body = head + data + (b"\r\n--b--\r\n" if closed else b"")
    check(asyncio.run(post("/v1/systemone", body, "multipart/form-data; boundary=b")), "/v1/systemone")
