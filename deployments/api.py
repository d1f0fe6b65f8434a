"""The HTTP application from its collaborators: what is served where. Knows nothing of Ray, engines or settings."""

import logging
from collections.abc import Awaitable, Callable, Sequence

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
    log: logging.Logger | None = None,
    sets_request_id: bool = True,
) -> FastAPI:
    """Decision API, status routes and the given routers (the guard proxy's), all inside one envelope.

    No CORS middleware: browsers of other origins get nothing.
    """
    api = FastAPI(title="Readgate", docs_url=None, redoc_url=None, openapi_url=None)
    add_systemone(api, serving)
    add_decisions(api, serving)
    add_status(api, serving, readiness)
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
