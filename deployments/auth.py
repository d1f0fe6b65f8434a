"""Who asks: a bearer key to a caller. Holds digests of keys, never the keys. Knows no framework."""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from deployments.errors import MissingKey, RateLimited, Unauthenticated
from deployments.loopback import is_loopback
from deployments.rates import Rates


@dataclass(frozen=True, slots=True)
class Caller:
    """A tenant's name, and the policies its key may name (None: all)."""

    tenant: str
    policies: frozenset[str] | None = None


ANONYMOUS: Final = Caller("")


class Keyring:
    """Keys by tenant. Without any, this machine's own callers are let in, others only with `allow_anonymous`.

    An Authorization header is not looked at then.
    """

    def __init__(
        self,
        keys: Mapping[Caller, str],
        rates: Mapping[str, Rates],
        *,
        clock: Callable[[], float],
        allow_anonymous: bool = False,
    ) -> None:
        self._allow_anonymous = allow_anonymous
        self._digests = [(hashlib.sha256(key.encode()).digest(), caller) for caller, key in keys.items()]
        self._rates = rates
        self._clock = clock

    @property
    def is_open(self) -> bool:
        return not self._digests

    def caller(self, authorization: str | None, peer: str | None) -> Caller:
        """Who it is; `peer` is the client's address. Raises MissingKey or Unauthenticated.

        Every key is compared, in constant time.

        The configuration's check refuses a reachable host without keys; this holds where another tool deployed it.
        """
        if self.is_open:
            if self._allow_anonymous or peer is None or is_loopback(peer):
                return ANONYMOUS
            raise MissingKey("This server has no keys configured and answers its own machine only.")
        scheme, _, key = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            raise MissingKey("Missing API key.")
        given = hashlib.sha256(key.strip().encode("utf-8", "surrogateescape")).digest()
        found = None
        for digest, caller in self._digests:
            if hmac.compare_digest(digest, given):
                found = caller
        if found is None:
            raise Unauthenticated("Invalid API key.")
        return found

    def admit(self, caller: Caller, *, questions: int = 0) -> None:
        """Count a request against the tenant's limits, in this process. Raises RateLimited, naming the limit."""
        rates = self._rates.get(caller.tenant)
        if rates is None:
            return
        refused = rates.refusal(now_s=self._clock())
        if refused is not None:
            limit, wait_s = refused
            raise RateLimited(f"Rate limit exceeded: {limit}.", retry_after_s=wait_s)
        rates.spend("requests", 1)
        rates.spend("questions", questions)

    def spend_tokens(self, caller: Caller, tokens: int) -> None:
        """What a read used, taken after it."""
        rates = self._rates.get(caller.tenant)
        if rates is not None:
            rates.spend("tokens", tokens)
