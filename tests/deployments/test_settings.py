"""An engine section of the file gives the engine's own settings, and is refused at the setting that is wrong."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from deployments.config import ConfigError, load_config
from deployments.engines.vllm_settings import VllmSettings
from deployments.settings import RemoteEngineSettings, VllmEngineSettings

FILE = """\
applications:
  - name: readgate
    import_path: deployments.app:build
    args:
      engine:
        kind: vllm
        checkpoint: checkpoint
        {wrong}
"""
REMOTE: dict[str, Any] = {"kind": "remote", "base_url": "http://x", "model": "m", "checkpoint": "c", "revision": "r"}


def test_every_setting_of_the_vllm_engine_can_be_given_in_the_file() -> None:
    assert set(VllmEngineSettings.model_fields) - {"kind"} == {field.name for field in fields(VllmSettings)}


def test_what_the_file_does_not_say_is_the_engines_default() -> None:
    given = VllmEngineSettings(kind="vllm", checkpoint="c", name="n").built()
    assert given == VllmSettings(checkpoint=Path("c"), name="n")


def test_what_the_file_says_reaches_the_engine() -> None:
    said: dict[str, Any] = {
        "name": "n",
        "revision": "r",
        "canvas_tokens": 32,
        "max_model_len": 4096,
        "max_num_seqs": 8,
        "max_num_batched_tokens": 512,
        "max_images": 0,
        "dtype": "bfloat16",
        "quantization": "fp8",
        "tensor_parallel_size": 2,
        "gpu_memory_utilization": 0.5,
        "enforce_eager": True,
        "batch_invariant": True,
        "timeout_s": 5.0,
        "engine_arguments": {"kv_cache_dtype": "fp8"},
    }
    built = VllmEngineSettings.model_validate({"kind": "vllm", "checkpoint": "c", **said}).built()
    assert built == VllmSettings(checkpoint=Path("c"), **said)


WRONG = [
    ("max_num_seqs: 128", "engine.max_num_seqs: max_num_seqs must be 1 to 127, got 128"),
    ("max_num_batched_tokens: 64", "max_num_seqs * canvas_tokens = 4096, got 64"),
    ("canvas_tokens: 40", "engine.canvas_tokens: canvas_tokens must be a positive multiple of 16, got 40"),
    ("max_model_len: 64", "engine.max_model_len: max_model_len must be above canvas_tokens = 64, got 64"),
    ("max_images: -1", "engine.max_images: Input should be greater than or equal to 0"),
    ("batch_invariant: 1", "engine.batch_invariant: Input should be a valid boolean"),
    ("engine_arguments: {stream_interval: 8}", "engine argument 'stream_interval' is Readgate's own"),
    ("engine_arguments: {max_num_seqs: 8}", "engine argument 'max_num_seqs' may not be passed through"),
    ("max_image: 1", "did you mean 'max_images'?"),
]


@pytest.mark.parametrize(("wrong", "reason"), WRONG, ids=[wrong for wrong, _ in WRONG])
def test_an_unsafe_setting_is_named_at_its_own_line(wrong: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "serve.yaml"
    path.write_text(FILE.format(wrong=wrong))
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert reason in caught.value.reason
    assert path.read_text().splitlines()[caught.value.line - 1].strip() == wrong


def test_a_default_that_another_setting_made_unsafe_is_named_at_the_section(tmp_path: Path) -> None:
    path = tmp_path / "serve.yaml"
    path.write_text(FILE.format(wrong="canvas_tokens: 256"))
    with pytest.raises(ConfigError, match=r"max_num_seqs \* canvas_tokens = 16384, got 8192") as caught:
        load_config(path)
    assert path.read_text().splitlines()[caught.value.line - 1].strip() == "engine:"


@pytest.mark.parametrize("width", [0, 8, 40])
def test_a_remote_canvas_is_a_multiple_of_sixteen_too(width: int) -> None:
    with pytest.raises(ValidationError, match=f"multiple of 16, got {width}"):
        RemoteEngineSettings.model_validate({**REMOTE, "canvas_tokens": width})
