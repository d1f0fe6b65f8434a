"""`readgate config check`: a configuration's faults, with file and line. Needs no Ray."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from deployments.config import Config, ConfigError, load_config
from deployments.preflight import lacks

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
    """0 when the file is right; what only the serving machine must have is a warning here."""
    config = loaded_config(given)
    if config is None:
        return 1
    found = list(lacks(config, os.environ))
    for lack in found:
        print(f"warning: {lack.error}" if lack.elsewhere else lack.error, file=sys.stderr)
    if not all(lack.elsewhere for lack in found):
        return 1
    print(f"{config.path}: ok ({config.settings.engine.kind} engine, {config.address})")
    return 0
