"""What card.json beside a checkpoint's graphs says: the model card, and which tensors each graph takes."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from canvas import ModelCard

SHIPPED: Final = Path(__file__).parent / "model"
"""The checkpoint that comes with this package."""


@dataclass(frozen=True, slots=True)
class CardFile:
    """`encode_tensors` and `read_tensors` name entries of model.safetensors, which the graphs hold no copy of."""

    card: ModelCard
    encode_tensors: tuple[str, ...]
    read_tensors: tuple[str, ...]


def load_card(checkpoint: Path = SHIPPED) -> CardFile:
    """Raises FileNotFoundError that says how to write the file, or KeyError that names a missing entry."""
    path = checkpoint / "card.json"
    if not path.is_file():
        raise FileNotFoundError(f"{path}: missing; python -m deployments.embedded.export_onnx {checkpoint} writes it")
    fields = json.loads(path.read_text(encoding="utf-8"))
    card = ModelCard(
        name=fields["name"],
        revision=fields["revision"],
        vocab_size=fields["vocab_size"],
        canvas_tokens=fields["canvas_tokens"],
        context_tokens=fields["context_tokens"],
        max_label_ids=fields["max_label_ids"],
    )
    return CardFile(card, tuple(fields["tensors"]["encode"]), tuple(fields["tensors"]["read"]))
