"""Settings to collaborators: engine, tokenizer, keys, the front's application. Knows nothing of Ray.

Engines' modules are imported only when their kind is configured: vLLM and ONNX Runtime take seconds.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from fastapi import FastAPI

from canvas import ModelCard, Planner, Tokenizer
from canvas.fingerprint import fingerprint
from deployments.admission import Admission
from deployments.api import build_api
from deployments.assembly_guard import Upstreams, build_chat, load_policies
from deployments.auth import Caller, Keyring
from deployments.cache import MemoryCache
from deployments.embedded.card_file import SHIPPED, load_card
from deployments.engine_host import EngineHost
from deployments.engines.engine import Engine
from deployments.engines.scripted_engine import SCRIPTED_CARD, ScriptedEngine
from deployments.engines.tokenizer import load_tokenizer
from deployments.limits import MIB
from deployments.metrics import Metrics
from deployments.models import ModelNames
from deployments.rates import Rates
from deployments.reader import CanvasReader, CanvasRunner
from deployments.routes_status import Readiness
from deployments.secrets import read_secret
from deployments.serving import Serving
from deployments.settings import (
    EmbeddedEngineSettings,
    EngineSettings,
    KeySettings,
    RemoteEngineSettings,
    ScriptedEngineSettings,
    Settings,
    VllmEngineSettings,
)
from guards.reader import ReadFailed

RELEASED = "2026-12-01"  # of this version; `/v1/models` must say a date


def build_engine(settings: EngineSettings, environ: Mapping[str, str]) -> Engine:
    """Not started yet."""
    match settings:
        case EmbeddedEngineSettings():
            from deployments.engines.embedded_engine import EmbeddedEngine  # noqa: PLC0415 - see above

            checkpoint = Path(settings.checkpoint) if settings.checkpoint else SHIPPED
            return EmbeddedEngine(
                checkpoint,
                load_card(checkpoint),
                threads=settings.threads,
                prefix_bytes=settings.prefix_cache_mib * MIB,
            )
        case ScriptedEngineSettings():
            return ScriptedEngine(SCRIPTED_CARD, latency_s=settings.latency_ms / 1000)
        case VllmEngineSettings():
            from deployments.engines.vllm_engine import VllmEngine  # noqa: PLC0415 - see above

            return VllmEngine(settings.built())
        case RemoteEngineSettings():
            from deployments.engines.remote_engine import RemoteEngine, remote_client  # noqa: PLC0415 - see above

            key = read_secret(settings.api_key, environ) if settings.api_key else ""
            client = remote_client(settings.base_url, api_key=key, timeout_s=settings.timeout_s)
            return RemoteEngine(
                client,
                model=settings.model,
                revision=settings.revision,
                vocab_size=load_front_tokenizer(settings).vocab_size,
                canvas_tokens=settings.canvas_tokens,
            )
        case _:
            assert_never(settings)


def load_front_tokenizer(settings: EngineSettings) -> Tokenizer:
    """The engine's tokenizer, without its model; the scripted engine borrows the embedded model's."""
    match settings:
        case ScriptedEngineSettings():
            return load_tokenizer(SHIPPED)
        case EmbeddedEngineSettings():
            return load_tokenizer(Path(settings.checkpoint) if settings.checkpoint else SHIPPED)
        case VllmEngineSettings() | RemoteEngineSettings():
            return load_tokenizer(Path(settings.checkpoint))
        case _:
            assert_never(settings)


def build_keyring(settings: Settings, environ: Mapping[str, str]) -> Keyring:
    """Raises SecretMissing: a key that is configured and absent must not mean an open server."""
    keys = {
        Caller(tenant, None if key.policies is None else frozenset(key.policies)): read_secret(key.key, environ)
        for tenant, key in settings.keys.items()
    }
    rates = {tenant: Rates(limits) for tenant, key in settings.keys.items() if (limits := _limits(key))}
    return Keyring(keys, rates, clock=time.monotonic, allow_anonymous=settings.allow_anonymous)


def _limits(key: KeySettings) -> dict[str, int]:
    limits = {
        "requests": key.requests_per_minute,
        "questions": key.questions_per_minute,
        "tokens": key.tokens_per_minute,
    }
    return {unit: limit for unit, limit in limits.items() if limit is not None}


async def build_local_reader(environ: Mapping[str, str]) -> CanvasReader:
    """The embedded model in this process, started: for commands that read without a server."""
    settings = Settings()
    engine = build_engine(settings.engine, environ)
    await engine.start()
    admission = Admission(running=settings.admission.running, queued=settings.admission.queued, clock=time.monotonic)
    return build_reader(settings, engine.card, EngineHost(engine, admission), Metrics())


def build_reader(settings: Settings, card: ModelCard, runner: CanvasRunner, metrics: Metrics) -> CanvasReader:
    """Planner, cache and runner as one reader."""
    tokenizer = load_front_tokenizer(settings.engine)
    return CanvasReader(
        Planner(tokenizer, card),
        runner,
        MemoryCache(settings.cache.max_bytes),
        metrics,
        fingerprint=fingerprint(card, tokenizer.digest),
        deadline_s=settings.read.deadline_s,
        min_label_mass=settings.read.min_label_mass,
    )


def build_front(
    settings: Settings,
    card: ModelCard,
    runner: CanvasRunner,
    check_engine: Callable[[], Awaitable[None]],
    environ: Mapping[str, str],
    *,
    upstreams: Upstreams,
    sets_request_id: bool,
) -> FastAPI:
    """The front's application around whoever runs canvases.

    Raises SecretMissing, PolicyError or UnknownPolicy: it does not start half configured.
    """
    metrics = Metrics()
    reader = build_reader(settings, card, runner, metrics)
    versioned = f"{card.name}-{card.revision}"
    description = f"Structured reads by the {settings.engine.kind} engine."
    serving = Serving(
        reader=reader,
        keyring=build_keyring(settings, environ),
        names=ModelNames(versioned, (card.name, *settings.names), released=RELEASED, description=description),
        limits=settings.limits.limits,
        defaults=settings.read.options,
        metrics=metrics,
        min_label_mass=settings.read.min_label_mass,
    )
    book = load_policies(settings.policies) if settings.policies else None
    routers = [build_chat(settings, serving, book, upstreams, metrics)] if book else []
    served = Readiness(
        ready=True,
        engine=settings.engine.kind,
        model=versioned,
        cache=reader.cache_kind,
        policies=tuple(policy.name for policy in book.policies) if book else (),
    )

    async def readiness() -> Readiness:
        try:
            await check_engine()
        except ReadFailed as error:
            return replace(served, ready=False, reason=str(error) or type(error).__name__)
        return served

    return build_api(serving, readiness, routers=routers, on_close=(upstreams.close,), sets_request_id=sets_request_id)
