"""vLLM keeps the engine contract."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from deployments.engines.engine import Engine
from deployments.engines.vllm_engine import VllmEngine
from tests.engine.tiny import SINGLE_SETTINGS
from tests.engine_contract import EngineContract

pytestmark = [pytest.mark.engine, pytest.mark.asyncio(loop_scope="session")]


@pytest.fixture
def engine(vllm_engine: Engine) -> Engine:
    return vllm_engine


@pytest_asyncio.fixture(loop_scope="session")
async def spare_engine() -> AsyncIterator[Engine]:
    spare = VllmEngine(SINGLE_SETTINGS)
    await spare.start()
    yield spare
    await spare.close()


class TestVllmEngine(EngineContract):
    """The contract on the real scheduler, runner, sampler and attention."""
