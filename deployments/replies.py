"""Values to JSON responses: non-ASCII kept, NaN impossible, any size of integer that a request could hold."""

import json
from collections.abc import Mapping

from starlette.responses import Response


def json_reply(body: object, headers: Mapping[str, str] | None = None, *, status: int = 200) -> Response:
    """The standard library's encoder, because a level that a legend echoes may hold integers above 64 bits."""
    data = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    return Response(data, status, dict(headers or {}), media_type="application/json")
