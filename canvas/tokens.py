"""What the planner needs of a tokenizer. Implementations live where their libraries may be imported."""

from typing import Protocol


class Tokenizer(Protocol):
    """Text to ids, without ever letting a text name a special token.

    `encode("<turn|>")` yields the ids of those characters as plain text: so a state cannot close its own turn.
    """

    @property
    def vocab_size(self) -> int: ...

    @property
    def digest(self) -> bytes:
        """16 bytes that change when any encoding may change."""
        ...

    def encode(self, text: str) -> tuple[int, ...]:
        """Ids of plain text, no special tokens added or recognised."""
        ...

    def special(self, token: str) -> int:
        """Id of a special token such as `<turn|>`. Raises KeyError when the vocabulary lacks it."""
        ...
