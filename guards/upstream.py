"""What the proxy needs of a model behind it. Implementations: relay_upstream (raw bytes) and litellm_upstream (SDK)."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from canvas import JSON


@dataclass(frozen=True, slots=True)
class UpstreamRequest:
    """A chat completion as the caller sent it: its bytes, and the same parsed. `headers` are those to pass on."""

    body: bytes
    fields: Mapping[str, JSON]
    stream: bool
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class UpstreamReply:
    """An answer that has begun. `body` may raise UpstreamFailed when it breaks off."""

    status: int
    headers: Mapping[str, str]
    body: AsyncIterator[bytes]


class Upstream(Protocol):
    """Answers chat completions."""

    async def start(self) -> None:
        """Make ready what takes long. Raises InvalidUpstream."""
        ...

    def send(self, request: UpstreamRequest) -> AbstractAsyncContextManager[UpstreamReply]:
        """The reply, open inside the context; leaving or cancelling it ends the upstream's work.

        Entering raises UpstreamFailed when no reply began.
        """
        ...

    async def close(self) -> None: ...
