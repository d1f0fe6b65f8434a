"""`readgate doctor`: what is installed, configured and reachable. Names of keys, never values; changes nothing."""

import os
import platform
import socket
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from deployments.cli_check import chosen_config
from deployments.config import Config, ConfigError, load_config
from deployments.embedded.card_file import SHIPPED
from deployments.settings import EmbeddedEngineSettings, EngineSettings, Secret
from guards.errors import PolicyError
from guards.loader import load_directory

OLDEST_PYTHON: Final = (3, 11)
_SERVING: Final = ("ray", "fastapi", "uvicorn", "tokenizers", "zstandard", "python-multipart", "pillow", "litellm")
_ENGINES: Final[Mapping[str, str]] = {"embedded": "onnxruntime", "vllm": "vllm"}


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was looked at."""

    ok: bool
    what: str
    found: str


def doctor(given: Path | None) -> int:
    """0 when everything that was looked at is fine."""
    lines = [*_machine(), *_configured(chosen_config(given, os.environ))]
    width = max(len(line.what) for line in lines)
    for line in lines:
        print(f"{'ok  ' if line.ok else 'FAIL'}  {line.what.ljust(width)}  {line.found}")
    return 0 if all(line.ok for line in lines) else 1


def _machine() -> Iterator[Line]:
    yield Line(sys.version_info >= OLDEST_PYTHON, "python", f"{platform.python_version()} (3.11 or newer)")
    for package in _SERVING:
        yield _package(package)


def _package(name: str) -> Line:
    try:
        return Line(True, name, version(name))
    except PackageNotFoundError:
        return Line(False, name, "not installed; pip install 'readgate[serve]' has it")


def _configured(path: Path) -> Iterator[Line]:
    try:
        config = load_config(path)
    except ConfigError as error:
        yield Line(False, "config", str(error))
        return
    yield Line(True, "config", str(path))
    yield from _engine(config.settings.engine)
    yield _port(config)
    yield from _secrets(config)
    yield _policies(config)


def _engine(engine: EngineSettings) -> Iterator[Line]:
    package = _ENGINES.get(engine.kind)
    if package is not None:
        yield _package(package)
    if isinstance(engine, EmbeddedEngineSettings):
        folder = Path(engine.checkpoint) if engine.checkpoint else SHIPPED
        missing = [name for name in ("card.json", "tokenizer.json") if not (folder / name).is_file()]
        found = f"missing {', '.join(missing)}" if missing else "embedded model"
        yield Line(not missing, "engine", f"{folder}: {found}")
    else:
        yield Line(True, "engine", engine.kind)


def _port(config: Config) -> Line:
    where = f"{config.host}:{config.port}"
    try:
        with socket.create_server((config.host, config.port)):
            return Line(True, "port", f"{where} is free")
    except OSError as error:
        return Line(False, "port", f"{where} is taken, perhaps by a running readgate ({type(error).__name__})")


def _secrets(config: Config) -> Iterator[Line]:
    named = {f"key of {tenant}": key.key for tenant, key in config.settings.keys.items()}
    named |= {f"key for {name}": model.api_key for name, model in config.settings.models.items() if model.api_key}
    if not config.settings.keys:
        yield Line(True, "keys", "none: this machine's own callers only")
    for what, secret in named.items():
        yield _secret(what, secret)


def _secret(what: str, secret: Secret) -> Line:
    if secret.env is not None:
        present = bool(os.environ.get(secret.env))
        return Line(present, what, f"environment variable {secret.env} is {'set' if present else 'not set'}")
    path = Path(secret.file or "")
    present = path.is_file()
    return Line(present, what, f"file {path} is {'there' if present else 'missing'}")


def _policies(config: Config) -> Line:
    policies = config.settings.policies
    if policies is None:
        return Line(True, "policies", "none configured")
    try:
        loaded = load_directory(Path(policies.directory))
    except PolicyError as error:
        return Line(False, "policies", str(error))
    if policies.default not in loaded:
        return Line(False, "policies", f"{', '.join(loaded)}; the default {policies.default!r} is missing")
    return Line(True, "policies", ", ".join(loaded))
