"""One seeded canvas as a value: the unit of packing, engine calls, caching and golden vectors.

Knows token ids, not what they mean; a plan is a pure function of one request (law 1).
"""

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from canvas.fingerprint import DIGEST_BYTES, digest, pack_ids
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
    `digest` names the plan in a cache: equal for equal prompt, canvas, slots and images, whatever the questions'
    ids. It is computed here unless the planner, which has hashed the shared prefix already, passes it.
    """

    prompt_ids: tuple[int, ...]
    canvas_ids: tuple[int, ...]
    slots: tuple[Slot, ...]
    state_digest: bytes
    prefix_tokens: int = 0
    images: tuple[Image, ...] = ()
    digest: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        if not self.digest:
            prompt = blake2b(pack_ids(self.prompt_ids), digest_size=DIGEST_BYTES).digest()
            whole = plan_digest(prompt, self.canvas_ids, pack_slots(self.slots), images_digest(self.images))
            object.__setattr__(self, "digest", whole)

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


def pack_slots(slots: tuple[Slot, ...]) -> bytes:
    """Slots as bytes that differ for different slots: every list is preceded by its length."""
    numbers: list[int] = [len(slots)]
    for slot in slots:
        numbers += (slot.position, len(slot.label_ids))
        for group in slot.label_ids:
            numbers += (len(group), *group)
    return pack_ids(tuple(numbers))


def images_digest(images: tuple[Image, ...]) -> bytes:
    """Nothing for no images, else a digest of their types and bytes."""
    return digest(part for image in images for part in (image.media_type.encode(), image.data)) if images else b""


def plan_digest(prompt_digest: bytes, canvas_ids: tuple[int, ...], packed_slots: bytes, images: bytes) -> bytes:
    """What `CanvasPlan.digest` is, from parts that the planner already has."""
    return digest((prompt_digest, pack_ids(canvas_ids), packed_slots, images))
