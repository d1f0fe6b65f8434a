"""The tiny checkpoint that `make engine` writes, and the settings that this suite runs it with. Imports no vLLM."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from deployments.engines.vllm_settings import VllmSettings

TINY: Final = Path(__file__).parents[2] / ".engine" / "tiny"

# A canvas of 64, and no more than two cores can interpret. The timeout is for an interpreter, not for a GPU.
TINY_SETTINGS: Final = VllmSettings(
    checkpoint=TINY,
    name="tiny",
    canvas_tokens=64,
    max_model_len=1024,
    max_num_seqs=16,
    max_num_batched_tokens=1024,
    dtype="float32",
    enforce_eager=True,
    timeout_s=120.0,
)
SINGLE_SETTINGS: Final = replace(TINY_SETTINGS, max_num_seqs=1)
