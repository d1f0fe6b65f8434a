"""A config file, checked at every level: Serve's keys, ours, and what must not be combined. Starts nothing."""

import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from pydantic import BaseModel, ValidationError

from deployments.loopback import is_loopback
from deployments.serve_keys import FREE, SERVE, Keys
from deployments.settings import Settings
from guards.errors import PolicyError, nearest
from guards.strict_yaml import Document, parse

IMPORT_PATH: Final = "deployments.app:build"
DEPLOYMENTS: Final = ("Front", "Engine")
ANY_NAME: Final = "*"  # in a table of keys: the names are the operator's own
RELATIVE: Final = (("policies", "directory"), ("engine", "checkpoint"), ("audit", "file"))
ARGS: Final = ("applications", 0, "args")

YamlPath = tuple[str | int, ...]


class ConfigError(Exception):
    """The file is wrong; says file, line and reason."""

    def __init__(self, file: str, line: int, reason: str) -> None:
        super().__init__(f"{file}:{line}: {reason}")
        self.file = file
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Config:
    """A checked file: Ray Serve's own mapping, and our settings from its application's `args`.

    `direct` is whether there is a single front, which can then listen on the port itself.
    """

    path: Path
    serve: Mapping[str, Any]
    settings: Settings
    host: str
    port: int
    direct: bool


def load_config(path: Path) -> Config:
    """Raises ConfigError with the line of the first fault."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), 1, f"cannot be read: {error}") from error
    try:
        document = parse(text, str(path))
    except PolicyError as error:
        raise ConfigError(error.file, error.line, error.reason) from error
    _check_keys(document, document.value, (), SERVE)
    serve = cast("dict[str, Any]", document.value)
    application = _application(document, serve)
    _resolve(cast("dict[str, Any]", application.get("args") or {}), path.resolve().parent)
    settings = _settings(document, application)
    http = cast("dict[str, Any]", serve.get("http_options") or {})
    host, port = str(http.get("host", "127.0.0.1")), http.get("port", 8000)
    if not isinstance(port, int) or not 0 < port < 65536:  # noqa: PLR2004 - the range of ports
        raise _error(document, ("http_options", "port"), f"needs a port number, got {port!r}")
    if not settings.keys and not settings.allow_anonymous and not is_loopback(host):
        raise _error(
            document,
            ("http_options", "host"),
            f"{host} is reachable from other machines and no keys are set: set keys, or allow_anonymous: true",
        )
    deployments = cast("list[dict[str, Any]]", application.get("deployments") or [])
    fronts = [entry for entry in deployments if entry.get("name") == "Front"]
    direct = all(entry.get("num_replicas", 1) == 1 and "autoscaling_config" not in entry for entry in fronts)
    return Config(path, serve, settings, host, port, direct)


def parse_settings(args: Mapping[str, Any]) -> Settings:
    """Settings as Serve hands them to the application's builder, from whatever tool deployed it."""
    return Settings.model_validate(dict(args))


def _application(document: Document, serve: Mapping[str, Any]) -> Mapping[str, Any]:
    applications = serve.get("applications")
    if not isinstance(applications, list) or len(cast("list[object]", applications)) != 1:
        raise _error(document, ("applications",), "needs exactly one application")
    application = cast("list[dict[str, Any]]", applications)[0]
    import_path = application.get("import_path")
    if import_path != IMPORT_PATH:
        raise _error(document, ("applications", 0, "import_path"), f"needs {IMPORT_PATH}, got {import_path!r}")
    for index, deployment in enumerate(application.get("deployments") or ()):
        name = deployment.get("name")
        if name not in DEPLOYMENTS:
            reason = f"there is no deployment {name!r}; {nearest(str(name), DEPLOYMENTS)}"
            raise _error(document, ("applications", 0, "deployments", index, "name"), reason)
    return application


def _resolve(args: dict[str, Any], folder: Path) -> None:
    """Relative paths are the file's own: replicas run in other folders."""
    for section, key in RELATIVE:
        found = args.get(section)
        if isinstance(found, dict) and isinstance(found.get(key), str):  # pyright: ignore[reportUnknownMemberType]
            found[key] = str(folder / cast("str", found[key]))


def _settings(document: Document, application: Mapping[str, Any]) -> Settings:
    args = cast("dict[str, Any]", application.get("args") or {})
    _check_keys(document, args, ARGS, _keys_of(Settings))
    try:
        return Settings.model_validate(args)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = _path_in(document, first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        where = ".".join(str(part) for part in path[len(ARGS) :])
        raise _error(document, path, f"{where}: {message}" if where else message) from error


def _path_in(document: Document, loc: tuple[str | int, ...]) -> YamlPath:
    """Pydantic's place in the file: the names of union members in it are not keys of the file."""
    path: YamlPath = ARGS
    for part in loc:
        if (*path, part) in document.lines:
            path = (*path, part)
    return path


def _check_keys(document: Document, value: object, path: YamlPath, known: Keys) -> None:
    """Walk mappings and lists beside the table; an unknown key is an error with the nearest known one."""
    if isinstance(value, list):
        for index, item in enumerate(cast("list[object]", value)):
            _check_keys(document, item, (*path, index), known)
    elif isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            below = known.get(key, known.get(ANY_NAME))
            if below is None:
                place = ".".join(str(part) for part in path) or "the file"
                raise _error(document, (*path, key), f"unknown key {key!r} in {place}; {nearest(key, known)}")
            if below is not FREE:
                _check_keys(document, item, (*path, key), below)
    elif not path or (known is not FREE and value is not None and ANY_NAME not in known):
        raise _error(document, path, "needs a mapping")


def _keys_of(model: type[BaseModel]) -> dict[str, Keys]:
    return {name: _keys_below(field.annotation) for name, field in model.model_fields.items()}


def _keys_below(annotation: Any) -> Keys:  # noqa: ANN401 - a type expression
    """The table for a field: a section's own keys, a union's all together, a mapping's free names, else FREE."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _keys_of(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is dict:
        below = _keys_below(arguments[1])
        return {ANY_NAME: below} if below is not FREE else FREE
    if origin in {typing.Union, types.UnionType, typing.Annotated}:
        tables = [_keys_below(argument) for argument in arguments]
        merged = {key: below for table in tables for key, below in table.items()}
        return merged or FREE
    return FREE


def _error(document: Document, path: YamlPath, reason: str) -> ConfigError:
    return ConfigError(document.file, document.line(path), reason)
