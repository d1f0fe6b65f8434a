"""What planning and fingerprints must know of a served model. Values only."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelCard:
    """`canvas_tokens` is the widest canvas served; `context_tokens` bounds prompt plus canvas.

    `max_label_ids` bounds the distinct label ids of one canvas (vLLM: 128). `revision` changes with the weights.
    """

    name: str
    revision: str
    vocab_size: int
    canvas_tokens: int
    context_tokens: int
    max_label_ids: int = 128
    takes_images: bool = False
