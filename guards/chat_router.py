"""`POST /v1/chat/completions` as a FastAPI router. Knows HTTP; who may ask and how bodies are read is passed in."""

from collections.abc import Awaitable, Callable
from typing import Final

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from guards.chat_proxy import ChatProxy
from guards.dialects.chat import parse_request
from guards.dialects.chat_blocks import dump, error_object
from guards.errors import InvalidConversation, UnknownModel, UnknownPolicy
from guards.release import KEEP_ALIVE_S, HeldResponse
from guards.screen import Caller

PATH: Final = "/v1/chat/completions"


def build_chat_router(
    proxy: ChatProxy,
    *,
    authenticate: Callable[[Request], Awaitable[Caller]],
    read_body: Callable[[Request], Awaitable[bytes]],
    request_id: Callable[[Request], str],
    keep_alive_s: float = KEEP_ALIVE_S,
) -> APIRouter:
    """The route. `authenticate` and `read_body` raise the server's own errors, which pass through."""
    router = APIRouter()

    async def complete(request: Request) -> Response:
        caller = await authenticate(request)
        body = await read_body(request)
        try:
            chat = parse_request(body)
            asked = proxy.accept(chat, body, request.headers, caller, request_id(request))
        except InvalidConversation as error:
            return _refuse(400, str(error), None, error.param)
        except UnknownPolicy as error:
            return _refuse(400, str(error), "unknown_policy", None)
        except UnknownModel as error:
            return _refuse(404, str(error), "model_not_found", "model")
        return HeldResponse(proxy.complete(asked), stream=chat.stream, keep_alive_s=keep_alive_s)

    router.add_api_route(PATH, complete, methods=["POST"])
    return router


def _refuse(status: int, message: str, code: str | None, param: str | None) -> Response:
    content = dump(error_object(message, "invalid_request_error", code, param))
    return Response(content, status, media_type="application/json")
