"""Canvases in flight: computed once, shared, cancelled only when nobody waits any more."""

import asyncio
from collections.abc import Sequence
from contextvars import ContextVar

import pytest

from canvas import CanvasPlan, CanvasRead, Slot
from deployments.engines.engine import EngineUnavailable
from deployments.flights import Flights


def plan(number: int) -> CanvasPlan:
    return CanvasPlan((number,), (0,) * 16, (Slot(0, ((1,), (2,))),), b"s")


def read(number: int) -> CanvasRead:
    return ((float(-number), -1.0),)


class GatedRunner:
    """Answers when the gate opens; remembers what it was asked and whether it was cancelled."""

    def __init__(self, error: Exception | None = None) -> None:
        self.gate = asyncio.Event()
        self.calls: list[tuple[int, ...]] = []
        self.cancelled = 0
        self._error = error

    async def run_many(self, plans: Sequence[CanvasPlan]) -> list[CanvasRead]:
        self.calls.append(tuple(plan.prompt_ids[0] for plan in plans))
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self._error:
            raise self._error
        return [read(plan.prompt_ids[0]) for plan in plans]


def asked(flights: Flights, *numbers: int) -> asyncio.Task[list[CanvasRead]]:
    return asyncio.create_task(
        flights.run([b"%d" % number for number in numbers], [plan(number) for number in numbers])
    )


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_canvas_that_two_requests_want_runs_once_and_each_gets_its_own_order() -> None:
    runner = GatedRunner()
    flights = Flights(runner.run_many)
    first, second = asked(flights, 1, 2), asked(flights, 3, 2)
    await settle()
    assert runner.calls == [(1, 2), (3,)]
    runner.gate.set()
    assert await first == [read(1), read(2)]
    assert await second == [read(3), read(2)]
    assert flights.in_flight == 0


async def test_the_same_canvas_twice_in_one_request_runs_once() -> None:
    runner = GatedRunner()
    runner.gate.set()
    assert await asked(Flights(runner.run_many), 1, 1) == [read(1), read(1)]
    assert runner.calls == [(1,)]


async def test_a_cancelled_leader_leaves_its_followers_their_read() -> None:
    runner = GatedRunner()
    flights = Flights(runner.run_many)
    leader, follower = asked(flights, 1), asked(flights, 1)
    await settle()
    leader.cancel()
    await settle()
    assert leader.cancelled()
    runner.gate.set()
    assert await follower == [read(1)]
    assert (runner.calls, runner.cancelled) == ([(1,)], 0)


async def test_the_work_runs_in_no_requests_context() -> None:
    request: ContextVar[str] = ContextVar("request", default="none")
    seen: list[str] = []

    async def run_many(plans: Sequence[CanvasPlan]) -> list[CanvasRead]:
        seen.append(request.get())
        return [read(plan.prompt_ids[0]) for plan in plans]

    request.set("the leader's")
    await asked(Flights(run_many), 1)
    assert seen == ["none"]


async def test_the_work_is_cancelled_when_the_last_one_has_gone() -> None:
    runner = GatedRunner()
    flights = Flights(runner.run_many)
    requests = [asked(flights, 1), asked(flights, 1)]
    await settle()
    for request in requests:
        request.cancel()
    await settle()
    assert runner.cancelled == 1
    assert flights.in_flight == 0


async def test_a_request_after_the_last_cancellation_starts_afresh() -> None:
    runner = GatedRunner()
    flights = Flights(runner.run_many)
    gone = asked(flights, 1)
    await settle()
    gone.cancel()
    await settle()
    runner.gate.set()
    assert await asked(flights, 1) == [read(1)]
    assert runner.calls == [(1,), (1,)]


async def test_an_error_reaches_everyone_and_is_not_kept() -> None:
    runner = GatedRunner(EngineUnavailable("gone"))
    flights = Flights(runner.run_many)
    requests = [asked(flights, 1), asked(flights, 1)]
    await settle()
    runner.gate.set()
    for request in requests:
        with pytest.raises(EngineUnavailable, match="gone"):
            await request
    assert flights.in_flight == 0
