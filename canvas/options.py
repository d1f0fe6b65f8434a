"""How a request wants to be read. Values only."""

from dataclasses import dataclass
from typing import Final, Literal

from canvas.errors import InvalidOptions

MAX_DRAWS: Final = 16  # chosen: a standard error falls with the root of the draws, the cost with the draws

Packing = Literal["isolated", "packed"]
Layout = Literal["state_first", "questions_first"]
Draws = int | Literal["auto"]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The decision API's defaults; policies default to packed.

    `draws` is a number of noise samples, or "auto": one, and more only for uncertain questions, at most `max_draws`.
    """

    packing: Packing = "isolated"
    layout: Layout = "state_first"
    draws: Draws = 1
    max_draws: int = 4

    def __post_init__(self) -> None:
        for name, count in (("draws", self.draws), ("max_draws", self.max_draws)):
            if isinstance(count, int) and not 1 <= count <= MAX_DRAWS:
                raise InvalidOptions(f"{name}: needs 1 to {MAX_DRAWS}, got {count}")
