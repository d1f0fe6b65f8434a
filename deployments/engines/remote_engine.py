"""Reads by a vLLM OpenAI server (0.31 or later) that somebody else runs: /v1/completions with token ids.

Streamed, because only a stream shows that a canvas was cut: a whole read is one chunk. Images do not go by token ids
over this road, so the card takes none.
"""

from collections.abc import AsyncIterator
from typing import Final

import httpx
from pydantic import ValidationError

from canvas import CanvasPlan, CanvasRead, InvalidRead, ModelCard
from deployments.engines.completions import Choice, Chunk, ServedModel, ServedModels, completion_body, whole_read
from deployments.engines.engine import EngineTimeout, EngineUnavailable, Overloaded
from deployments.engines.limits import check_plan, check_read
from deployments.engines.warm_up import warm_up

MAX_LABEL_IDS: Final = 128  # vLLM's bound on logprob_token_ids
PROBE_CANVASES: Final = 64  # as many as a server of this model commonly runs at once; few milliseconds each on a GPU
RETRY_AFTER_S: Final = 1.0  # when an overloaded server names no time
EXCERPT_CHARACTERS: Final = 500  # of a server's error, in ours

HTTP_TOO_MANY: Final = 429
HTTP_SERVER_ERROR: Final = 500
HTTP_UNAVAILABLE: Final = 503
HTTP_GATEWAY_TIMEOUT: Final = 504
NOT_THERE: Final = frozenset({401, 403, 404})
"""A wrong key, a wrong address or a wrong model name: nothing can be read here, whatever is asked."""


def remote_client(
    base_url: str, *, api_key: str = "", timeout_s: float = 8.0, connections: int = 128
) -> httpx.AsyncClient:
    """A pooled client for `base_url`, with or without its /v1. A canvas in flight holds one connection."""
    return httpx.AsyncClient(
        base_url=base_url.removesuffix("/").removesuffix("/v1"),
        headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
        timeout=timeout_s,
        limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
    )


class RemoteEngine:
    """Owns `client` from `start` to `close`. `model` is the served name, `revision` the operator's name of its weights.

    The server must run with max_num_batched_tokens >= max_num_seqs * canvas length and without a prefill threshold.
    It does not tell: `start` fills it with canvases to see, and a cut canvas is caught read by read.
    """

    def __init__(
        self, client: httpx.AsyncClient, *, model: str, revision: str, vocab_size: int, canvas_tokens: int
    ) -> None:
        self._client = client
        self._model = model
        self._revision = revision
        self._vocab_size = vocab_size
        self._canvas_tokens = canvas_tokens
        self._card: ModelCard | None = None

    @property
    def card(self) -> ModelCard:
        """Known once the engine has started: the length is the server's to say."""
        if self._card is None:
            raise EngineUnavailable(f"{self._model} has not started: its card is not known yet")
        return self._card

    async def start(self) -> None:
        served = await self._served_model()
        self._card = ModelCard(
            name=self._model,
            revision=self._revision,
            vocab_size=self._vocab_size,
            canvas_tokens=self._canvas_tokens,
            context_tokens=served.max_model_len,
            max_label_ids=MAX_LABEL_IDS,
            takes_images=False,
        )
        try:
            # Also proves that the server serves canvases as wide as configured, and does not cut them when it is full.
            await warm_up(self, concurrent=PROBE_CANVASES)
        except InvalidRead as error:
            raise EngineUnavailable(
                f"{self._client.base_url} does not serve canvases of {self._canvas_tokens} tokens: {error}"
            ) from error

    async def run(self, plan: CanvasPlan) -> CanvasRead:
        check_plan(plan, self.card)
        try:
            chunks = [chunk async for chunk in self._chunks(plan)]
        except httpx.HTTPError as error:
            raise _failed(error, self._client) from error
        return check_read(plan, whole_read(plan, chunks))

    async def check_health(self) -> None:
        """The server's own health, and that it still serves the model."""
        try:
            response = await self._get("/health")
        except httpx.HTTPError as error:
            raise EngineUnavailable(str(_failed(error, self._client))) from error
        if not response.is_success:
            raise EngineUnavailable(f"{self._client.base_url} says of its health: {response.status_code}")
        await self._served_model()

    async def close(self) -> None:
        await self._client.aclose()

    async def _get(self, path: str) -> httpx.Response:
        if self._client.is_closed:
            raise EngineUnavailable(f"{self._model} is not running")
        return await self._client.get(path)

    async def _served_model(self) -> ServedModel:
        try:
            response = await self._get("/v1/models")
        except httpx.HTTPError as error:
            raise EngineUnavailable(str(_failed(error, self._client))) from error
        if not response.is_success:
            raise EngineUnavailable(
                f"{self._client.base_url}/v1/models says {response.status_code}: {_excerpt(response)}"
            )
        try:
            models = ServedModels.model_validate_json(response.content).data
        except ValidationError as error:
            raise EngineUnavailable(f"{self._client.base_url}/v1/models is not vLLM's: {error}") from error
        for served in models:
            if served.id == self._model:
                return served
        raise EngineUnavailable(f"{self._client.base_url} serves {[one.id for one in models]}, not {self._model!r}")

    async def _chunks(self, plan: CanvasPlan) -> AsyncIterator[Choice]:
        """The choices of the stream that carry rows or an end. Leaving early closes the stream: the server aborts."""
        if self._client.is_closed:
            raise EngineUnavailable(f"{self._model} is not running")
        async with self._client.stream("POST", "/v1/completions", json=completion_body(plan, self._model)) as response:
            if not response.is_success:
                await response.aread()
                raise _refused(response)
            async for line in response.aiter_lines():
                data = line.removeprefix("data:").strip()
                if not data:
                    continue
                if data == "[DONE]":
                    return
                try:
                    chunk = Chunk.model_validate_json(data)
                except ValidationError as error:
                    raise InvalidRead(f"{self._model} sent no completion chunk: {data[:EXCERPT_CHARACTERS]}") from error
                for choice in chunk.choices:
                    yield choice
        raise EngineUnavailable(f"{self._model} closed the stream before its end")


def _failed(error: httpx.HTTPError, client: httpx.AsyncClient) -> EngineTimeout | EngineUnavailable | Overloaded:
    """The transport failed; a pool without a free connection is our own queue being full."""
    match error:
        case httpx.PoolTimeout():
            return Overloaded(f"every connection to {client.base_url} is in use", RETRY_AFTER_S)
        case httpx.ConnectTimeout():
            return EngineUnavailable(f"{client.base_url} did not accept a connection in time")
        case httpx.TimeoutException():
            return EngineTimeout(f"{client.base_url} did not answer within {client.timeout.read} s")
        case _:
            return EngineUnavailable(f"{client.base_url} cannot be reached: {error or type(error).__name__}")


def _refused(response: httpx.Response) -> EngineTimeout | EngineUnavailable | Overloaded | InvalidRead:
    """An error status. vLLM says 503 with a full queue and without a model: a retry elsewhere suits both."""
    status, said = response.status_code, f"{response.url} says {response.status_code}: {_excerpt(response)}"
    if status == HTTP_TOO_MANY:
        return Overloaded(said, _retry_after_s(response))
    if status == HTTP_UNAVAILABLE and "retry-after" in response.headers:
        return Overloaded(said, _retry_after_s(response))
    if status == HTTP_GATEWAY_TIMEOUT:
        return EngineTimeout(said)
    if status >= HTTP_SERVER_ERROR or status in NOT_THERE:
        return EngineUnavailable(said)
    return InvalidRead(said)  # our plan was within the card: the server is not what the card says


def _retry_after_s(response: httpx.Response) -> float:
    """The header in seconds; its date form, and anything else, is the default."""
    try:
        return max(0.0, float(response.headers["retry-after"]))
    except (KeyError, ValueError):
        return RETRY_AFTER_S


def _excerpt(response: httpx.Response) -> str:
    return response.text[:EXCERPT_CHARACTERS]
