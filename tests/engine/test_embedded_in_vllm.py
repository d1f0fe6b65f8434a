"""The shipped checkpoint is a DiffusionGemma like any other: vLLM loads it, and reads what ONNX Runtime reads."""

from dataclasses import replace

from deployments.embedded.card_file import SHIPPED, load_card
from deployments.engines.embedded_engine import EmbeddedEngine
from tests.engine.tiny import TINY_SETTINGS
from tests.engine_contract import difference, hand_made_plan

TOLERANCE = 1e-4  # of a log-probability, in float32; the two sum in another order


async def test_vllm_reads_the_shipped_checkpoint_as_onnx_runtime_does() -> None:
    from deployments.engines.vllm_engine import VllmEngine  # noqa: PLC0415 - importing vLLM warns

    embedded = EmbeddedEngine(SHIPPED, load_card(SHIPPED))
    vllm = VllmEngine(replace(TINY_SETTINGS, checkpoint=SHIPPED, name="embedded"))
    await embedded.start()
    await vllm.start()
    plans = [
        hand_made_plan(embedded.card, seed, prompt_tokens=prompt, width_tokens=width, slots=3, options=4)
        for seed, (prompt, width) in enumerate([(20, 16), (150, 64), (400, 32)])
    ]
    differences = [difference(await embedded.run(plan), await vllm.run(plan)) for plan in plans]
    await vllm.close()
    await embedded.close()
    assert max(differences) <= TOLERANCE
