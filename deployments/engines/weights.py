"""A name for a checkpoint's weights that changes when they do. Reads samples of the files, never a model."""

import hashlib
import os
from pathlib import Path
from typing import Final

SAMPLES: Final = 16
SAMPLE_BYTES: Final = 65_536
"""1 MiB of each file in all: a fine-tune moves every tensor, and hashing 50 GB would delay each start by minutes."""


def weights_revision(checkpoint: Path) -> str:
    """16 hexadecimal digits from config.json and, of every safetensors file, its name, size and evenly spread samples.

    Raises FileNotFoundError for a folder without weights.
    """
    files = sorted(checkpoint.glob("*.safetensors"))
    if not files:
        raise FileNotFoundError(f"{checkpoint} holds no .safetensors file")
    digest = hashlib.blake2b((checkpoint / "config.json").read_bytes(), digest_size=8)
    for path in files:
        size = path.stat().st_size
        digest.update(f"\0{path.name}\0{size}\0".encode())
        with path.open("rb") as file:
            for sample in range(SAMPLES):
                file.seek(max(0, size - SAMPLE_BYTES) * sample // (SAMPLES - 1), os.SEEK_SET)
                digest.update(file.read(SAMPLE_BYTES))
    return digest.hexdigest()
