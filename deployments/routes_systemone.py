"""`/v1/systemone` and its batch: bytes to a read, decisions to bytes. Thin: the dialect does the talking."""

import asyncio

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from canvas import State
from deployments.auth import Caller
from deployments.bodies import read_body
from deployments.dialects.systemone import ReadRequest, ignored_header, parse_batch, parse_systemone
from deployments.dialects.systemone_answers import render_batch_error, render_systemone
from deployments.disconnects import while_connected
from deployments.errors import BadRequest
from deployments.fault_table import fault_of
from deployments.replies import json_reply
from deployments.serving import Serving
from guards.strict_json import parse


def add_systemone(api: FastAPI, serving: Serving) -> None:
    """Routes of TypeSafe's System One, and our batch beside it."""

    async def systemone(request: Request) -> Response:
        caller = serving.caller(request)
        body = await read_body(request.headers, request.stream(), serving.limits)
        value = parse(body.json, depth=serving.limits.depth)
        asked = parse_systemone(value, body.parts, serving.defaults, serving.limits)
        model = serving.names.check(asked.model)
        serving.keyring.admit(caller, questions=len(asked.questions))
        answer = await while_connected(request, _read(serving, caller, asked, asked.states[0], model))
        return json_reply(answer, _ignored(asked))

    async def batch(request: Request) -> Response:
        caller = serving.caller(request)
        body = await read_body(request.headers, request.stream(), serving.limits)
        if body.parts:
            raise BadRequest("a batch takes no images")
        asked = parse_batch(parse(body.json, depth=serving.limits.depth), serving.defaults, serving.limits)
        model = serving.names.check(asked.model)
        serving.keyring.admit(caller, questions=len(asked.questions) * len(asked.states))
        results = await while_connected(request, _read_all(serving, caller, asked, model))
        return json_reply({"results": results}, _ignored(asked))

    api.add_api_route("/v1/systemone", systemone, methods=["POST"])
    api.add_api_route("/v1/systemone/batch", batch, methods=["POST"])


async def _read(serving: Serving, caller: Caller, asked: ReadRequest, state: State, model: str) -> dict[str, object]:
    decision = await serving.reader.read(
        state, asked.questions, asked.options, tenant=caller.tenant, use_cache=asked.use_cache
    )
    serving.keyring.spend_tokens(caller, decision.usage.input_tokens)
    return render_systemone(decision, model, asked.options, asked.levels)


async def _read_all(serving: Serving, caller: Caller, asked: ReadRequest, model: str) -> list[dict[str, object]]:
    """In order; a state that fails is an error in its place, and the others are answered."""
    reads = [_read(serving, caller, asked, state, model) for state in asked.states]
    outcomes = await asyncio.gather(*reads, return_exceptions=True)
    results: list[dict[str, object]] = []
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            results.append(render_batch_error(fault_of(outcome)))
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            results.append(outcome)
    return results


def _ignored(asked: ReadRequest) -> dict[str, str]:
    return {"x-readgate-ignored": ignored_header(asked.ignored)} if asked.ignored else {}
