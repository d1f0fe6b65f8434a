"""The proxy's own pool: where prompts and keys go is said by the settings alone."""

import pytest

from deployments.assembly_guard import build_upstreams
from deployments.settings import ModelSettings
from guards.upstream import UpstreamRequest
from tests.guards.fakes import FakeUpstream, serving


async def test_an_upstream_is_asked_directly_whatever_proxy_the_environment_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")  # nothing listens there
    fake = FakeUpstream()
    async with serving(fake.app) as url:
        upstreams = build_upstreams({"gpt": ModelSettings(upstream=f"{url}/v1")}, {})
        request = UpstreamRequest(b"{}", {}, stream=False, headers={})
        async with upstreams.by_name["gpt"].send(request) as reply:
            assert reply.status == 200
        await upstreams.close()
