"""The one thing guards need from outside: somebody who reads. Nothing here knows how."""

from collections.abc import Sequence
from typing import Protocol

from canvas import Decision, Question, ReadOptions, State


class ReadFailed(Exception):
    """The read did not happen; a policy's `on_error` decides what follows.

    `retry_after_s` is set by those that mean only that the reader is busy.
    """

    retry_after_s: float | None = None


class Reader(Protocol):
    """Answers typed questions about a state."""

    async def read(
        self,
        state: State,
        questions: Sequence[Question],
        options: ReadOptions,
        *,
        tenant: str = "",
        use_cache: bool = True,
        calibration: str = "",
    ) -> Decision:
        """One answer a question, in the questions' order.

        Raises canvas.InvalidQuestion or canvas.InvalidState for the caller's faults, canvas.InvalidRead when the
        engine broke its word, and ReadFailed when nothing could be read.
        """
        ...
