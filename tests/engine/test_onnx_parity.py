"""ONNX Runtime's reads of a checkpoint are transformers' reads of it, in float32."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import DiffusionGemmaForBlockDiffusion

from canvas import CanvasPlan
from deployments.embedded.card_file import SHIPPED, load_card
from deployments.embedded.export_onnx import export
from deployments.embedded.training.checkpoint import SIZES, new_model, save
from deployments.engines.embedded_engine import EmbeddedEngine
from tests.engine_contract import hand_made_plan

pytestmark = pytest.mark.engine

TOLERANCE = 1e-4  # of a log-probability; measured: below 2e-5


def transformers_reads(checkpoint: Path, plans: list[CanvasPlan]) -> list[list[list[float]]]:
    model = DiffusionGemmaForBlockDiffusion.from_pretrained(checkpoint, dtype=torch.float32).eval()
    reads = []
    for plan in plans:
        prompt = torch.tensor([plan.prompt_ids])
        with torch.no_grad():
            logits = model(
                input_ids=prompt,
                attention_mask=torch.ones_like(prompt),
                decoder_input_ids=torch.tensor([plan.canvas_ids]),
            ).logits[0]
        logprobs = torch.log_softmax(logits, -1)
        reads.append([[float(logprobs[slot.position, token]) for token in slot.token_ids] for slot in plan.slots])
    return reads


async def largest_difference(checkpoint: Path) -> float:
    engine = EmbeddedEngine(checkpoint, load_card(checkpoint))
    await engine.start()
    shapes = [(1, 16, 0), (37, 16, 11), (150, 64, 149), (300, 48, 200), (1500, 32, 1400), (4000, 16, 600)]
    plans = [
        replace(
            hand_made_plan(engine.card, seed, prompt_tokens=prompt, width_tokens=width, slots=5, options=25),
            prefix_tokens=prefix,
        )
        for seed, (prompt, width, prefix) in enumerate(shapes)
    ]
    reads = [await engine.run(plan) for plan in plans]
    await engine.close()
    return max(
        abs(got - want)
        for read, expected in zip(reads, transformers_reads(checkpoint, plans), strict=True)
        for slot, row in zip(read, expected, strict=True)
        for got, want in zip(slot, row, strict=True)
    )


async def test_the_shipped_checkpoint_reads_as_in_transformers() -> None:
    difference = await largest_difference(SHIPPED)
    print(f"shipped checkpoint: largest log-probability difference {difference:.1e}")  # noqa: T201 -- kept in CI's log
    assert difference <= TOLERANCE


@pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")  # torch 2.13's exporter warns about itself
async def test_a_freshly_exported_checkpoint_reads_as_in_transformers(tmp_path: Path) -> None:
    save(new_model(SIZES["toy"], seed=3), SHIPPED / "tokenizer.json", tmp_path)
    export(tmp_path, "toy", "")
    assert await largest_difference(tmp_path) <= TOLERANCE
