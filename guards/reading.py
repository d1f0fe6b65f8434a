"""A stage's read checks over a conversation: one read when it fits, else overlapping windows that cover all of it.

Knows no verdicts: what keeps the read from happening is raised or becomes an outcome that says so.
"""

import asyncio
import logging
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from canvas import CanvasError, Decision, InvalidRead, InvalidState
from canvas.errors import StateTooLong
from guards.checks import ReadCheck, Stage
from guards.policy import Policy
from guards.reader import Reader, ReadFailed
from guards.transcript import Transcript, Window, windows
from guards.verdict import Empty, Measured, Outcome, Unread

MAX_WINDOWS: Final = 256  # of one stage: at 1,000 tokens a window some 800,000 characters of English
MAX_WINDOWS_AT_ONCE: Final = 8  # so that one long text does not fill the engine
MIN_WINDOW_CHARS: Final = 64  # a model that cannot take this beside the questions cannot read at all
OVERLAP_CHARS: Final = 256  # longer than most sentences, so that no sentence is only seen cut
FILL: Final = 0.8  # tokens a character vary within a text; a window that still does not fit is halved

_log = logging.getLogger("readgate.guards")


class TextTooLong(ReadFailed):
    """A text that would take more windows than are read."""


_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Job:
    """One stage of one conversation, to be judged by one policy."""

    policy: Policy
    transcript: Transcript
    stage: Stage
    tenant: str


@dataclass(frozen=True, slots=True)
class StageRead:
    """An outcome for every check, and what the audit line says of the read."""

    outcomes: tuple[tuple[str, Outcome], ...] = ()
    windows: int = 0
    context_left_out_chars: int = 0
    fingerprint: str = ""


async def read_stage(reader: Reader, job: Job, checks: Sequence[ReadCheck]) -> StageRead:
    """Whatever goes wrong, every check has an outcome: the reason why it was not read."""
    judged = job.transcript.judged(job.stage)
    unseen = job.transcript.unseen(job.stage)
    outcome: Outcome
    if not checks:
        return StageRead()
    if unseen:
        outcome = Unread(f"could not see {unseen}", permanent=True)
    elif not any(segment.images or segment.text.strip() for segment in judged):
        outcome = Empty()
    else:
        try:
            async with asyncio.timeout(job.policy.timeout_s):
                return await _read(reader, job, checks)
        except TimeoutError:
            outcome = Unread(f"not read within {job.policy.timeout_s:g} s")
        except (InvalidState, TextTooLong) as error:
            outcome = Unread(f"{type(error).__name__}: {error}", permanent=True)
        except ReadFailed as error:
            outcome = Unread(f"{type(error).__name__}: {error}", retry_after_s=error.retry_after_s)
        except CanvasError as error:
            outcome = Unread(f"{type(error).__name__}: {error}")
        except Exception as error:  # noqa: BLE001 (a broken reader must not open the gate: it becomes the outcome)
            _log.exception("a read broke")
            outcome = Unread(f"the reader failed: {type(error).__name__}")
    return StageRead(tuple((check.id, outcome) for check in checks))


async def together(work: Iterable[Coroutine[None, None, _Result]]) -> list[_Result]:
    """All results in order; when one fails the others are cancelled and its own error is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from errors
    return [task.result() for task in tasks]


async def _read(reader: Reader, job: Job, checks: Sequence[ReadCheck]) -> StageRead:
    limit = asyncio.Semaphore(MAX_WINDOWS_AT_ONCE)
    questions = [check.question for check in checks]
    images = any(segment.images for segment in job.transcript.judged(job.stage))

    async def read(window: Window) -> list[tuple[Decision, int]]:
        shown = job.transcript.show(job.stage, job.policy.context, window)
        try:
            async with limit:
                decision = await reader.read(shown.state, questions, job.policy.read.options, tenant=job.tenant)
        except StateTooLong as error:
            if images:
                raise  # which window a picture belongs to is not known
            parts = _split(window, len(shown.state.text), error.state_tokens, error.state_limit_tokens)
            return [one for several in await together(read(part) for part in parts) for one in several]
        if len(decision.answers) != len(checks):
            raise InvalidRead(f"the reader gave {len(decision.answers)} answers to {len(checks)} questions")
        return [(decision, shown.context_left_out_chars)]

    done = await read(Window(0, job.transcript.length(job.stage)))
    return StageRead(
        outcomes=tuple(
            (check.id, Measured(tuple(decision.answers[index].distribution for decision, _ in done)))
            for index, check in enumerate(checks)
        ),
        windows=len(done),
        context_left_out_chars=max(left_out for _, left_out in done),
        fingerprint=done[0][0].fingerprint,
    )


def _split(window: Window, rendered_chars: int, state_tokens: int, limit_tokens: int) -> Sequence[Window]:
    """Windows that should fit, judged from how many tokens the rendered text took. Raises ReadFailed when none can."""
    length = window.end - window.start
    budget = int(rendered_chars / max(state_tokens, 1) * limit_tokens * FILL)
    context = min(max(rendered_chars - length, 0), budget // 3)
    if window.context_chars is not None:  # it was made to fit and did not: give up the context, then halve
        context = 0
        budget = min(budget, length if window.context_chars else length // 2 + 1)
    size = budget - context
    if size < MIN_WINDOW_CHARS:
        raise ReadFailed(f"{limit_tokens} tokens of state are too few for {MIN_WINDOW_CHARS} characters of text")
    overlap = min(OVERLAP_CHARS, size // 4)
    if length > MAX_WINDOWS * (size - overlap):
        raise TextTooLong(f"{length} characters need more than {MAX_WINDOWS} windows of {size}")
    parts = windows(length, size, overlap, context)
    return [Window(window.start + part.start, window.start + part.end, part.context_chars) for part in parts]
