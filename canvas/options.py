"""How a request wants to be read. Values only."""

from dataclasses import dataclass
from typing import Literal

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
