"""Two fronts of one file, the Decision API around an engine and the same around transformers, asked alike. No Ray."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import httpx
import pytest

from canvas import CanvasPlan, CanvasRead, ModelCard
from deployments.admission import Admission
from deployments.assembly import build_front
from deployments.assembly_guard import build_upstreams
from deployments.engine_host import EngineHost
from deployments.engines.engine import Engine
from deployments.settings import Settings
from tests.engine.reference import Reference
from tests.engine.tiny import TINY

TOLERANCE: Final = 1e-5
"""Of a probability; the log-probabilities differ by 2e-6 at most (test_vllm_parity)."""


class ReferenceRunner:
    """Transformers where an engine would be."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference

    async def run_many(self, plans: Sequence[CanvasPlan]) -> Sequence[CanvasRead]:
        return [await asyncio.to_thread(self._reference.read, plan) for plan in plans]

    async def check_health(self) -> None:
        """It is a function."""


@dataclass(frozen=True, slots=True)
class Served:
    """A front around the engine of a file, and the same front around transformers."""

    kind: str
    revision: str
    front: httpx.AsyncClient
    reference: httpx.AsyncClient

    async def agreed(self, path: str, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - what httpx takes
        """The front's body, which is the reference's."""
        reply, expected = await self.front.post(path, **request), await self.reference.post(path, **request)
        assert reply.status_code == expected.status_code == 200, reply.text
        assert reply.json() == close_to(expected.json())
        return reply.json()


def close_to(value: object) -> object:
    """Equal to a JSON value whose floats differ by TOLERANCE at most; pytest.approx looks no deeper than one level."""
    match value:
        case dict():
            return {key: close_to(below) for key, below in value.items()}
        case list():
            return [close_to(below) for below in value]
        case float():
            return pytest.approx(value, abs=TOLERANCE, rel=0)
        case _:
            return value


@asynccontextmanager
async def _front(
    settings: Settings, card: ModelCard, runner: EngineHost | ReferenceRunner
) -> AsyncIterator[httpx.AsyncClient]:
    upstreams = build_upstreams(settings.models, {})
    api = build_front(settings, card, runner, runner.check_health, {}, upstreams=upstreams, sets_request_id=True)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(api), base_url="http://127.0.0.1") as client:
        yield client
    await upstreams.close()


@asynccontextmanager
async def served_by(settings: Settings, engine: Engine) -> AsyncIterator[Served]:
    admission = settings.admission
    host = EngineHost(engine, Admission(running=admission.running, queued=admission.queued, clock=time.monotonic))
    reference = ReferenceRunner(Reference(TINY))
    async with (
        _front(settings, engine.card, host) as front,
        _front(settings, engine.card, reference) as expected,
    ):
        yield Served(settings.engine.kind, engine.card.revision, front, expected)
