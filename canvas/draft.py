"""A plan that lacks only its state, an encoded state, and the plan that they make."""

from dataclasses import dataclass
from hashlib import blake2b

from canvas.card import ModelCard
from canvas.errors import InvalidState, StateTooLong
from canvas.fingerprint import DIGEST_BYTES, digest, pack_ids
from canvas.noise import noise
from canvas.plan import CanvasPlan, Slot, images_digest, plan_digest
from canvas.prompt import encode_state
from canvas.state import Image, State
from canvas.tokens import Tokenizer


@dataclass(frozen=True, slots=True)
class Draft:
    """One canvas of a question set. `members` are the indices of its questions, in slot order."""

    members: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    shared_after: int | None
    canvas_ids: tuple[int, ...]
    slots: tuple[Slot, ...]
    packed_before: bytes
    packed_after: bytes
    packed_slots: bytes
    digest: bytes


@dataclass(frozen=True, slots=True)
class Judged:
    """An encoded state. `started` keeps, by what stands before it, the prompt so far and its running hash."""

    ids: tuple[int, ...]
    packed: bytes
    digest: bytes
    images: tuple[Image, ...]
    images_digest: bytes
    started: dict[bytes, tuple[tuple[int, ...], "blake2b"]]


def judge(state: State, tokenizer: Tokenizer, card: ModelCard) -> Judged:
    """The state, encoded once for all canvases. Raises InvalidState for images or text the model cannot take."""
    images = state.images
    if images and not card.takes_images:
        raise InvalidState(f"state: has {len(images)} images, and the model {card.name} takes none")
    parts = (part if isinstance(part, Image) else part.encode("utf-8") for part in state.parts)
    try:
        content = digest(
            piece
            for part in parts
            for piece in ((b"image", images_digest((part,))) if isinstance(part, Image) else (b"text", part))
        )
    except UnicodeEncodeError as error:
        raise InvalidState(f"state: character {error.start} is half of a surrogate pair") from error
    ids = encode_state(state, tokenizer)
    return Judged(ids, pack_ids(ids), content, images, images_digest(images), {})


def finish(draft: Draft, judged: Judged, draw: int, card: ModelCard) -> CanvasPlan:
    """The draft about this state with this draw's noise.

    Noise comes from the template, the prompt and the draw alone. Raises StateTooLong.
    """
    started = judged.started.get(draft.packed_before)
    if started is None:
        hashed = blake2b(draft.packed_before + judged.packed, digest_size=DIGEST_BYTES)
        started = judged.started[draft.packed_before] = (draft.before + judged.ids, hashed)
    start, hashed = started
    prompt_ids = start + draft.after
    width = len(draft.canvas_ids)
    if len(prompt_ids) + width > card.context_tokens:
        raise StateTooLong(
            state_tokens=len(judged.ids),
            other_tokens=len(draft.before) + len(draft.after) + width,
            limit_tokens=card.context_tokens,
        )
    hashed = hashed.copy()
    hashed.update(draft.packed_after)
    prompt_digest = hashed.digest()
    # Fixed lengths but for the images, which come last: no two seeds run into each other.
    seed = b"".join((draft.digest, prompt_digest, draw.to_bytes(4, "little"), judged.images_digest))
    canvas = list(draft.canvas_ids)
    for slot, token in zip(draft.slots, noise(seed, len(draft.slots), card.vocab_size), strict=True):
        canvas[slot.position] = token
    canvas_ids = tuple(canvas)
    shared = len(draft.before) if draft.shared_after is None else len(start) + draft.shared_after
    return CanvasPlan(
        prompt_ids,
        canvas_ids,
        draft.slots,
        judged.digest,
        shared,
        judged.images,
        plan_digest(prompt_digest, canvas_ids, draft.packed_slots, judged.images_digest),
    )
