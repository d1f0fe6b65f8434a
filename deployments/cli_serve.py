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

from deployments.assembly_guard import load_policies
from deployments.cli_check import loaded_config
from deployments.config import Config
from deployments.secrets import SecretMissing, read_secret
from guards.errors import PolicyError, UnknownPolicy

# Set before Ray is imported, for it reads them then; its workers inherit them, so every process agrees.
# A chain of two deployments cost 1.18 CPU-ms a request with these and 8.47 without (ray 2.60, 2 cores).
ENVIRONMENT: Final = {
    "RAY_SERVE_THROUGHPUT_OPTIMIZED": "1",
    "RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD": "0",  # one event loop a replica: ours never blocks
    "RAY_SERVE_RUN_ROUTER_IN_SEPARATE_LOOP": "0",
    "RAY_SERVE_REQUEST_PATH_LOG_BUFFER_SIZE": "1000",
    "RAY_SERVE_LOG_TO_STDERR": "0",
    "RAY_SERVE_USE_GRPC_BY_DEFAULT": "0",  # replicas of one machine: Ray's own calls need no port
    "RAY_SERVE_ENABLE_DIRECT_INGRESS": "0",  # the proxy listens on the configured host and port
    "RAY_SERVE_FREEZE_GC_ON_STARTUP": "1",
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing leaves this machine
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


def serve(given: Path | None) -> int:
    """0 after Ctrl-C, 1 when it cannot start."""
    config = loaded_config(given)
    if config is None:
        return 1
    reason = _cannot_start(config)
    if reason:
        print(f"readgate: {reason}", file=sys.stderr)
        return 1
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    print(f"readgate: starting with {config.path} ({config.settings.engine.kind} engine) ...", flush=True)
    stop = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)

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


def _cannot_start(config: Config) -> str:
    """Why, in one sentence; empty when nothing known stands in the way."""
    for tenant, key in config.settings.keys.items():
        try:
            read_secret(key.key, os.environ)
        except SecretMissing as error:
            return f"the key of {tenant!r}: {error}"
    if config.settings.policies is not None:
        try:
            load_policies(config.settings.policies)
        except (PolicyError, UnknownPolicy) as error:
            return str(error)
    try:
        with socket.create_server((config.host, config.port)):
            return ""
    except OSError as error:
        return f"cannot listen on {config.host}:{config.port}: {_words(error)}"


def _words(error: OSError) -> str:
    """The system's words alone: create_server adds the address to them."""
    return os.strerror(error.errno) if error.errno else str(error)


def _welcome(config: Config) -> str:
    """What to try next, ready to paste."""
    url = f"http://{config.host}:{config.port}"
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
