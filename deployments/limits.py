"""What a request may cost before any work is done for it. Values only; each default has its reason."""

from dataclasses import dataclass
from typing import Final

MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one request; crossing one is a 4xx that names it."""

    body_bytes: int = 8 * MIB  # a 64k-token state is .3 MiB; System One's published error names 8 MiB
    multipart_bytes: int = 32 * MIB  # images ride beside the JSON
    depth: int = 32  # OpenAI's published limit for decisions
    questions: int = 400  # OpenAI's published limit for decisions
    batch_states: int = 64  # what other System One servers take
    images: int = 8  # each costs hundreds of tokens of context
    image_bytes: int = 16 * MIB  # System One's published limit
    image_side_px: int = 4096  # a 4096 x 4096 RGB picture decodes to 48 MiB
