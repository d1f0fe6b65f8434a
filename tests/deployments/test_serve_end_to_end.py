"""`readgate serve` as a newcomer starts it: a real Ray, the embedded engine, the demo upstream; Ctrl-C ends it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

pytestmark = pytest.mark.slow

CONFIGS = Path(__file__).parents[2] / "configs"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Served:
    """A running `readgate serve`."""

    def __init__(self, config: Path) -> None:
        command = [sys.executable, "-m", "deployments.cli", "serve", "--config", str(config)]
        self.config = config
        self.process = subprocess.Popen(  # noqa: S603 - our own command
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        self.lines: list[str] = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            if "Ctrl-C stops it" in line:
                break

    @property
    def url(self) -> str:
        found = re.search(r"ready on (http://\S+)\. Try", "".join(self.lines))
        assert found, "".join(self.lines)
        return found[1]

    def stop(self) -> int:
        """What Ctrl-C in a terminal does: the whole process group gets the signal."""
        os.killpg(self.process.pid, signal.SIGINT)
        try:
            return self.process.wait(timeout=60)
        finally:
            if self.process.stdout is not None:
                self.lines += self.process.stdout.readlines()
                self.process.stdout.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    text = (CONFIGS / "serve.dev.yaml").read_text()
    text = text.replace("port: 8000", f"port: {free_port()}")
    text = text.replace("directory: policies", f"directory: {CONFIGS / 'policies'}")
    path = tmp_path_factory.mktemp("serve") / "serve.yaml"
    path.write_text(text)
    running = Served(path)
    yield running
    code = running.stop()
    assert code == 0, "".join(running.lines)


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
    command = [sys.executable, "-m", "deployments.cli", "serve", "--config", str(served.config)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - our own command
    assert done.returncode == 1
    assert "cannot listen on 127.0.0.1:" in done.stderr
    assert "Address already in use" in done.stderr
