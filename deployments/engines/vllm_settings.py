"""What a vLLM engine is told, safe by construction: unsafe values cannot be built. Pure; knows nothing of vLLM.

The numbers of these rules were measured on vLLM 0.32 (CPU) and 0.33 (H200); the scheduler is the same in both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from canvas.plan import WIDTH_STEP_TOKENS

MAX_SEQS: Final = 127
"""From 128 on vLLM takes max_num_seqs for its own default and serves DiffusionGemma with 8."""

EngineArgument = bool | int | float | str | None

MANAGED_ARGUMENTS: Final = frozenset(
    {
        "diffusion_config",
        "dtype",
        "enforce_eager",
        "gpu_memory_utilization",
        "limit_mm_per_prompt",
        "max_model_len",
        "max_num_batched_tokens",
        "max_num_seqs",
        "model",
        "quantization",
        "served_model_name",
        "tensor_parallel_size",
        "trust_remote_code",
    }
)
"""Engine arguments that have a setting here, or that nobody may set."""

UNSAFE_ARGUMENTS: Final = {
    "disable_log_stats": "the engine's own times show a canvas that was cut",
    "long_prefill_token_threshold": "a limit on prefills cuts canvases: it must stay 0",
    "long_prefill_token_threshold_adaptive": "a limit on prefills cuts canvases",
    "logprobs_mode": "reads are raw log-probabilities at temperature 1",
    "max_logprobs": "reads need 128 ids",
    "max_num_scheduled_tokens": "a step smaller than max_num_batched_tokens cuts canvases",
    "scheduler_cls": "canvas widths are the diffusion scheduler's",
    "skip_tokenizer_init": "the vision tower's processor needs the tokenizer",
    "speculative_config": "a canvas travels on the speculative path",
    "stream_interval": "a read must arrive as it was made, in one piece",
}
"""Engine arguments that make reads wrong without an error, or hide that they are; with the reason."""


class UnsafeEngineSettings(ValueError):
    """These settings would start an engine whose reads can be wrong; names the setting and the limit.

    `setting` is the one to change, or empty when it is none of ours.
    """

    def __init__(self, reason: str, setting: str = "") -> None:
        super().__init__(reason)
        self.setting = setting


def check_canvas_tokens(canvas_tokens: int) -> int:
    """The width itself. Raises UnsafeEngineSettings for one that no canvas can have."""
    if canvas_tokens < WIDTH_STEP_TOKENS or canvas_tokens % WIDTH_STEP_TOKENS:
        raise UnsafeEngineSettings(
            f"canvas_tokens must be a positive multiple of {WIDTH_STEP_TOKENS}, got {canvas_tokens}", "canvas_tokens"
        )
    return canvas_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class VllmSettings:
    """`checkpoint` is a folder; `revision` names its weights, or is empty to have it computed from them.

    `max_model_len` bounds prompt plus canvas. Inside the denoise step vLLM applies the model's sliding window (1,024
    tokens on the real one), transformers does not: beyond it the two differ. `max_num_seqs` 32 to 96 at canvas 64
    suits a GPU of 141 GB (each sequence takes canvas x vocabulary in float32: 67 MB). `batch_invariant` makes
    repeats equal to the byte under load, for about 26 ms at the median in one public measurement.
    """

    checkpoint: Path
    name: str
    revision: str = ""
    canvas_tokens: int = 64
    max_model_len: int = 32_768
    max_num_seqs: int = 64
    max_num_batched_tokens: int = 8_192
    max_images: int = 4
    dtype: str = "auto"
    quantization: str | None = None
    tensor_parallel_size: int = 1
    gpu_memory_utilization: float = 0.9
    enforce_eager: bool = False
    batch_invariant: bool = False
    timeout_s: float = 8.0
    engine_arguments: Mapping[str, EngineArgument] = field(default_factory=dict[str, EngineArgument])

    def __post_init__(self) -> None:
        """Raises UnsafeEngineSettings."""
        check_canvas_tokens(self.canvas_tokens)
        if not 1 <= self.max_num_seqs <= MAX_SEQS:
            raise UnsafeEngineSettings(
                f"max_num_seqs must be 1 to {MAX_SEQS}, got {self.max_num_seqs}: vLLM serves more as 8", "max_num_seqs"
            )
        needed = self.max_num_seqs * self.canvas_tokens
        if self.max_num_batched_tokens < needed:
            raise UnsafeEngineSettings(
                f"max_num_batched_tokens must be at least max_num_seqs * canvas_tokens = {needed}, got "
                f"{self.max_num_batched_tokens}: below it vLLM cuts canvases and returns wrong numbers without an "
                "error",
                "max_num_batched_tokens",
            )
        if self.max_model_len <= self.canvas_tokens:
            raise UnsafeEngineSettings(
                f"max_model_len must be above canvas_tokens = {self.canvas_tokens}, got {self.max_model_len}",
                "max_model_len",
            )
        for argument in self.engine_arguments:
            if argument in MANAGED_ARGUMENTS:
                raise UnsafeEngineSettings(
                    f"engine argument {argument!r} may not be passed through", "engine_arguments"
                )
            if argument in UNSAFE_ARGUMENTS:
                raise UnsafeEngineSettings(
                    f"engine argument {argument!r} is Readgate's own: {UNSAFE_ARGUMENTS[argument]}", "engine_arguments"
                )
