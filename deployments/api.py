"""The HTTP application from its collaborators: what is served where. Knows nothing of Ray, engines or settings."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from deployments.envelope import Envelope
from deployments.routes_decisions import add_decisions
from deployments.routes_status import Readiness, add_status
from deployments.routes_systemone import add_systemone
from deployments.serving import Serving


def build_api(
    serving: Serving,
    readiness: Callable[[], Awaitable[Readiness]],
    *,
    routers: Sequence[APIRouter] = (),
    on_close: Sequence[Callable[[], Awaitable[None]]] = (),
    log: logging.Logger | None = None,
    sets_request_id: bool = True,
) -> FastAPI:
    """Decision API, status routes and the given routers (the guard proxy's), all inside one envelope.

    `on_close` runs when the server around it ends the application.

    No CORS middleware: browsers of other origins get nothing.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        yield
        for close in on_close:
            await close()

    api = FastAPI(title="Readgate", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    add_systemone(api, serving)
    add_decisions(api, serving)
    add_status(api, serving, readiness, routers)
    for router in routers:
        api.include_router(router)
    api.add_exception_handler(HTTPException, _reraise)
    api.add_middleware(
        Envelope,
        metrics=serving.metrics,
        log=log or logging.getLogger("readgate"),
        sets_request_id=sets_request_id,
    )
    return api


async def _reraise(_: Request, error: Exception) -> Response:
    """Starlette answers 404 and 405 itself unless told; the envelope does it in the dialect's shape."""
    raise error
