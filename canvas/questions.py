"""What can be asked: predicates, choices and scores. Knows nothing of labels, tokens or wires."""

from dataclasses import dataclass
from typing import Final

from canvas.errors import InvalidQuestion

MIN_OPTIONS: Final = 2
MAX_OPTIONS: Final = 255
MIN_LEVELS: Final = 2
MAX_LEVELS: Final = 10


@dataclass(frozen=True, slots=True)
class Option:
    """One named alternative of a choice; the description may be empty."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A yes/no question; `yes` and `no` say, where given, what each answer means.

    Its distribution has two entries: yes first, no second.
    """

    id: str
    instructions: str
    yes: str = ""
    no: str = ""

    def __post_init__(self) -> None:
        if not (self.instructions or self.yes or self.no):
            raise InvalidQuestion(self.id, "needs instructions, or criteria for yes or no")

    @property
    def option_count(self) -> int:
        return 2

    @property
    def content(self) -> tuple[str, ...]:
        """Everything that may move its answer, so not the id; different for different questions."""
        return ("predicate", self.instructions, self.yes, self.no)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of 2 to 255 named options; its distribution is in the options' order."""

    id: str
    instructions: str
    options: tuple[Option, ...]

    def __post_init__(self) -> None:
        count = len(self.options)
        if not MIN_OPTIONS <= count <= MAX_OPTIONS:
            raise InvalidQuestion(self.id, f"needs {MIN_OPTIONS} to {MAX_OPTIONS} options, got {count}")
        seen: set[str] = set()
        for option in self.options:
            if option.name in seen:
                raise InvalidQuestion(self.id, f"option {option.name!r} is named twice")
            seen.add(option.name)

    @property
    def option_count(self) -> int:
        return len(self.options)

    @property
    def content(self) -> tuple[str, ...]:
        """Everything that may move its answer, so not the id; different for different questions."""
        return (
            "choice",
            self.instructions,
            *(text for option in self.options for text in (option.name, option.description)),
        )


@dataclass(frozen=True, slots=True)
class Score:
    """A place on 2 to 10 ordered levels, lowest first; its distribution is over the levels."""

    id: str
    instructions: str
    levels: tuple[str, ...]

    def __post_init__(self) -> None:
        count = len(self.levels)
        if not MIN_LEVELS <= count <= MAX_LEVELS:
            raise InvalidQuestion(self.id, f"needs {MIN_LEVELS} to {MAX_LEVELS} levels, got {count}")

    @property
    def option_count(self) -> int:
        return len(self.levels)

    @property
    def content(self) -> tuple[str, ...]:
        """Everything that may move its answer, so not the id; different for different questions."""
        return ("score", self.instructions, *self.levels)


Question = Predicate | Choice | Score
