"""Around every request: its id, its count, and an error in the dialect's shape whatever happens. Pure ASGI."""

import json
import logging
import re
import time
import uuid
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deployments.dialects.errors import dialect_of, render_error
from deployments.fault_table import fault_of
from deployments.metrics import Metrics

_ID: Final = re.compile(rb"[\x21-\x7e]{1,128}")  # what may be echoed into a header and a log line
_TYPESAFE_ID: Final = b"x-typesafe-request-id"  # the official SDK raises without it
_CLIENT_GONE: Final = 499  # nginx's word for it; never sent, only counted
_SERVER_ERROR: Final = 500


class Envelope:
    """Sets `x-request-id` and `x-typesafe-request-id` on every response, 404 and 500 included.

    Without `sets_request_id` the server around us sets the first one, from the same request header (Ray Serve does).
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, log: logging.Logger, *, sets_request_id: bool) -> None:
        self._id_headers = (b"x-request-id", _TYPESAFE_ID) if sets_request_id else (_TYPESAFE_ID,)
        self._app = app
        self._metrics = metrics
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = request_id.decode()
        began = time.perf_counter()
        status = _CLIENT_GONE
        self._metrics.began()

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = [(name, request_id) for name in self._id_headers]
                message = {**message, "headers": [*message.get("headers", ()), *own]}
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        except ClientDisconnect:
            pass  # nobody is there to answer; counted as 499
        except Exception as error:
            if status != _CLIENT_GONE:
                raise  # the response has begun: the server must cut it, so that nobody takes it for whole
            await self._fail(scope, error, request_id, send_with_id)
        finally:
            self._metrics.answered(_route(scope), status, time.perf_counter() - began)

    async def _fail(self, scope: Scope, error: Exception, request_id: bytes, send: Send) -> None:
        fault = fault_of(error)
        if fault.status >= _SERVER_ERROR:
            self._log.error(
                "request %s failed with %d: %s", request_id.decode(), fault.status, error, exc_info=_unknown(error)
            )
        reply = render_error(fault, dialect_of(scope["path"]))
        body = json.dumps(reply.body, ensure_ascii=False).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            *((name.encode(), value.encode()) for name, value in reply.headers.items()),
        ]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def _unknown(error: Exception) -> Exception | None:
    """A traceback only for what no table entry explains."""
    return error if fault_of(error).error_type == "unknown" else None


def _request_id(scope: Scope) -> bytes:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _ID.fullmatch(value):
            return value
    return b"req_" + uuid.uuid4().hex.encode()


def _route(scope: Scope) -> str:
    return getattr(scope.get("route"), "path", "unknown")
