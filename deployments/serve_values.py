"""What the values of Ray Serve's keys must be. Serve tells of a wrong one by a traceback, and late.

By name, for a key means one thing wherever it stands. A key that is not here is left to Serve's own check at the start.
"""

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

LISTS: Final = frozenset({"applications", "deployments", "deployment_actors"})
"""Sections that are lists of mappings; every other section is a mapping."""

OPTIONAL: Final = frozenset(
    {"logging_config", "autoscaling_config", "controller_options", "tracing_config", "gang_scheduling_config"}
    | {"deployment_actors"}
)
"""Sections that may be null."""


@dataclass(frozen=True, slots=True)
class Kind:
    """`words` complete "needs ..."."""

    words: str
    fits: Callable[[object], bool]

    def or_null(self) -> "Kind":
        return Kind(f"{self.words}, or null", lambda value: value is None or self.fits(value))


def whole(least: int, most: int | None = None) -> Kind:
    """An integer; true and 1.0 are none."""
    words = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"
    return Kind(words, lambda value: type(value) is int and least <= value <= (value if most is None else most))


def number(least: float, *, above: bool = False) -> Kind:
    """An integer or a finite float."""

    def fits(value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return False
        return value > least if above else value >= least

    return Kind(f"a number {'above' if above else 'of at least'} {least:g}", fits)


def one_of(*names: str) -> Kind:
    """One of a few words."""
    return Kind(f"one of {', '.join(names)}", lambda value: value in names)


FLAG: Final = Kind("true or false", lambda value: isinstance(value, bool))
TEXT: Final = Kind("a text", lambda value: isinstance(value, str) and value != "")
POSITIVE_S: Final = number(0, above=True)
AMOUNT: Final = number(0)
LEVELS: Final = tuple(logging.getLevelNamesMapping())

VALUES: Final[Mapping[str, Kind]] = {
    "proxy_location": one_of("Disabled", "HeadOnly", "EveryNode"),
    "target_capacity": AMOUNT.or_null(),
    "host": TEXT,
    "port": Kind("a port number", whole(1, 65_535).fits),
    "root_path": Kind("a text", lambda value: isinstance(value, str)),
    "request_timeout_s": POSITIVE_S.or_null(),
    "keep_alive_timeout_s": whole(0),
    "name": TEXT,
    "import_path": TEXT,
    "route_prefix": Kind(
        "a path that begins with / and does not end with it",
        lambda value: (
            isinstance(value, str)
            and (value == "/" or (value.startswith("/") and not value.endswith("/") and not set("{}") & set(value)))
        ),
    ),
    "num_replicas": Kind(
        "a whole number of at least 1, or auto", lambda value: value is None or value == "auto" or whole(1).fits(value)
    ),
    "max_ongoing_requests": whole(1),
    "max_queued_requests": Kind("-1 or a whole number of at least 1", lambda v: v == -1 or whole(1).fits(v)),
    "max_replicas_per_node": whole(1, 100),
    "graceful_shutdown_wait_loop_s": AMOUNT,
    "graceful_shutdown_timeout_s": AMOUNT,
    "health_check_period_s": POSITIVE_S,
    "health_check_timeout_s": POSITIVE_S,
    "num_cpus": AMOUNT.or_null(),
    "num_gpus": AMOUNT.or_null(),
    "memory": AMOUNT.or_null(),
    "encoding": one_of("TEXT", "JSON"),
    "log_level": Kind(f"one of {', '.join(LEVELS)}", lambda value: value in LEVELS),
    "logs_dir": TEXT.or_null(),
    "enable_access_log": FLAG,
    "min_replicas": whole(0),
    "initial_replicas": whole(0).or_null(),
    "max_replicas": whole(1),
    "target_ongoing_requests": POSITIVE_S.or_null(),
    "metrics_interval_s": POSITIVE_S,
    "look_back_period_s": POSITIVE_S,
    "upscaling_factor": POSITIVE_S.or_null(),
    "downscaling_factor": POSITIVE_S.or_null(),
    "upscale_delay_s": AMOUNT,
    "downscale_delay_s": AMOUNT,
}
