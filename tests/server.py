"""A Decision API on a loopback port, with a scripted engine and no Ray: what the wire tests talk to."""

import asyncio
import contextlib
import itertools
import logging
import socket
import threading
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from dataclasses import dataclass, field

import httpx
import uvicorn
from fastapi import APIRouter, FastAPI

from canvas import ReadOptions
from canvas.fingerprint import fingerprint
from canvas.planner import Planner
from deployments.admission import Admission
from deployments.api import build_api
from deployments.auth import Caller, Keyring
from deployments.cache import MemoryCache
from deployments.engine_host import EngineHost
from deployments.engines.scripted_engine import ScriptedEngine
from deployments.limits import Limits
from deployments.metrics import Metrics
from deployments.models import ModelNames
from deployments.rates import Rates
from deployments.reader import CanvasReader
from deployments.routes_status import Readiness
from deployments.serving import Serving
from tests.toy_tokenizer import make


@dataclass
class Setup:
    """Everything that a test may want to choose; the defaults are the laptop's."""

    engine: ScriptedEngine = field(default_factory=ScriptedEngine)
    keys: Mapping[Caller, str] = field(default_factory=dict[Caller, str])
    rates: Mapping[str, Rates] = field(default_factory=dict[str, Rates])
    limits: Limits = field(default_factory=Limits)
    names: tuple[str, ...] = ("scripted", "gpt-6-luna")
    cache_bytes: int = 2**20
    deadline_s: float = 5.0
    min_label_mass: float = 0.0
    running: int = 64
    queued: int = 4096


def scripted_api(setup: Setup, *routers: APIRouter) -> FastAPI:
    """The application around a scripted engine that has been started."""
    tokenizer = make()
    host = EngineHost(setup.engine, Admission(running=setup.running, queued=setup.queued, clock=time.monotonic))
    metrics = Metrics()
    reader = CanvasReader(
        Planner(tokenizer, setup.engine.card),
        host,
        MemoryCache(setup.cache_bytes),
        metrics,
        fingerprint=fingerprint(setup.engine.card, tokenizer.digest),
        deadline_s=setup.deadline_s,
        min_label_mass=setup.min_label_mass,
    )
    serving = Serving(
        reader=reader,
        keyring=Keyring(setup.keys, setup.rates, clock=time.monotonic),
        names=ModelNames("scripted-1", setup.names, released="2026-11-30", description="A script."),
        limits=setup.limits,
        defaults=ReadOptions(),
        metrics=metrics,
        min_label_mass=setup.min_label_mass,
    )

    async def readiness() -> Readiness:
        await host.check_health()
        return Readiness(ready=True, engine="scripted", model="scripted-1", cache=reader.cache_kind)

    return build_api(serving, readiness, routers=routers, log=logging.getLogger("readgate.test"))


@contextlib.asynccontextmanager
async def client(setup: Setup, *routers: APIRouter) -> AsyncGenerator[httpx.AsyncClient]:
    """A client of the application in this very event loop: no socket."""
    await setup.engine.start()
    transport = httpx.ASGITransport(scripted_api(setup, *routers))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        yield http


@contextlib.contextmanager
def serving(setup: Setup) -> Generator[str]:
    """The base URL of a running server; stopped at the end."""
    asyncio.run(setup.engine.start())
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(scripted_api(setup), log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    for _ in itertools.takewhile(lambda _: not server.started, itertools.count()):
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
