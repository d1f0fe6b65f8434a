"""A canvas as a body of vLLM's /v1/completions, and the stream that answers it as a read. Knows no transport."""

from typing import Final

from pydantic import BaseModel

from canvas import CanvasPlan, CanvasRead, InvalidRead
from deployments.engines.engine import EngineUnavailable

ID_PREFIX: Final = "token_id:"  # how return_tokens_as_token_ids spells a key


class ServedModel(BaseModel):
    """One entry of /v1/models."""

    id: str
    max_model_len: int


class ServedModels(BaseModel):
    """/v1/models."""

    data: list[ServedModel]


class Logprobs(BaseModel):
    """A row a position: log-probabilities by spelt token id, at least -9999."""

    top_logprobs: list[dict[str, float]]


class Choice(BaseModel):
    """What a chunk carries: rows, an end, or both."""

    logprobs: Logprobs | None = None
    finish_reason: str | None = None


class Chunk(BaseModel):
    """One `data:` line of the stream."""

    choices: list[Choice]


def completion_body(plan: CanvasPlan, model: str) -> dict[str, object]:
    """One denoise step over the seeded canvas, streamed, with the log-probabilities of the label ids."""
    return {
        "model": model,
        "prompt": list(plan.prompt_ids),
        # All rows: only the last one proves that the canvas was whole (vllm_engine says how it was measured).
        "max_tokens": plan.width_tokens,
        "temperature": 1.0,
        "stream": True,
        "logprobs": 1,  # must be set; with logprob_token_ids exactly those come back, beside each row's argmax
        "logprob_token_ids": list(plan.token_ids),
        "return_tokens_as_token_ids": True,
        "vllm_xargs": {
            "diffusion_seed_canvas": list(plan.canvas_ids),
            "diffusion_canvas_length": plan.width_tokens,
            "diffusion_max_steps": 1,
            "diffusion_read_only": 1,
        },
    }


def whole_read(plan: CanvasPlan, choices: list[Choice]) -> CanvasRead:
    """The slots' log-probabilities of a read that came as one chunk of as many rows as the canvas has.

    Raises InvalidRead; EngineUnavailable when the server aborted the read.
    """
    if any(choice.finish_reason == "abort" for choice in choices):
        raise EngineUnavailable("the server aborted the read")
    rows = [choice.logprobs.top_logprobs for choice in choices if choice.logprobs and choice.logprobs.top_logprobs]
    if len(rows) > 1:
        raise InvalidRead(f"the canvas of {plan.width_tokens} tokens was cut: its rows came in {len(rows)} chunks")
    returned = rows[0] if rows else []
    if len(returned) != plan.width_tokens:
        raise InvalidRead(f"the server returned {len(returned)} rows, the canvas has {plan.width_tokens}")
    read: list[tuple[float, ...]] = []
    for slot in plan.slots:
        row = returned[slot.position]
        if missing := [token for token in slot.token_ids if f"{ID_PREFIX}{token}" not in row]:
            raise InvalidRead(f"slot at position {slot.position}: no log-probability for ids {missing}")
        read.append(tuple(row[f"{ID_PREFIX}{token}"] for token in slot.token_ids))
    return tuple(read)
