"""Settings that would make vLLM return wrong numbers cannot be built."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.engines.vllm_settings import UNSAFE_ARGUMENTS, EngineArgument, UnsafeEngineSettings, VllmSettings


def settings(
    *,
    canvas_tokens: int = 64,
    max_model_len: int = 4096,
    max_num_seqs: int = 64,
    max_num_batched_tokens: int = 8192,
    engine_arguments: dict[str, EngineArgument] | None = None,
) -> VllmSettings:
    return VllmSettings(
        checkpoint=Path("checkpoint"),
        name="model",
        canvas_tokens=canvas_tokens,
        max_model_len=max_model_len,
        max_num_seqs=max_num_seqs,
        max_num_batched_tokens=max_num_batched_tokens,
        engine_arguments=engine_arguments or {},
    )


def test_the_defaults_are_safe() -> None:
    assert VllmSettings(checkpoint=Path("checkpoint"), name="model").max_num_seqs == 64


@given(st.integers(1, 127), st.integers(1, 16))
def test_a_step_holds_a_canvas_for_every_sequence_or_the_product_is_named(seqs: int, sixteens: int) -> None:
    width = 16 * sixteens
    assert settings(max_num_seqs=seqs, canvas_tokens=width, max_num_batched_tokens=seqs * width)
    with pytest.raises(UnsafeEngineSettings, match=rf"max_num_seqs \* canvas_tokens = {seqs * width}, got"):
        settings(max_num_seqs=seqs, canvas_tokens=width, max_num_batched_tokens=seqs * width - 1)


@pytest.mark.parametrize("seqs", [0, 128, 1024])
def test_a_number_of_sequences_that_vllm_would_change_is_refused(seqs: int) -> None:
    with pytest.raises(UnsafeEngineSettings, match=f"1 to 127, got {seqs}"):
        settings(max_num_seqs=seqs, max_num_batched_tokens=1_000_000)


@pytest.mark.parametrize("width", [0, 8, 40])
def test_a_canvas_is_a_multiple_of_sixteen(width: int) -> None:
    with pytest.raises(UnsafeEngineSettings, match=f"multiple of 16, got {width}"):
        settings(canvas_tokens=width)


def test_a_context_without_room_for_a_prompt_is_refused() -> None:
    with pytest.raises(UnsafeEngineSettings, match="above canvas_tokens = 64, got 64"):
        settings(max_model_len=64)


@pytest.mark.parametrize("name", [*UNSAFE_ARGUMENTS, "model", "max_num_seqs", "diffusion_config"])
def test_an_argument_that_has_a_setting_or_makes_reads_wrong_may_not_be_passed_through(name: str) -> None:
    with pytest.raises(UnsafeEngineSettings, match=name):
        settings(engine_arguments={name: 1})


def test_other_arguments_pass() -> None:
    assert settings(engine_arguments={"kv_cache_dtype": "fp8"}).engine_arguments == {"kv_cache_dtype": "fp8"}
