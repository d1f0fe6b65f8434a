"""The remote engine keeps the engine contract against a real vLLM server, and says the same as vLLM in process."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from canvas import CanvasPlan, Image, InvalidState
from deployments.engines.engine import Engine, EngineUnavailable
from deployments.engines.remote_engine import RemoteEngine, remote_client
from tests.engine.server import MODEL
from tests.engine_contract import SAME_LOGPROB, EngineContract, difference, hand_made_plan

pytestmark = [pytest.mark.engine, pytest.mark.asyncio(loop_scope="session")]


def _remote(base_url: str, *, model: str = MODEL, canvas_tokens: int = 64) -> RemoteEngine:
    client = remote_client(base_url, timeout_s=120.0)
    return RemoteEngine(client, model=model, revision="tiny-1", vocab_size=2048, canvas_tokens=canvas_tokens)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def engine(base_url: str) -> AsyncIterator[Engine]:
    remote = _remote(base_url)
    await remote.start()
    yield remote
    await remote.close()


@pytest_asyncio.fixture(loop_scope="session")
async def spare_engine(base_url: str) -> AsyncIterator[Engine]:
    remote = _remote(f"{base_url}/v1/")
    await remote.start()
    yield remote
    await remote.close()


class TestRemoteEngine(EngineContract):
    """The contract over HTTP."""


async def test_the_server_and_the_engine_in_process_read_alike(engine: Engine, vllm_engine: Engine) -> None:
    for seed in range(3):
        plan = hand_made_plan(engine.card, seed, slots=3, options=8, width_tokens=64)
        assert difference(await engine.run(plan), await vllm_engine.run(plan)) < SAME_LOGPROB


async def test_the_context_is_the_servers(engine: Engine) -> None:
    assert engine.card.context_tokens == 1024


async def test_images_are_refused_because_they_do_not_go_by_token_ids(engine: Engine) -> None:
    plan = hand_made_plan(engine.card, 1)
    seen = CanvasPlan(
        plan.prompt_ids, plan.canvas_ids, plan.slots, plan.state_digest, images=(Image("image/png", b""),)
    )
    assert not engine.card.takes_images
    with pytest.raises(InvalidState, match="takes none"):
        await engine.run(seen)


async def test_a_model_that_is_not_served_does_not_start_and_is_named(base_url: str) -> None:
    remote = _remote(base_url, model="another")
    with pytest.raises(EngineUnavailable, match="another"):
        await remote.start()
    await remote.close()


async def test_a_wider_canvas_than_the_server_serves_does_not_start(base_url: str) -> None:
    remote = _remote(base_url, canvas_tokens=128)
    with pytest.raises(EngineUnavailable, match="canvases of 128"):
        await remote.start()
    await remote.close()


async def test_the_server_goes_on_after_a_client_that_left_in_the_middle(base_url: str, engine: Engine) -> None:
    plan = hand_made_plan(engine.card, 2)
    before = await engine.run(plan)
    async with httpx.AsyncClient(base_url=base_url) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.post(
                "/v1/completions", json={"model": MODEL, "prompt": [700] * 500, "max_tokens": 256}, timeout=0.05
            )
    assert difference(before, await engine.run(plan)) < SAME_LOGPROB
