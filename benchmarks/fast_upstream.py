"""An OpenAI-compatible upstream that answers at once: a fixed completion, or the same as 13 chunks."""

import json
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

WORDS = ["Put", "it", "in", "boiling", "water", "for", "eight", "minutes,", "then", "cool", "it."]
HEAD: dict[str, Any] = {"id": "chatcmpl-1", "created": 1, "model": "fast"}
USAGE = {"prompt_tokens": 12, "completion_tokens": 11, "total_tokens": 23}
MESSAGE = {"role": "assistant", "content": " ".join(WORDS)}
CHOICE = {"index": 0, "message": MESSAGE, "finish_reason": "stop"}
WHOLE = json.dumps(HEAD | {"object": "chat.completion", "choices": [CHOICE], "usage": USAGE}).encode()
DELTAS: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, *({"content": f"{word} "} for word in WORDS)]
CHUNKS: list[dict[str, Any]] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in DELTAS]
CHUNKS.append({"index": 0, "delta": {}, "finish_reason": "stop"})
STREAM = b"".join(
    b"data: " + json.dumps(HEAD | {"object": "chat.completion.chunk", "choices": [chunk]}).encode() + b"\n\n"
    for chunk in CHUNKS
)


async def complete(request: Request) -> Response:
    """Streamed when asked."""
    if (await request.json()).get("stream"):
        return Response(STREAM + b"data: [DONE]\n\n", media_type="text/event-stream")
    return Response(WHOLE, media_type="application/json")


async def alive(_request: Request) -> Response:
    """For whoever waits for the start."""
    return Response("ok")


app = Starlette(routes=[Route("/", alive), Route("/v1/chat/completions", complete, methods=["POST"])])
