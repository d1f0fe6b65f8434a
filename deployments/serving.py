"""The collaborators that every route shares. A value; it does nothing."""

from dataclasses import dataclass

from canvas import ReadOptions
from deployments.auth import Keyring
from deployments.limits import Limits
from deployments.metrics import Metrics
from deployments.models import ModelNames
from guards.reader import Reader


@dataclass(frozen=True, slots=True)
class Serving:
    """All that the routes share."""

    reader: Reader
    keyring: Keyring
    names: ModelNames
    limits: Limits
    defaults: ReadOptions
    metrics: Metrics
    min_label_mass: float
