"""What a read needs of a model, and how an engine may fail. One contract suite runs on every implementation.

ReadFailed (guards.reader)
├─ EngineUnavailable   503: not there, dead, or still loading
├─ EngineTimeout       504: did not answer within the deadline
└─ Overloaded          429: admission refused the work
canvas.InvalidRead     502: it answered, and broke its word
"""

from typing import Protocol

from canvas import CanvasPlan, CanvasRead, ModelCard
from guards.reader import ReadFailed


class EngineUnavailable(ReadFailed):
    """The engine cannot be reached or is not ready."""


class EngineTimeout(ReadFailed):
    """The engine did not answer within the deadline."""


class Overloaded(ReadFailed):
    """The engine refused the work before doing any; retry after `retry_after_s`."""

    def __init__(self, reason: str, retry_after_s: float = 1.0) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s


class Engine(Protocol):
    """Runs seeded canvases. Stateless: equal plans give equal reads."""

    @property
    def card(self) -> ModelCard: ...

    async def start(self) -> None:
        """Load and warm up; returns when reads are fast. Raises EngineUnavailable with the reason."""
        ...

    async def run(self, plan: CanvasPlan) -> CanvasRead:
        """One denoising step over the plan's canvas.

        Cancelling the call cancels the work. Raises EngineUnavailable, EngineTimeout, Overloaded or
        canvas.InvalidRead, or canvas.InvalidState before any work when the plan does not fit the card (images grow
        only in the engine: the planner cannot know). Nothing else.
        """
        ...

    async def check_health(self) -> None:
        """Raises EngineUnavailable when reads would fail now."""
        ...

    async def close(self) -> None:
        """Free what `start` took; safe to call twice."""
        ...
