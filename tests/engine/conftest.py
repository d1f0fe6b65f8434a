"""The engine suite runs in the environment of `make engine`; its tests share one running vLLM."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from deployments.engines.engine import Engine
from tests.engine.tiny import TINY_SETTINGS


def pytest_configure(config: pytest.Config) -> None:
    # Our own code runs with warnings as errors in the main suite; the ones here are vLLM's, torch's and Triton's.
    config.addinivalue_line("filterwarnings", "default")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def vllm_engine() -> AsyncIterator[Engine]:
    from deployments.engines.vllm_engine import VllmEngine  # noqa: PLC0415 - after the filter: importing vLLM warns

    engine = VllmEngine(TINY_SETTINGS)
    await engine.start()
    yield engine
    await engine.close()
