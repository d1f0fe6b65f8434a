"""What a right configuration still needs of a machine: files, folders, policies, secrets. Reads; starts nothing."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from deployments.config import ARGS, Config, ConfigError, YamlPath, fault_at
from deployments.embedded.card_file import SHIPPED
from deployments.secrets import SecretMissing, read_secret
from deployments.settings import (
    EmbeddedEngineSettings,
    PolicySettings,
    RemoteEngineSettings,
    ScriptedEngineSettings,
    Secret,
    VllmEngineSettings,
)
from guards.errors import PolicyError, nearest
from guards.loader import load_directory


@dataclass(frozen=True, slots=True)
class Lack:
    """Why serving would fail on this machine; `elsewhere` when it may be there on the machine that will serve."""

    error: ConfigError | PolicyError
    elsewhere: bool = False


def lacks(config: Config, environ: Mapping[str, str]) -> Iterator[Lack]:
    """Everything that is missing, in the order of the settings."""
    yield from _checkpoint(config)
    yield from _policies(config)
    yield from _secrets(config, environ)
    audit = config.settings.audit.file
    if audit is not None and not os.access(Path(audit).parent, os.W_OK):
        yield _lack(config, ("audit", "file"), f"cannot write into the folder {Path(audit).parent}")


def _lack(config: Config, place: YamlPath, reason: str, *, elsewhere: bool = False) -> Lack:
    error = fault_at(config.document, (*ARGS, *place), f"{'.'.join(map(str, place))}: {reason}")
    return Lack(error, elsewhere)


def _checkpoint(config: Config) -> Iterator[Lack]:
    match config.settings.engine:
        case ScriptedEngineSettings():
            return
        case EmbeddedEngineSettings() as engine:
            folder, files = Path(engine.checkpoint or SHIPPED), ("card.json", "tokenizer.json")
        case RemoteEngineSettings() | VllmEngineSettings() as engine:
            folder, files = Path(engine.checkpoint), ("tokenizer.json",)
        case _:
            assert_never(config.settings.engine)
    missing = [name for name in files if not (folder / name).is_file()]
    if missing:
        # DiffusionGemma's weights lie on the nodes of a cluster, not where its file is checked.
        elsewhere = engine.kind == "vllm"
        yield _lack(
            config, ("engine", "checkpoint"), f"{folder} has no {' and no '.join(missing)}", elsewhere=elsewhere
        )


def _policies(config: Config) -> Iterator[Lack]:
    policies = config.settings.policies
    if policies is None:
        return
    directory = Path(policies.directory)
    if not directory.is_dir():
        yield _lack(config, ("policies", "directory"), f"{directory} is no directory")
        return
    try:
        loaded = load_directory(directory)
    except PolicyError as error:
        yield Lack(error)
        return
    for place, name in _named(config, policies):
        if name not in loaded:
            yield _lack(config, place, f"there is no policy {name!r}; {nearest(name, loaded)}")


def _named(config: Config, policies: PolicySettings) -> Iterator[tuple[YamlPath, str]]:
    yield ("policies", "default"), policies.default
    for pattern, name in policies.routes.items():
        yield ("policies", "routes", pattern), name
    for tenant, key in config.settings.keys.items():
        for index, name in enumerate(key.policies or ()):
            yield ("keys", tenant, "policies", index), name


def _secrets(config: Config, environ: Mapping[str, str]) -> Iterator[Lack]:
    """A secret is rightly absent where a file is only checked; two tenants with one key are wrong anywhere."""
    tenants: dict[str, str] = {}
    for place, secret in _wanted(config):
        try:
            value = read_secret(secret, environ)
        except SecretMissing as error:
            yield _lack(config, place, str(error), elsewhere=True)
            continue
        if place[0] != "keys":
            continue
        tenant = str(place[1])
        if value in tenants:
            yield _lack(config, place, f"is also the key of {tenants[value]!r}: whose is it?")
        tenants[value] = tenant


def _wanted(config: Config) -> Iterator[tuple[YamlPath, Secret]]:
    settings = config.settings
    if isinstance(settings.engine, RemoteEngineSettings) and settings.engine.api_key is not None:
        yield ("engine", "api_key"), settings.engine.api_key
    for tenant, key in settings.keys.items():
        yield ("keys", tenant, "key"), key.key
    for name, model in settings.models.items():
        if model.api_key is not None:
            yield ("models", name, "api_key"), model.api_key
