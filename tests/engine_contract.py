"""What every engine promises, as tests: subclass EngineContract and give it the fixtures `engine` and `spare_engine`.

`engine` is started and shared; `spare_engine` is started too, and the test closes it.
"""

import asyncio
import math
import random

import pytest

from canvas import CanvasPlan, CanvasRead, InvalidState, ModelCard, Slot
from deployments.engines.engine import Engine, EngineUnavailable

# Twice float32's rounding of a log-softmax whose sums were taken in another batch order (measured: 1e-6).
SAME_LOGPROB = 2e-5


def hand_made_plan(
    card: ModelCard, seed: int, *, prompt_tokens: int = 40, width_tokens: int = 16, slots: int = 1, options: int = 2
) -> CanvasPlan:
    """A plan of random ids: the contract is about engines, not about templates."""
    rng = random.Random(seed)  # noqa: S311 - a seeded plan, not a secret
    first = min(600, card.vocab_size // 2)  # above the special and byte tokens of a Gemma vocabulary
    last = card.vocab_size - 16  # below its image and audio tokens
    canvas_ids = [rng.randrange(first, last) for _ in range(width_tokens)]
    positions = sorted(rng.sample(range(width_tokens - 1), slots))
    return CanvasPlan(
        prompt_ids=tuple(rng.randrange(first, last) for _ in range(prompt_tokens)),
        canvas_ids=tuple(canvas_ids),
        slots=tuple(
            Slot(position, tuple((token,) for token in rng.sample(range(first, last), options)))
            for position in positions
        ),
        state_digest=seed.to_bytes(16, "big"),
    )


def difference(left: CanvasRead, right: CanvasRead) -> float:
    """Largest difference of two reads of one plan."""
    assert [len(slot) for slot in left] == [len(slot) for slot in right]
    return max(abs(a - b) for one, other in zip(left, right, strict=True) for a, b in zip(one, other, strict=True))


class EngineContract:
    """Inherit as `class TestX(EngineContract)`, beside the two fixtures."""

    def plan(self, card: ModelCard, seed: int, **shape: int) -> CanvasPlan:
        """Override where random ids are no prompt."""
        return hand_made_plan(card, seed, **shape)

    async def test_a_read_has_a_logprob_for_every_label_id_of_every_slot(self, engine: Engine) -> None:
        plan = self.plan(engine.card, 1, slots=3, options=4)
        read = await engine.run(plan)
        assert [len(slot) for slot in read] == [4, 4, 4]
        assert all(logprob <= 0 for slot in read for logprob in slot)
        assert all(0 < sum(math.exp(logprob) for logprob in slot) <= 1 for slot in read)

    async def test_two_ids_of_one_option_are_read_apart(self, engine: Engine) -> None:
        plan = self.plan(engine.card, 2)
        (slot,) = plan.slots
        (yes,), (no,) = slot.label_ids
        both = CanvasPlan(plan.prompt_ids, plan.canvas_ids, (Slot(slot.position, ((yes, no),)),), plan.state_digest)
        assert [len(one) for one in await engine.run(both)] == [2]

    async def test_equal_plans_give_equal_reads(self, engine: Engine) -> None:
        plan = self.plan(engine.card, 3, slots=2)
        assert difference(await engine.run(plan), await engine.run(plan)) < SAME_LOGPROB

    async def test_another_prompt_gives_another_read(self, engine: Engine) -> None:
        one, other = self.plan(engine.card, 4), self.plan(engine.card, 5)
        moved = CanvasPlan(other.prompt_ids, one.canvas_ids, one.slots, other.state_digest)
        assert difference(await engine.run(one), await engine.run(moved)) > SAME_LOGPROB

    async def test_other_noise_gives_another_read(self, engine: Engine) -> None:
        plan = self.plan(engine.card, 6)
        position = plan.slots[0].position
        canvas_ids = list(plan.canvas_ids)
        canvas_ids[position] = canvas_ids[position] + 1
        noisy = CanvasPlan(plan.prompt_ids, tuple(canvas_ids), plan.slots, plan.state_digest)
        assert difference(await engine.run(plan), await engine.run(noisy)) > 0

    async def test_canvases_of_different_widths_run_at_once(self, engine: Engine) -> None:
        widths = [width for width in (16, 32, 48, 64) if width <= engine.card.canvas_tokens]
        plans = [self.plan(engine.card, 10 + width, width_tokens=width, slots=2) for width in widths]
        alone = [await engine.run(plan) for plan in plans]
        together = await asyncio.gather(*(engine.run(plan) for plan in plans))
        assert max(map(difference, alone, together)) < SAME_LOGPROB

    async def test_sixteen_at_once_are_what_they_are_one_by_one(self, engine: Engine) -> None:
        plans = [self.plan(engine.card, 100 + seed, prompt_tokens=20 + 7 * seed) for seed in range(16)]
        together = await asyncio.gather(*(engine.run(plan) for plan in plans))
        alone = [await engine.run(plan) for plan in plans]
        assert max(map(difference, alone, together)) < SAME_LOGPROB

    async def test_cancelled_reads_leave_the_engine_free_and_right(self, engine: Engine) -> None:
        plan = self.plan(engine.card, 7)
        before = await engine.run(plan)
        doomed = [asyncio.create_task(engine.run(self.plan(engine.card, 200 + seed))) for seed in range(12)]
        await asyncio.sleep(0.02)  # far below one read of the slowest engine: they are queued or running
        for task in doomed:
            task.cancel()
        outcomes = await asyncio.gather(*doomed, return_exceptions=True)
        assert all(isinstance(outcome, asyncio.CancelledError | tuple) for outcome in outcomes)
        assert difference(before, await engine.run(plan)) < SAME_LOGPROB

    async def test_the_longest_plan_that_fits_is_read_and_one_token_more_is_refused(self, engine: Engine) -> None:
        room = engine.card.context_tokens - 16
        longest = self.plan(engine.card, 8, prompt_tokens=room)
        assert len(await engine.run(longest)) == 1
        with pytest.raises(InvalidState, match=str(engine.card.context_tokens)):
            await engine.run(self.plan(engine.card, 9, prompt_tokens=room + 1))

    async def test_a_canvas_wider_than_served_is_refused_with_the_limit(self, engine: Engine) -> None:
        width_tokens = engine.card.canvas_tokens + 16
        with pytest.raises(InvalidState, match=str(engine.card.canvas_tokens)):
            await engine.run(self.plan(engine.card, 11, width_tokens=width_tokens))

    async def test_as_many_label_ids_as_the_card_allows_are_read(self, engine: Engine) -> None:
        most = engine.card.max_label_ids
        (slot,) = await engine.run(self.plan(engine.card, 14, options=most))
        assert len(slot) == most

    async def test_more_label_ids_than_the_engine_returns_are_refused_with_the_limit(self, engine: Engine) -> None:
        with pytest.raises(InvalidState, match=str(engine.card.max_label_ids)):
            await engine.run(self.plan(engine.card, 12, options=engine.card.max_label_ids + 1))

    async def test_a_running_engine_is_healthy(self, engine: Engine) -> None:
        await engine.check_health()

    async def test_a_closed_engine_refuses_reads_and_says_that_it_is_ill(self, spare_engine: Engine) -> None:
        plan = self.plan(spare_engine.card, 13)
        assert len(await spare_engine.run(plan)) == 1
        await spare_engine.close()
        await spare_engine.close()  # twice is allowed
        with pytest.raises(EngineUnavailable):
            await spare_engine.run(plan)
        with pytest.raises(EngineUnavailable):
            await spare_engine.check_health()
