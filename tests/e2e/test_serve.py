"""`readgate serve` as a newcomer starts it: a real Ray, the embedded engine, the demo upstream; Ctrl-C ends it."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.e2e.served import READGATE, Served, serving

pytestmark = pytest.mark.slow


def test_it_says_what_to_try_and_each_command_works(served: Served) -> None:
    bodies = [line for line in served.lines if " -d '" in line]
    assert len(bodies) == 3
    statuses: list[int] = []
    for line in bodies:
        found = re.search(r"(http://\S+) -d '(.*)'", line)
        assert found
        reply = httpx.post(found[1], json=json.loads(found[2]), timeout=30)
        statuses.append(reply.status_code)
        assert reply.headers["x-typesafe-request-id"] == reply.headers["x-request-id"]
    assert statuses == [200, 200, 400]


def test_the_block_names_its_check(served: Served) -> None:
    chat = {"model": "demo", "messages": [{"role": "user", "content": "Tell me about PROJECT-ABCD1234"}]}
    error = httpx.post(f"{served.url}/v1/chat/completions", json=chat, timeout=30).json()["error"]
    assert error["code"] == "content_policy"
    assert [check["id"] for check in error["readgate"]["checks"]] == ["codename"]


def test_it_is_ready_and_names_its_engine_cache_and_policies(served: Served) -> None:
    ready = httpx.get(f"{served.url}/readyz", timeout=10).json()
    assert (ready["ready"], ready["engine"], ready["cache"]) == (True, "embedded", "memory")
    assert ready["policies"] == ["default"]


def test_unknown_routes_have_one_request_id_and_the_dialects_shape(served: Served) -> None:
    reply = httpx.get(f"{served.url}/nope", headers={"x-request-id": "mine"}, timeout=10)
    assert reply.status_code == 404
    assert reply.headers.get_list("x-request-id") == ["mine"]
    assert reply.json()["detail"]["error_type"] == "not_found"


def test_a_second_server_on_the_port_fails_with_the_reason(served: Served) -> None:
    command = [*READGATE, "serve", "--config", str(served.config)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - our own command
    assert done.returncode == 1
    assert "cannot listen on 127.0.0.1:" in done.stderr
    assert "Address already in use" in done.stderr


def test_jevcompat_finds_every_must_and_should_on_the_embedded_engine(served: Served) -> None:
    command = [str(Path(sys.executable).parent / "jevcompat"), "test", served.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603 - a fixed tool
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_client_that_leaves_takes_its_read_with_it(served: Served) -> None:
    question = {"type": "choice", "instructions": "Which?", "criteria": {f"option {i}": None for i in range(20)}}
    body = {
        "model": "jev-latest",
        "state": "left " * 1200,
        "questions": {f"q{i}": question for i in range(40)},
        "x_readgate": {"draws": 8, "cache": "bypass"},
    }
    before = metric(served, 'readgate_canvases_total{source="engine"}')
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{served.url}/v1/systemone", json=body, timeout=httpx.Timeout(30, read=0.5))
    deadline = time.monotonic() + 30
    while metric(served, "readgate_requests_in_flight") > 1:  # this question is one itself
        assert time.monotonic() < deadline, "the request goes on without its client"
        time.sleep(0.1)
    assert metric(served, 'readgate_canvases_total{source="engine"}') == before  # its canvases were never all read


def metric(served: Served, name: str) -> float:
    lines = httpx.get(f"{served.url}/metrics", timeout=10).text.splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name))


def test_a_containers_stop_ends_it_in_order(tmp_path: Path) -> None:
    with serving(tmp_path, ended=Served.stop) as second:
        assert httpx.get(f"{second.url}/readyz", timeout=10).is_success
    assert "stopping" in second.lines[-1]
