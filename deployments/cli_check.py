"""`readgate config check`: a configuration's faults, with file and line. Needs no Ray."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from deployments.config import Config, ConfigError, load_config

LAPTOP: Final = Path(__file__).parent.parent / "configs" / "serve.dev.yaml"


def chosen_config(given: Path | None, environ: Mapping[str, str]) -> Path:
    """The file named, else READGATE_CONFIG's, else the laptop's."""
    named = environ.get("READGATE_CONFIG")
    return given or (Path(named) if named else LAPTOP)


def loaded_config(given: Path | None) -> Config | None:
    """The checked file, or None after saying what is wrong."""
    path = chosen_config(given, os.environ)
    try:
        return load_config(path)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return None


def check_config(given: Path | None) -> int:
    """0 when the file is right."""
    config = loaded_config(given)
    if config is None:
        return 1
    print(f"{config.path}: ok ({config.settings.engine.kind} engine, {config.host}:{config.port})")
    return 0
