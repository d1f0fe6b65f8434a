"""Ray Serve wiring: the Front and Engine deployments. The only module that imports ray."""

import asyncio
import logging
import os
import random
import signal
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import ray
from fastapi import FastAPI
from ray import serve
from ray.exceptions import RayActorError, RayTaskError
from ray.serve import Application
from ray.serve.config import RequestRouterConfig
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError, RayServeException
from ray.serve.handle import DeploymentHandle
from ray.serve.schema import ServeDeploySchema

from canvas import CanvasPlan, CanvasRead, ModelCard
from deployments.admission import Admission
from deployments.assembly import build_engine, build_front
from deployments.assembly_guard import build_upstreams
from deployments.config import Config, parse_settings
from deployments.engine_host import EngineHost
from deployments.engines.engine import EngineUnavailable, Overloaded
from deployments.outcomes import Outcome, outcome_of, reads_of
from deployments.retries import on_another
from deployments.settings import Settings

ROUTER = "ray.serve.experimental.consistent_hash_router.ConsistentHashRouter"
# Serve's own limits must never be the queue (a router's back-off ran at 42-51 % of ideal): admission is ours.
MAX_ONGOING = 10_000
FAIL_AT_ONCE = {"max_constructor_retry_count": 1}  # somebody waits at a terminal; Serve's default of 20 takes minutes


class EngineReplica:
    """One engine behind its admission."""

    async def __init__(self, settings: Settings) -> None:
        self._engine = build_engine(settings.engine, os.environ)
        await self._engine.start()
        admission = settings.admission
        self._host = EngineHost(
            self._engine, Admission(running=admission.running, queued=admission.queued, clock=time.monotonic)
        )

    async def run_many(self, plans: Sequence[CanvasPlan]) -> Outcome:
        """All canvases of one state that a front lacks."""
        return await outcome_of(self._host.run_many(plans))

    async def card(self) -> ModelCard:
        return self._host.card

    async def ping(self) -> str:
        """Empty, or why reads would fail now."""
        try:
            await self._host.check_health()
        except EngineUnavailable as error:
            return str(error) or "the engine is not available"
        return ""

    async def check_health(self) -> None:
        """Serve's probe: a replica whose engine is dead is replaced."""
        await self._host.check_health()

    async def __del__(self) -> None:
        await self._engine.close()


class HandleRunner:
    """CanvasRunner over a Serve handle: one call a state, to the replica that its digest hashes to."""

    def __init__(self, handle: DeploymentHandle) -> None:
        self._handle = handle

    async def run_many(self, plans: Sequence[CanvasPlan]) -> Sequence[CanvasRead]:
        handle = self._handle.options(session_id=plans[0].state_digest.hex())

        async def call() -> Outcome:
            response = handle.run_many.remote(plans)
            try:
                return await response
            except asyncio.CancelledError:
                response.cancel()  # made outside any request, so nobody else tells the replica
                raise
            except BackPressureError as error:
                raise Overloaded(str(error)) from error
            except RayTaskError as error:
                raise EngineUnavailable("the engine replica failed; its log says why") from error
            except (DeploymentUnavailableError, RayServeException) as error:
                raise EngineUnavailable(str(error)) from error

        return reads_of(await on_another(call, (RayActorError,), jitter=random.random))

    async def check(self) -> None:
        try:
            reason = await self._handle.ping.remote()
        except (RayActorError, RayServeException) as error:
            raise EngineUnavailable("no engine replica answers") from error
        if reason:
            raise EngineUnavailable(reason)


class FrontReplica:
    """The stateless front: its application is built here, in the replica, once the engine has told its card."""

    async def __init__(self, settings: Settings, engine: DeploymentHandle) -> None:
        runner = HandleRunner(engine)
        upstreams = build_upstreams(settings.models, os.environ)
        card = await engine.card.remote()
        self._api = build_front(
            settings, card, runner, runner.check, os.environ, upstreams=upstreams, sets_request_id=False
        )
        await upstreams.start()

    def __serve_build_asgi_app__(self) -> FastAPI:
        return self._api


def build(args: dict[str, Any]) -> Application:
    """The application of a config file, as Serve calls it; `args` are Readgate's settings."""
    return _bind(args, {})


def _bind(args: Mapping[str, Any], overrides: Mapping[str, Mapping[str, Any]]) -> Application:
    settings = parse_settings(args)
    router = RequestRouterConfig(request_router_class=ROUTER)
    engine = serve.deployment(
        EngineReplica, name="Engine", max_ongoing_requests=MAX_ONGOING, request_router_config=router
    )
    front = serve.deployment(serve.ingress()(FrontReplica), name="Front", max_ongoing_requests=MAX_ONGOING)
    engine = engine.options(**overrides.get("Engine", {}))
    front = front.options(**overrides.get("Front", {}))
    return front.bind(settings, engine.bind(settings))


def _unused_port(host: str) -> int:
    with socket.create_server((host, 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def local_cluster(config: Config) -> Iterator[None]:
    """A Ray of this machine's own with the application running; both end with the block.

    `serve.run` in this process instead of a deployed config: it saves the build task's process, 3 s on 2 cores.
    Raises EngineUnavailable when the application does not come up.
    """
    schema = ServeDeploySchema.model_validate(config.serve)  # Serve's own check of every value
    on_sigterm = signal.getsignal(signal.SIGTERM)
    ray.init(
        namespace="serve",
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
        # Replicas ask for no CPU in the dev config; Ray's own default would count cores that a container may not use.
        num_cpus=os.cpu_count(),
    )
    signal.signal(signal.SIGTERM, on_sigterm)  # Ray put its own, which aborts this process with a stack trace
    logging.getLogger("ray.serve").setLevel(logging.ERROR)
    try:
        http = schema.http_options.model_dump()
        if config.direct:
            http["port"] = _unused_port(config.host)  # the front has the configured one; Serve insists on a proxy
        serve.start(proxy_location=schema.proxy_location, http_options=http)
        application = config.serve["applications"][0]
        overrides = {
            deployment["name"]: {key: value for key, value in deployment.items() if key != "name"} | FAIL_AT_ONCE
            for deployment in application.get("deployments", ())
        }
        try:
            serve.run(
                _bind(application.get("args", {}), overrides),
                name=application.get("name", "readgate"),
                route_prefix=application.get("route_prefix", "/"),
                logging_config=application.get("logging_config") or config.serve.get("logging_config"),
            )
        except RuntimeError as error:
            raise EngineUnavailable(f"the application did not start: {error}") from error
        yield
        serve.delete(application.get("name", "readgate"))  # lets requests in flight end
    finally:
        ray.shutdown()
