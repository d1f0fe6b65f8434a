"""What is served and whether it can be: models, health, readiness, metrics."""

from collections.abc import Awaitable, Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from importlib.metadata import version

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from deployments.replies import json_reply
from deployments.serving import Serving


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a read would be answered now, and by what."""

    ready: bool
    engine: str
    model: str
    cache: str
    policies: tuple[str, ...] = ()
    reason: str = ""


def add_status(api: FastAPI, serving: Serving, readiness: Callable[[], Awaitable[Readiness]]) -> None:
    """`/` says what is here, `/healthz` that this process runs, `/readyz` that the engine answers."""

    async def index() -> Response:
        routes = sorted({f"{' '.join(sorted(methods))} {path}" for path, methods in _routes(api)})
        return json_reply({"name": "readgate", "version": version("readgate"), "routes": routes})

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


def _routes(api: FastAPI) -> Iterator[tuple[str, AbstractSet[str]]]:
    """Path and methods of every route, the included routers' too."""
    for route in api.routes:
        if isinstance(route, Route):
            yield route.path, route.methods or frozenset()
