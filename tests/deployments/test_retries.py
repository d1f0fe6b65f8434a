"""A replica's death is tried again elsewhere, a fault of the engine is not; outcomes cross processes as values."""

from collections.abc import Awaitable, Callable

import pytest

from canvas import CanvasRead, InvalidRead, InvalidState
from deployments.engines.engine import EngineTimeout, EngineUnavailable, Overloaded
from deployments.outcomes import Refusal, outcome_of, reads_of
from deployments.retries import ATTEMPTS, on_another
from guards.reader import ReadFailed


class Died(Exception):
    """Stands for Ray's actor error."""


def dying(times: int) -> tuple[Callable[[], Awaitable[str]], list[int]]:
    calls: list[int] = []

    async def call() -> str:
        calls.append(1)
        if len(calls) <= times:
            raise Died
        return "read"

    return call, calls


@pytest.mark.parametrize("times", [0, 1, 2])
async def test_up_to_two_deaths_are_survived(times: int) -> None:
    call, calls = dying(times)
    assert await on_another(call, (Died,), jitter=lambda: 0.0) == "read"
    assert len(calls) == times + 1


async def test_a_third_death_is_unavailable() -> None:
    call, calls = dying(ATTEMPTS)
    with pytest.raises(EngineUnavailable, match="3 engine replicas died"):
        await on_another(call, (Died,), jitter=lambda: 0.0)
    assert len(calls) == ATTEMPTS


ERRORS = [
    Overloaded("full", 0.5),
    EngineTimeout("slow"),
    EngineUnavailable("gone"),
    InvalidRead("cut"),
    InvalidState("too long"),
]


@pytest.mark.parametrize("error", ERRORS, ids=[type(error).__name__ for error in ERRORS])
async def test_an_error_crosses_as_a_value_and_is_itself_again(error: Exception) -> None:
    async def call() -> tuple[CanvasRead, ...]:
        raise error

    outcome = await outcome_of(call())
    assert isinstance(outcome, Refusal)
    with pytest.raises(type(error), match=str(error)) as caught:
        reads_of(outcome)
    assert getattr(caught.value, "retry_after_s", None) == getattr(error, "retry_after_s", None)


async def test_a_plain_read_failure_is_unavailable() -> None:
    async def call() -> tuple[CanvasRead, ...]:
        raise ReadFailed("nothing")

    with pytest.raises(EngineUnavailable):
        reads_of(await outcome_of(call()))


async def test_reads_cross_as_they_are() -> None:
    reads: tuple[CanvasRead, ...] = (((-0.1, -2.0),),)

    async def call() -> tuple[CanvasRead, ...]:
        return reads

    assert reads_of(await outcome_of(call())) == reads
