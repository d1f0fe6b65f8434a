"""Any other provider, through the litellm SDK, which is imported when the first such model starts. Knows no verdicts.

The import takes 3 to 4 seconds and about 200 MiB, so a server without such a model never pays for it.
"""

import asyncio
import importlib
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any, Final

from canvas import JSON
from guards.errors import InvalidConversation, InvalidUpstream, UpstreamFailed
from guards.upstream import UpstreamReply, UpstreamRequest

# What a caller may set. The SDK would also take a base URL, a key or a mock reply from the caller's body: never those.
_PARAMETERS: Final = frozenset(
    {"messages", "stream", "stream_options", "n", "temperature", "top_p", "max_tokens", "max_completion_tokens", "seed"}
    | {"logprobs", "top_logprobs", "frequency_penalty", "presence_penalty", "logit_bias", "stop", "user", "tools"}
    | {"functions", "tool_choice", "function_call", "parallel_tool_calls", "response_format", "reasoning_effort"}
    | {"modalities", "audio", "prediction", "verbosity", "model"}
)
_JSON: Final = {"content-type": "application/json"}
_EVENTS: Final = {"content-type": "text/event-stream; charset=utf-8"}


class LitellmUpstream:
    """`model` is litellm's name, with its provider's prefix. With `mock_response` no provider is called: the demo."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str = "",
        mock_response: str | None = None,
        timeout_s: float = 600.0,
        retries: int = 0,
        import_module: Callable[[str], ModuleType] = importlib.import_module,
    ) -> None:
        self._model = model
        self._import_module = import_module
        self._settings: dict[str, object] = {"timeout": timeout_s, "num_retries": retries}
        if api_key:
            self._settings["api_key"] = api_key
        if mock_response is not None:
            self._settings["mock_response"] = mock_response
        self._sdk: ModuleType | None = None

    async def start(self) -> None:
        """Import the SDK, away from the event loop. Raises InvalidUpstream when it is not installed."""
        # Without this the import fetches a price list from the network.
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        try:
            self._sdk = await asyncio.to_thread(self._import_module, "litellm")
        except ImportError as error:
            raise InvalidUpstream(f"model {self._model!r} needs the package litellm: {error}") from error

    @asynccontextmanager
    async def send(self, request: UpstreamRequest) -> AsyncGenerator[UpstreamReply]:
        if self._sdk is None:
            raise UpstreamFailed("the upstream has not started", status=503)
        unknown = [name for name in request.fields if name not in _PARAMETERS]
        if unknown:
            raise InvalidConversation(
                unknown[0], f"{unknown[0]}: not a parameter that is passed to this model's provider"
            )
        arguments = {**request.fields, **self._settings, "model": self._model}
        try:
            answer = await self._sdk.acompletion(**arguments)
        except Exception as error:  # noqa: BLE001 (the SDK raises every provider's errors; each becomes a reply)
            yield _failure(error)
            return
        if not request.stream:
            yield UpstreamReply(200, _JSON, _once(answer.model_dump_json(exclude_none=True).encode()))
            return
        try:
            yield UpstreamReply(200, _EVENTS, _events(answer))
        finally:
            await answer.aclose()

    async def close(self) -> None:
        """The SDK keeps its own clients for the process."""


def _failure(error: Exception) -> UpstreamReply:
    """A provider's error as the OpenAI error object with its own status. Raises UpstreamFailed when it has none."""
    status = getattr(error, "status_code", None)
    if not isinstance(status, int) or not 400 <= status <= 599:  # noqa: PLR2004 (HTTP's error statuses)
        raise UpstreamFailed(f"the upstream failed: {type(error).__name__}") from error
    body: Mapping[str, JSON] = {
        "error": {"message": str(error), "type": type(error).__name__, "param": None, "code": str(status)}
    }
    return UpstreamReply(status, _JSON, _once(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")))


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def _events(chunks: Any) -> AsyncIterator[bytes]:  # noqa: ANN401 (litellm's untyped stream)
    try:
        async for chunk in chunks:
            yield b"data: " + chunk.model_dump_json(exclude_none=True).encode() + b"\n\n"
    except Exception as error:
        raise UpstreamFailed(f"the upstream broke off: {type(error).__name__}") from error
    yield b"data: [DONE]\n\n"
