"""Reads that nobody asked for, so that the first real one is fast. Knows only the engine protocol."""

import asyncio

from canvas import CanvasPlan, Slot
from canvas.plan import WIDTH_STEP_TOKENS
from deployments.engines.engine import Engine

PROMPT_TOKENS = 32  # short: prefill kernels are tuned while the engine loads


async def warm_up(engine: Engine, *, concurrent: int) -> None:
    """One read of every width alone, then `concurrent` of the widest at once; raises what the first of them raised.

    The second part is also a proof: an engine whose steps cannot hold that many canvases cuts one of them here.
    """
    widest = engine.card.canvas_tokens
    for width_tokens in range(WIDTH_STEP_TOKENS, widest + 1, WIDTH_STEP_TOKENS):
        await engine.run(_plan(engine, width_tokens, number=0))
    together = (engine.run(_plan(engine, widest, number)) for number in range(concurrent))
    for outcome in await asyncio.gather(*together, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


def _plan(engine: Engine, width_tokens: int, number: int) -> CanvasPlan:
    """Arbitrary ids of the vocabulary's upper half; `number` keeps prompts apart, so that each is prefilled."""
    base = engine.card.vocab_size // 2
    prompt_tokens = min(PROMPT_TOKENS, engine.card.context_tokens - width_tokens)
    prompt_ids = (base + number, *range(base, base + prompt_tokens - 1))
    slot = Slot(0, ((base,), (base + 1,)))
    return CanvasPlan(prompt_ids, (base,) * width_tokens, (slot,), state_digest=bytes(16))
