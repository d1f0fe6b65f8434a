"""Which policy a request is under. Knows no files and no HTTP."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from guards.errors import UnknownPolicy, nearest
from guards.policy import Policy


class PolicyBook:
    """The loaded policies, the default, and the routes: pairs of a model pattern (`*` and `?`) and a policy's name.

    Raises UnknownPolicy when the default or a route names one that is not loaded.
    """

    def __init__(self, policies: Mapping[str, Policy], default: str, routes: Sequence[tuple[str, str]] = ()) -> None:
        self._policies = dict(policies)
        self._routes = tuple((pattern, self._get(name, "a route")) for pattern, name in routes)
        self._default = self._get(default, "the default")

    @property
    def policies(self) -> tuple[Policy, ...]:
        return tuple(self._policies.values())

    def choose(self, model: str, named: str | None, allowed: frozenset[str] | None) -> Policy:
        """The named one, if the caller may name it; else the first route that fits the model; else the default.

        Raises UnknownPolicy; one that exists but is not allowed reads like one that does not.
        """
        if named is not None:
            known = self._policies.keys() if allowed is None else self._policies.keys() & allowed
            if named not in known:
                hint = nearest(named, known) if known else "this key may name none"
                raise UnknownPolicy(f"unknown policy {named!r} in x-readgate-policy; {hint}")
            return self._policies[named]
        return next((policy for pattern, policy in self._routes if fnmatchcase(model, pattern)), self._default)

    def _get(self, name: str, who: str) -> Policy:
        if name not in self._policies:
            raise UnknownPolicy(f"{who} names the policy {name!r}; {nearest(name, self._policies)}")
        return self._policies[name]
