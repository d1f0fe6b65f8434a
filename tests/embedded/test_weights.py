"""A safetensors file is read into float32 exactly, and what cannot be read is named."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.embedded.weights import read_weights


def write(path: Path, dtype: str, data: bytes, shape: list[int]) -> Path:
    header = json.dumps({"w": {"dtype": dtype, "shape": shape, "data_offsets": [0, len(data)]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + data)
    return path


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=8))
def test_bfloat16_is_widened_to_the_float_it_is_the_upper_half_of(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[float]
) -> None:
    bits = np.asarray(numbers, np.float32).view(np.uint32)
    upper = (bits >> 16).astype("<u2")
    path = write(tmp_path_factory.mktemp("w") / "w.safetensors", "BF16", upper.tobytes(), [len(numbers)])
    expected = ((bits >> 16) << 16).view(np.float32)
    assert np.array_equal(read_weights(path, ["w"])["w"], expected)


def test_float32_and_float16_keep_their_values_and_shape(tmp_path: Path) -> None:
    for dtype, name in ((np.float32, "F32"), (np.float16, "F16")):
        array = np.arange(6, dtype=dtype).reshape(2, 3)
        found = read_weights(write(tmp_path / name, name, array.tobytes(), [2, 3]), ["w"])["w"]
        assert found.dtype == np.float32
        assert np.array_equal(found, array)


def test_a_missing_tensor_and_an_unknown_type_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "w", "I64", b"\0" * 8, [1])
    with pytest.raises(ValueError, match="no tensor other"):
        read_weights(path, ["other"])
    with pytest.raises(ValueError, match="w is I64"):
        read_weights(path, ["w"])
