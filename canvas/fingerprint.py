"""Digests of values, and the one that names everything that moves probabilities (law 8)."""

from collections.abc import Iterable
from hashlib import blake2b
from struct import pack
from typing import Final

from canvas.card import ModelCard

DIGEST_BYTES: Final = 16
TEMPLATE_VERSION: Final = 1
"""Raise it with every change of prompt, answer text, labels, noise or packing that moves a golden vector."""


def digest(parts: Iterable[bytes]) -> bytes:
    """16 bytes of blake2b over length-prefixed parts: moving a byte from one part to the next changes it."""
    state = blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.digest()


def pack_ids(ids: tuple[int, ...]) -> bytes:
    """Token ids as unsigned 32-bit little-endian integers, the same on every machine."""
    return pack(f"<{len(ids)}I", *ids)


def fingerprint(
    card: ModelCard,
    tokenizer_digest: bytes,
    template_version: int = TEMPLATE_VERSION,
    calibration_version: str = "",
) -> str:
    """32 hex digits that change with the model, its revision and limits, tokenizer, template or calibration."""
    limits = (card.vocab_size, card.canvas_tokens, card.context_tokens, card.max_label_ids, template_version)
    return digest(
        (
            card.name.encode(),
            card.revision.encode(),
            tokenizer_digest,
            *(str(limit).encode() for limit in limits),
            calibration_version.encode(),
        ),
    ).hex()
