"""What guards raise to whoever configures or calls them, by whose fault it is.

PolicyError          the policy's author: refuse to start
UnknownPolicy        the caller asked for a policy that is not there, or not theirs
InvalidConversation  the caller's body is not one whose every text can be found and read
InvalidAnswer        the upstream's answer is not one whose every text can be found and read
UpstreamFailed       the upstream could not be reached, or broke off
UnknownModel         no upstream is configured for the model named
InvalidUpstream      the operator: a configured upstream cannot work
"""

from collections.abc import Iterable
from difflib import get_close_matches


class PolicyError(Exception):
    """A policy file is wrong; says file, line and reason."""

    def __init__(self, file: str, line: int, reason: str) -> None:
        super().__init__(f"{file}:{line}: {reason}")
        self.file = file
        self.line = line
        self.reason = reason


class UnknownPolicy(Exception):
    """The caller named a policy that does not exist or that its key may not use."""


class InvalidConversation(Exception):
    """The caller's request; `param` names the field."""

    def __init__(self, param: str | None, reason: str) -> None:
        super().__init__(reason)
        self.param = param


class InvalidAnswer(Exception):
    """The upstream's answer cannot be taken apart, so it cannot be read."""


class UpstreamFailed(Exception):
    """No complete answer came; `status` is what our caller gets."""

    def __init__(self, reason: str, status: int = 502) -> None:
        super().__init__(reason)
        self.status = status


class UnknownModel(Exception):
    """No upstream serves the model that the caller named."""


class InvalidUpstream(Exception):
    """A configured upstream lacks something; names the model and the setting."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint that ends an error: the nearest known name, or all of them when none is near."""
    names = sorted(str(one) for one in known)
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"
