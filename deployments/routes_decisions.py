"""`/v1/decisions` for OpenAI's clients. Thin: the dialect does the talking."""

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from deployments.bodies import read_body
from deployments.dialects.decisions import parse_decisions
from deployments.dialects.decisions_answers import render_decisions
from deployments.dialects.systemone import ignored_header
from deployments.disconnects import while_connected
from deployments.errors import BadRequest
from deployments.replies import json_reply
from deployments.serving import Serving
from guards.strict_json import parse


def add_decisions(api: FastAPI, serving: Serving) -> None:
    """OpenAI's `client.decisions.create`."""

    async def decisions(request: Request) -> Response:
        caller = serving.caller(request)
        body = await read_body(request.headers, request.stream(), serving.limits)
        if body.parts:
            raise BadRequest("decisions takes application/json; send images as data URLs")
        query = parse_decisions(parse(body.json, depth=serving.limits.depth), serving.defaults, serving.limits)
        model = serving.names.check(query.model)
        serving.keyring.admit(caller, questions=len(query.questions))
        read = serving.reader.read(
            query.state, query.questions, query.options, tenant=caller.tenant, use_cache=query.use_cache
        )
        decision = await while_connected(request, read)
        serving.keyring.spend_tokens(caller, decision.usage.input_tokens)
        answer = render_decisions(decision, query.wire, model, query.options, min_label_mass=serving.min_label_mass)
        headers = {"x-readgate-ignored": ignored_header(query.ignored)} if query.ignored else None
        return json_reply(answer, headers)

    api.add_api_route("/v1/decisions", decisions, methods=["POST"])
