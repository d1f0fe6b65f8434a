"""One seeded canvas as a value: the unit of packing, engine calls, caching and golden vectors.

Knows token ids, not what they mean; a plan is a pure function of one request (law 1).
"""

from dataclasses import dataclass
from typing import Final

from canvas.state import Image

WIDTH_STEP_TOKENS: Final = 16  # widths are multiples of this


@dataclass(frozen=True, slots=True)
class Slot:
    """One noise position; `label_ids[k]` are the token ids that all count as option k, in the question's order."""

    position: int
    label_ids: tuple[tuple[int, ...], ...]

    @property
    def token_ids(self) -> tuple[int, ...]:
        """All label ids, flattened option by option: the order of a read's log-probabilities."""
        return tuple(token for group in self.label_ids for token in group)


@dataclass(frozen=True, slots=True)
class CanvasPlan:
    """What an engine runs: prompt, seeded canvas (noise at the slots) and which log-probabilities to return.

    `prompt_ids` holds one image placeholder token per image, in order; the engine expands it.
    `canvas_ids` has exactly `width_tokens` ids. `state_digest` is what routing hashes.
    `prefix_tokens` is how much of the prompt is shared by every canvas of this state (state first) or of
    this question set (questions first); an engine may use it to encode once.
    """

    prompt_ids: tuple[int, ...]
    canvas_ids: tuple[int, ...]
    slots: tuple[Slot, ...]
    state_digest: bytes
    prefix_tokens: int = 0
    images: tuple[Image, ...] = ()

    @property
    def width_tokens(self) -> int:
        return len(self.canvas_ids)

    @property
    def rows(self) -> int:
        """Positions an engine must return: up to the last slot, whose row is the last needed."""
        return self.slots[-1].position + 1

    @property
    def token_ids(self) -> tuple[int, ...]:
        """Distinct label ids over all slots, ascending."""
        return tuple(sorted({token for slot in self.slots for token in slot.token_ids}))


CanvasRead = tuple[tuple[float, ...], ...]
"""Per slot, the full-vocabulary log-probabilities (natural log, temperature 1) of `slot.token_ids`, in that order."""
