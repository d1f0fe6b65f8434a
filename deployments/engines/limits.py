"""What a card allows of a plan, and what a plan demands of a read. Pure; every engine asks here, before and after."""

import math
from typing import Final

from canvas import CanvasPlan, CanvasRead, InvalidRead, InvalidState, ModelCard

LOGPROB_TOLERANCE: Final = 1e-3
"""How far above 0 a log-probability may round: bfloat16 logits carry 8 bits, float32 log-softmax far more."""


def check_plan(plan: CanvasPlan, card: ModelCard) -> None:
    """A plan that passes fits the model. Raises InvalidState that names the limit.

    vLLM answers a prompt and canvas above its length with status 200 and fewer rows (measured on 0.32), so the
    lengths are checked before anything is sent.
    """
    prompt_tokens, width_tokens = len(plan.prompt_ids), plan.width_tokens
    if not prompt_tokens:
        raise InvalidState("the prompt is empty, an engine needs at least 1 token")
    if width_tokens > card.canvas_tokens:
        raise InvalidState(f"the canvas has {width_tokens} tokens, {card.name} serves at most {card.canvas_tokens}")
    if prompt_tokens + width_tokens > card.context_tokens:
        raise InvalidState(
            f"{prompt_tokens} prompt tokens and a canvas of {width_tokens} make {prompt_tokens + width_tokens}, "
            f"{card.name} takes at most {card.context_tokens}"
        )
    if not plan.slots or plan.rows > width_tokens:
        raise InvalidState(f"the slots must lie on the canvas of {width_tokens} tokens and be at least 1")
    if len(plan.token_ids) > card.max_label_ids:
        raise InvalidState(
            f"the canvas reads {len(plan.token_ids)} label ids, {card.name} returns at most {card.max_label_ids}"
        )
    if plan.images and not card.takes_images:
        raise InvalidState(f"the state holds {len(plan.images)} images, {card.name} takes none over this engine")
    largest = max(*plan.prompt_ids, *plan.canvas_ids, plan.token_ids[-1])
    if largest >= card.vocab_size:
        raise InvalidState(f"token id {largest} is outside the vocabulary of {card.name} ({card.vocab_size} ids)")


def check_read(plan: CanvasPlan, read: CanvasRead) -> CanvasRead:
    """The read itself, when it has one log-probability a label id of every slot. Raises InvalidRead otherwise."""
    if len(read) != len(plan.slots):
        raise InvalidRead(f"the engine returned {len(read)} slots, the plan has {len(plan.slots)}")
    for slot, logprobs in zip(plan.slots, read, strict=True):
        if len(logprobs) != len(slot.token_ids):
            raise InvalidRead(
                f"slot at position {slot.position}: {len(logprobs)} log-probabilities for {len(slot.token_ids)} ids"
            )
        for logprob in logprobs:
            if math.isnan(logprob) or logprob > LOGPROB_TOLERANCE:
                raise InvalidRead(f"slot at position {slot.position}: {logprob} is no log-probability")
    return read
