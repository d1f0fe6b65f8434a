"""Names under which the served model answers. Values only."""

from collections.abc import Sequence
from typing import Any

from deployments.errors import UnknownModel

ALIASES = ("jev-latest", "jev-preview")  # what System One's official clients send unless told otherwise


class ModelNames:
    """`versioned` is what responses say; `names` (the aliases among them) is what requests may say."""

    def __init__(self, versioned: str, names: Sequence[str], *, released: str, description: str) -> None:
        self.versioned = versioned
        self._released = released
        self._description = description
        self._names = dict.fromkeys((*names, *ALIASES, versioned))

    def check(self, name: str | None) -> str:
        """The versioned name; None asks for the default. Raises UnknownModel."""
        if name is not None and name not in self._names:
            raise UnknownModel(f"Unknown model: {name}", param="model")
        return self.versioned

    def listing(self) -> dict[str, Any]:
        """System One's `models` and OpenAI's `data` in one body: either client finds its own."""
        return {
            "object": "list",
            "models": [
                {"name": name, "description": self._description, "release_date": self._released} for name in self._names
            ],
            "data": [{"id": name, "object": "model", "created": 0, "owned_by": "readgate"} for name in self._names],
        }
