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
from deployments.serve_values import LISTS, OPTIONAL, VALUES
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
    document: Document
    serve: Mapping[str, Any]
    settings: Settings
    host: str
    port: int
    direct: bool

    @property
    def address(self) -> str:
        """Host and port as a URL has them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


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
    _check_serve(document, document.value, (), SERVE)
    serve = cast("dict[str, Any]", document.value)
    application = _application(document, serve)
    _resolve(cast("dict[str, Any]", application.get("args", {})), path.resolve().parent)
    settings = _settings(document, application)
    http = cast("dict[str, Any]", serve.get("http_options", {}))
    host, port = http.get("host", "127.0.0.1"), http.get("port", 8000)
    if not settings.keys and not settings.allow_anonymous and not is_loopback(host):
        raise fault_at(
            document,
            ("http_options", "host"),
            f"{host} is reachable from other machines and no keys are set: set keys, or allow_anonymous: true",
        )
    deployments = cast("list[dict[str, Any]]", application.get("deployments", []))
    fronts = [entry for entry in deployments if entry["name"] == "Front"]
    direct = all(entry.get("num_replicas", 1) == 1 and "autoscaling_config" not in entry for entry in fronts)
    return Config(path, document, serve, settings, host, port, direct)


def parse_settings(args: Mapping[str, Any]) -> Settings:
    """Settings as Serve hands them to the application's builder, from whatever tool deployed it."""
    return Settings.model_validate(dict(args))


def _application(document: Document, serve: Mapping[str, Any]) -> Mapping[str, Any]:
    applications = serve.get("applications", [])
    if len(applications) != 1:
        raise fault_at(document, ("applications",), "needs exactly one application")
    application = cast("dict[str, Any]", applications[0])
    import_path = application.get("import_path")
    if import_path != IMPORT_PATH:
        raise fault_at(document, ("applications", 0, "import_path"), f"needs {IMPORT_PATH}, got {import_path!r}")
    if not isinstance(application.get("args", {}), dict):
        raise fault_at(document, ARGS, "args needs a mapping")
    seen: set[str] = set()
    for index, deployment in enumerate(application.get("deployments", ())):
        name = deployment.get("name")
        place = ("applications", 0, "deployments", index, "name")
        if name not in DEPLOYMENTS:
            raise fault_at(document, place, f"there is no deployment {name!r}; {nearest(str(name), DEPLOYMENTS)}")
        if name in seen:
            raise fault_at(document, place, f"the deployment {name!r} is there twice")
        seen.add(name)
    return application


def _resolve(args: dict[str, Any], folder: Path) -> None:
    """Relative paths are the file's own: replicas run in other folders."""
    for section, key in RELATIVE:
        found = args.get(section)
        if isinstance(found, dict) and isinstance(found.get(key), str):  # pyright: ignore[reportUnknownMemberType]
            found[key] = str(folder / cast("str", found[key]))


def _settings(document: Document, application: Mapping[str, Any]) -> Settings:
    args = cast("dict[str, Any]", application.get("args", {}))
    _check_keys(document, args, ARGS, _keys_of(Settings))
    try:
        return Settings.model_validate(args)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = _path_in(document, first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        where = ".".join(str(part) for part in path[len(ARGS) :])
        raise fault_at(document, path, f"{where}: {message}" if where else message) from error


def _path_in(document: Document, loc: tuple[str | int, ...]) -> YamlPath:
    """Pydantic's place in the file: the names of union members in it are not keys of the file."""
    path: YamlPath = ARGS
    for part in loc:
        if (*path, part) in document.lines:
            path = (*path, part)
    return path


def _check_serve(document: Document, value: object, path: YamlPath, known: Keys) -> None:
    """Serve's own part: every section is of its shape, every key is known, every value that we know of is right."""
    name = path[-1] if path else ""
    where = _place(path)
    if value is None and name in OPTIONAL:
        return
    if name in LISTS:
        if not isinstance(value, list):
            raise fault_at(document, path, f"{where} needs a list")
        for index, item in enumerate(cast("list[object]", value)):
            _check_serve(document, item, (*path, index), known)
        return
    if not isinstance(value, dict):
        raise fault_at(document, path, f"{where} needs a mapping")
    for key, item in cast("dict[str, object]", value).items():
        place = (*path, key)
        below = _known_below(document, place, known)
        kind = VALUES.get(key)
        if below is not FREE:
            _check_serve(document, item, place, below)
        elif kind is not None and not kind.fits(item):
            raise fault_at(document, place, f"{_place(place)} needs {kind.words}, got {item!r}")


def _check_keys(document: Document, value: object, path: YamlPath, known: Keys) -> None:
    """Our own part: unknown keys, which pydantic would name without the nearest; it judges everything else."""
    if isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            below = _known_below(document, (*path, key), known)
            if below is not FREE:
                _check_keys(document, item, (*path, key), below)
    elif value is not None and ANY_NAME not in known:
        raise fault_at(document, path, f"{_place(path)} needs a mapping")


def _known_below(document: Document, place: YamlPath, known: Keys) -> Keys:
    """The table below a key. Raises ConfigError when the key is not known."""
    key = str(place[-1])
    below = known.get(key, known.get(ANY_NAME))
    if below is None:
        raise fault_at(document, place, f"unknown key {key!r} in {_place(place[:-1])}; {nearest(key, known)}")
    return below


def _place(path: YamlPath) -> str:
    return ".".join(str(part) for part in path) or "the file"


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


def fault_at(document: Document, path: YamlPath, reason: str) -> ConfigError:
    """The error at the line of a place, or of the nearest section around it that the file has."""
    return ConfigError(document.file, document.line(path), reason)
