"""One `readgate serve` for all end-to-end tests: Ray Serve, the embedded engine, the shipped policies."""

from collections.abc import Generator

import pytest

from tests.e2e.served import Served, serving


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with serving(tmp_path_factory.mktemp("served")) as running:
        yield running
