"""Tensors of a safetensors file as float32 arrays. Knows no model, and needs no torch.

The safetensors package reads bfloat16 only into a framework that has it; numpy has not.
"""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

LENGTH_BYTES: Final = 8  # a safetensors file starts with its header's length, little-endian
STORED: Final = {"BF16": np.dtype("<u2"), "F32": np.dtype("<f4"), "F16": np.dtype("<f2")}


def read_weights(path: Path, names: Collection[str]) -> dict[str, NDArray[np.float32]]:
    """The named tensors. Raises ValueError that names a missing tensor or a type it cannot widen."""
    data = path.read_bytes()
    start = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
    header = json.loads(data[LENGTH_BYTES:start])
    tensors: dict[str, NDArray[np.float32]] = {}
    for name in names:
        if name not in header:
            raise ValueError(f"{path.name} has no tensor {name}")
        entry = header[name]
        if entry["dtype"] not in STORED:
            raise ValueError(f"{path.name}: {name} is {entry['dtype']}; known are {', '.join(STORED)}")
        first, last = entry["data_offsets"]
        stored = np.frombuffer(data[start + first : start + last], STORED[entry["dtype"]])
        tensors[name] = _widen(stored).reshape(entry["shape"])
    return tensors


def _widen(stored: NDArray[np.generic]) -> NDArray[np.float32]:
    """bfloat16 is the upper half of a float32."""
    if stored.dtype == STORED["BF16"]:
        return (stored.astype(np.uint32) << 16).view(np.float32)
    return stored.astype(np.float32)
