"""`readgate serve`: a local Ray with the application, until Ctrl-C. Says what to try once it is ready."""

import json
import os
import signal
import socket
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Final

from deployments.cli_check import loaded_config
from deployments.config import Config
from deployments.preflight import lacks

# Set before Ray is imported, for it reads them then; its workers inherit them, so every process agrees.
ENVIRONMENT: Final = {
    "RAY_SERVE_THROUGHPUT_OPTIMIZED": "1",
    "RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD": "0",  # one event loop a replica: ours never blocks
    "RAY_SERVE_RUN_ROUTER_IN_SEPARATE_LOOP": "0",
    "RAY_SERVE_REQUEST_PATH_LOG_BUFFER_SIZE": "1000",
    "RAY_SERVE_LOG_TO_STDERR": "0",
    "RAY_SERVE_USE_GRPC_BY_DEFAULT": "0",  # a dead replica must show as RayActorError, which is what is retried
    "RAY_SERVE_FREEZE_GC_ON_STARTUP": "1",
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing leaves this machine
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


def environment(config: Config) -> dict[str, str]:
    """Ray Serve's switches for one machine.

    A single front replica listens on the configured port itself (direct ingress). Through Serve's proxy a cache hit
    cost 7.3 CPU-ms and a packed read 11.6; direct, 1.4 and 5.2 (ray 2.60, 2 cores, scripted engine). Several fronts
    share one port only behind the proxy.
    """
    direct = {
        "RAY_SERVE_ENABLE_DIRECT_INGRESS": "1",
        "RAY_SERVE_DIRECT_INGRESS_MIN_HTTP_PORT": str(config.port),
        "RAY_SERVE_DIRECT_INGRESS_MAX_HTTP_PORT": str(config.port + 1),  # exclusive
        "RAY_SERVE_PORT_QUARANTINE_S": "0",  # a restarted front needs the same port at once
        "RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S": "0.1",  # no load balancer has to notice
    }
    behind = {"RAY_SERVE_ENABLE_DIRECT_INGRESS": "0"}
    return ENVIRONMENT | (direct if config.direct else behind)


def serve(given: Path | None) -> int:
    """0 after Ctrl-C, 1 when it cannot start."""
    config = loaded_config(given)
    if config is None:
        return 1
    reason = _cannot_start(config)
    if reason:
        print(f"readgate: {reason}", file=sys.stderr)
        return 1
    os.environ.update(environment(config))
    print(f"readgate: starting with {config.path} ({config.settings.engine.kind} engine) ...", flush=True)
    stop = threading.Event()
    _on_signals(stop)

    from deployments.app import local_cluster  # noqa: PLC0415 - after the environment, and a second of imports
    from deployments.engines.engine import EngineUnavailable  # noqa: PLC0415

    try:
        with local_cluster(config):
            print(_welcome(config), flush=True)
            stop.wait()
            print("readgate: stopping ...", flush=True)
    except EngineUnavailable as error:
        print(f"readgate: {error}", file=sys.stderr)
        return 1
    return 0


def _on_signals(stop: threading.Event) -> None:
    """Ctrl-C, and what a container's runtime or systemd sends, end the server in order."""

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)


def _cannot_start(config: Config) -> str:
    """Why, in one sentence; empty when nothing known stands in the way."""
    for lack in lacks(config, os.environ):
        return str(lack.error)
    try:
        with socket.create_server((config.host, config.port), family=_family(config.host)):
            return ""
    except OSError as error:
        return f"cannot listen on {config.address}: {_words(error)}"


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _words(error: OSError) -> str:
    """The system's words alone: create_server adds the address to them."""
    return os.strerror(error.errno) if error.errno else str(error)


def _welcome(config: Config) -> str:
    """What to try next, ready to paste."""
    url = f"http://{config.address}"
    curl = "curl -s -H 'content-type: application/json'" + (
        ' -H "Authorization: Bearer $KEY"' if config.settings.keys else ""
    )
    lines = [
        f"readgate: ready on {url}. Try, in another terminal:",
        "",
        f"  {curl} {url}/v1/systemone -d '{json.dumps(_DECISION)}'",
        "",
    ]
    for model in list(config.settings.models)[:1]:
        for text in ("Hello!", "Tell me about PROJECT-ABCD1234"):
            chat = {"model": model, "messages": [{"role": "user", "content": text}]}
            lines += [f"  {curl} {url}/v1/chat/completions -d '{json.dumps(chat)}'", ""]
    lines += [
        '  readgate ask "I was charged twice. Fix this today!" --predicate "Is it urgent?" \\',
        '    --choice "Which team?=billing,technical,sales" --score "How angry is it?=calm,annoyed,furious"',
        "",
        "Ctrl-C stops it.",
    ]
    return "\n".join(lines)


_DECISION: Final = {
    "model": "jev-latest",
    "state": "I was charged twice. Fix this today!",
    "questions": {
        "urgent": {"type": "noul", "instructions": "Is it urgent?"},
        "team": {"type": "choice", "instructions": "Which team?", "criteria": {"billing": None, "technical": None}},
        "anger": {"type": "score", "instructions": "How angry is it?", "criteria": ["calm", "annoyed", "furious"]},
    },
}
