"""The engine suite runs in the environment of `make engine`; its tests share one running vLLM and one server."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from deployments.assembly import build_engine
from deployments.engines.engine import Engine
from tests.engine.server import vllm_server
from tests.engine.tiny import TINY_CONFIG


def pytest_configure(config: pytest.Config) -> None:
    # Our own code runs with warnings as errors in the main suite; the ones here are vLLM's, torch's and Triton's.
    config.addinivalue_line("filterwarnings", "default")


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def vllm_engine() -> AsyncIterator[Engine]:
    engine = build_engine(TINY_CONFIG.engine, {})
    await engine.start()
    yield engine
    await engine.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def base_url(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """Of a vLLM server of the same checkpoint."""
    async with vllm_server(tmp_path_factory.mktemp("server") / "log") as url:
        yield url
