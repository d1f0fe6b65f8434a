"""A deterministic engine without a model, for tests and demonstrations: its answers are a script's, or a hash's."""

import asyncio
import hashlib
import math
import struct
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Final

from canvas import CanvasPlan, CanvasRead, InvalidRead, ModelCard, Slot
from deployments.engines.engine import EngineUnavailable
from deployments.engines.limits import check_plan, check_read
from guards.reader import ReadFailed

Script = Callable[[CanvasPlan], Sequence[Sequence[float]]]
"""Per slot, a full-vocabulary probability for every option; what a slot's sum leaves to 1 lies off its labels."""

HASHED_LABEL_MASS: Final = 0.9  # any value in (0, 1): decoding must cope with mass off the labels

SCRIPTED_CARD: Final = ModelCard(
    name="scripted", revision="1", vocab_size=262_144, canvas_tokens=256, context_tokens=32_768, takes_images=True
)


class ScriptedEngine:
    """Waits `latency_s`, then answers by the script; at most `seats` reads at once, others queue.

    `failure`, while set, is raised by every read and health check, after the latency. `started_runs`,
    `finished_runs` and `cancelled_runs` count for tests; their difference is what is in flight.
    """

    def __init__(
        self,
        card: ModelCard = SCRIPTED_CARD,
        script: Script | None = None,
        *,
        latency_s: float = 0.0,
        seats: int | None = None,
    ) -> None:
        self._card = card
        self._script = script or hashed_probabilities
        self._seats = asyncio.Semaphore(seats) if seats is not None else nullcontext()
        self._running = False
        self.latency_s = latency_s
        self.failure: ReadFailed | InvalidRead | None = None
        self.started_runs = 0
        self.finished_runs = 0
        self.cancelled_runs = 0

    @property
    def card(self) -> ModelCard:
        return self._card

    async def start(self) -> None:
        self._running = True

    async def run(self, plan: CanvasPlan) -> CanvasRead:
        self._check_running()
        check_plan(plan, self._card)
        self.started_runs += 1
        try:
            async with self._seats:
                await asyncio.sleep(self.latency_s)
        except asyncio.CancelledError:
            self.cancelled_runs += 1
            raise
        self.finished_runs += 1
        self._check_running()
        if self.failure is not None:
            raise self.failure
        return check_read(plan, _read(plan, self._script(plan)))

    async def check_health(self) -> None:
        self._check_running()
        if isinstance(self.failure, ReadFailed):
            raise EngineUnavailable(str(self.failure)) from self.failure

    async def close(self) -> None:
        self._running = False

    def _check_running(self) -> None:
        if not self._running:
            raise EngineUnavailable("the scripted engine is not running: start it first")


def hashed_probabilities(plan: CanvasPlan) -> tuple[tuple[float, ...], ...]:
    """Probabilities that look like a model's: equal for equal plans, different when any token or slot changes."""
    ids = (*plan.prompt_ids, *plan.canvas_ids)
    seed = hashlib.blake2b(struct.pack(f"<{len(ids)}I", *ids))
    for image in plan.images:
        seed.update(hashlib.blake2b(image.data).digest())
    return tuple(_hashed_slot(slot, seed.digest()) for slot in plan.slots)


def _hashed_slot(slot: Slot, seed: bytes) -> tuple[float, ...]:
    weights: list[float] = []
    for group in slot.label_ids:
        name = struct.pack(f"<{len(group) + 1}I", slot.position, *group)
        (word,) = struct.unpack("<I", hashlib.blake2b(name, digest_size=4, key=seed).digest())
        weights.append(math.exp(4 * word / 2**32))  # logits over a range of 4: neither flat nor certain
    total = sum(weights)
    return tuple(HASHED_LABEL_MASS * weight / total for weight in weights)


def _read(plan: CanvasPlan, script: Sequence[Sequence[float]]) -> CanvasRead:
    """An option's probability, shared equally by its label ids, as natural logarithms."""
    return tuple(
        tuple(
            -math.inf if prob == 0 else math.log(prob / len(group))
            for prob, group in zip(probs, slot.label_ids, strict=True)
            for _ in group
        )
        for slot, probs in zip(plan.slots, script, strict=True)
    )
