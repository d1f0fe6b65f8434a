"""A checkpoint's computed revision follows its weights."""

from pathlib import Path

import pytest

from deployments.engines.weights import weights_revision


def checkpoint(folder: Path, weights: bytes, config: str = "{}") -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(config)
    (folder / "model.safetensors").write_bytes(weights)
    return folder


def test_equal_files_have_equal_revisions_wherever_they_lie(tmp_path: Path) -> None:
    one, other = (checkpoint(tmp_path / name, b"weights") for name in ("one", "other"))
    assert weights_revision(one) == weights_revision(other)
    assert len(weights_revision(one)) == 16


@pytest.mark.parametrize("changed", [b"weights!", b"Weights", b"weightS", b""])
def test_other_weights_have_another_revision(tmp_path: Path, changed: bytes) -> None:
    one, other = checkpoint(tmp_path / "one", b"weights"), checkpoint(tmp_path / "other", changed)
    assert weights_revision(one) != weights_revision(other)


def test_a_large_file_is_sampled_from_its_first_to_its_last_byte(tmp_path: Path) -> None:
    size = 3 * 1024 * 1024
    plain = bytes(size)
    for number, position in enumerate((0, size - 1)):
        touched = bytearray(plain)
        touched[position] = 1
        one = checkpoint(tmp_path / f"one{number}", plain)
        other = checkpoint(tmp_path / f"other{number}", bytes(touched))
        assert weights_revision(one) != weights_revision(other)


def test_another_configuration_is_another_revision(tmp_path: Path) -> None:
    one = checkpoint(tmp_path / "one", b"weights")
    other = checkpoint(tmp_path / "other", b"weights", config='{"layers": 2}')
    assert weights_revision(one) != weights_revision(other)


def test_a_folder_without_weights_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="safetensors"):
        weights_revision(tmp_path)
