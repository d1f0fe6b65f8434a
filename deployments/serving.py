"""The collaborators that every route shares, and who a request comes from."""

from dataclasses import dataclass

from starlette.requests import Request

from canvas import ReadOptions
from deployments.auth import Caller, Keyring
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

    def caller(self, request: Request) -> Caller:
        """Raises MissingKey or Unauthenticated."""
        peer = request.client.host if request.client else None
        return self.keyring.caller(request.headers.get("authorization"), peer)
