"""What is served and whether it can be: models, health, readiness, metrics."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Final

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from deployments.replies import json_reply
from deployments.serving import Serving

DOCS: Final = "README.md and docs/architecture.md, beside the source; on the machine itself: readgate --help"


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a read would be answered now, and by what."""

    ready: bool
    engine: str
    model: str
    cache: str
    policies: tuple[str, ...] = ()
    reason: str = ""


def add_status(
    api: FastAPI, serving: Serving, readiness: Callable[[], Awaitable[Readiness]], routers: Sequence[APIRouter] = ()
) -> None:
    """`/` says what is here, `/healthz` that this process runs, `/readyz` that the engine answers.

    `routers` are those that join the API after these routes.
    """

    async def index() -> Response:
        served = [*api.routes, *(route for router in routers for route in router.routes)]
        routes = sorted(f"{'|'.join(route.methods or ())} {route.path}" for route in served if isinstance(route, Route))
        return json_reply({"name": "readgate", "version": version("readgate"), "routes": routes, "docs": DOCS})

    async def models(request: Request) -> Response:
        serving.caller(request)
        return json_reply(serving.names.listing())

    async def healthz() -> Response:
        return json_reply({"status": "ok"})

    async def readyz() -> Response:
        state = await readiness()
        return json_reply(asdict(state), status=200 if state.ready else 503)

    async def metrics() -> Response:
        return Response(serving.metrics.render(), media_type=serving.metrics.content_type)

    api.add_api_route("/", index, methods=["GET"])
    api.add_api_route("/v1/models", models, methods=["GET"])
    api.add_api_route("/healthz", healthz, methods=["GET"])
    api.add_api_route("/readyz", readyz, methods=["GET"])
    api.add_api_route("/metrics", metrics, methods=["GET"])
