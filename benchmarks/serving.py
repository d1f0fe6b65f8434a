"""What Readgate's own processes cost a request, summed over all of them, beside the model and the upstream.

    python benchmarks/serving.py

Closed loop over HTTP against `readgate serve` with the scripted engine, which answers at once, and an upstream that
answers at once. Baseline in the same run: the same client straight to that upstream (one uvicorn process), and a chat
completion through a LiteLLM SDK model (`mock_response`), which is what the demo upstream is.
CPU is user plus system time of the server's whole process tree (Ray's daemons included) over the requests sent.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import httpx

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.record import record, summary

ROOT: Final = Path(__file__).parents[1]
CONCURRENCY: Final = 8
SECONDS: Final = 6.0
REPEATS: Final = 3
TICKS: Final = os.sysconf("SC_CLK_TCK")
POLICY: Final = """\
version: 1
name: rules
description: Exact rules only, so that the proxy's own work is what is measured.
checks:
  - {id: secrets, stage: [request, response], rule: secrets, block: {}}
  - {id: codename, stage: [request, response], rule: regex, pattern: 'PROJECT-[A-Z]{4}[0-9]+', block: {}}
"""
CONFIG: Final[dict[str, Any]] = {
    "proxy_location": "HeadOnly",
    "http_options": {"host": "127.0.0.1"},
    "logging_config": {"log_level": "WARNING", "enable_access_log": False},
    "applications": [
        {
            "name": "readgate",
            "route_prefix": "/",
            "import_path": "deployments.app:build",
            "deployments": [
                {"name": name, "num_replicas": 1, "ray_actor_options": {"num_cpus": 0}} for name in ("Front", "Engine")
            ],
        }
    ],
}
QUESTIONS: Final = {f"q{i}": {"type": "noul", "instructions": f"Does the text mention subject {i}?"} for i in range(12)}
WORDS: Final = "the customer wants a refund for the order of last week and is not happy "


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def cpu_s(root: int) -> float:
    """User and system seconds of a process and all its descendants, the ended children counted by their parents."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        except OSError:  # it ended between the listing and the look
            continue
        parents[int(entry.name)] = int(fields[1])
        used[int(entry.name)] = sum(map(int, fields[11:15])) / TICKS
    tree = {root}
    while grown := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= grown
    return sum(used.get(pid, 0.0) for pid in tree)


@contextmanager
def process(command: list[str], url: str, environ: Mapping[str, str]) -> Generator[int]:
    """A server in its own session until the block ends; yields its pid once `url` answers."""
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(command, env=os.environ | dict(environ), stdout=log, stderr=log, cwd=ROOT)  # noqa: S603 - our commands
        try:
            for _ in range(240):
                try:
                    if httpx.get(url, timeout=1).is_success:
                        break
                except httpx.HTTPError:
                    time.sleep(0.25)
            else:
                log.seek(0)
                raise SystemExit(f"{command[0]} did not answer {url}:\n{log.read().decode()[-2000:]}")
            yield server.pid
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=60)


async def drive(url: str, body: Callable[[int], Mapping[str, object]], seconds: float) -> tuple[int, list[float]]:
    """Closed loop: requests done and their times in ms. An answer that is not a 200 ends the bench."""
    times: list[float] = []
    end = time.monotonic() + seconds
    counter = iter(range(10**9))

    async def worker(client: httpx.AsyncClient) -> None:
        while time.monotonic() < end:
            start = time.monotonic()
            answer = await client.post(url, json=body(next(counter)))
            if not answer.is_success:
                raise SystemExit(f"{url}: {answer.status_code} {answer.text[:500]}")
            times.append((time.monotonic() - start) * 1e3)

    async with httpx.AsyncClient(timeout=30) as client:
        await asyncio.gather(*(worker(client) for _ in range(CONCURRENCY)))
    return len(times), times


def measure(label: str, url: str, body: Callable[[int], Mapping[str, object]], pid: int) -> dict[str, object]:
    """One row: medians over repeats, after a warm-up."""
    asyncio.run(drive(url, body, 2.0))
    cost: list[float] = []
    p50: list[float] = []
    rate: list[float] = []
    for _ in range(REPEATS):
        before, start = cpu_s(pid), time.monotonic()
        done, times = asyncio.run(drive(url, body, SECONDS))
        cost.append((cpu_s(pid) - before) * 1e3 / done)
        rate.append(done / (time.monotonic() - start))
        p50.append(sorted(times)[len(times) // 2])
    return {
        "what": label,
        "CPU-ms a request": summary(cost)["median"],
        "requests/s": summary(rate)["median"],
        "p50 ms": summary(p50)["median"],
    }


def systemone(run: str, packing: str, *, cached: bool) -> Callable[[int], Mapping[str, object]]:
    """Twelve yes/no questions about a state of about 300 tokens, always new unless `cached`."""

    def body(index: int) -> Mapping[str, object]:
        text = f"{run} {0 if cached else index} " + WORDS * 20
        options = {"packing": packing, "cache": "use" if cached else "bypass"}
        return {"model": "jev-latest", "state": text, "questions": QUESTIONS, "x_readgate": options}

    return body


def chat(model: str, *, stream: bool) -> Callable[[int], Mapping[str, object]]:
    """A short conversation."""
    return lambda index: {
        "model": model,
        "stream": stream,
        "messages": [{"role": "user", "content": f"Question {index}: how do I boil an egg?"}],
    }


def main() -> None:
    """Start both servers, measure, record."""
    port, upstream_port = free_port(), free_port()
    base, upstream = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{upstream_port}"
    with tempfile.TemporaryDirectory() as folder:
        policies = Path(folder) / "policies"
        policies.mkdir()
        (policies / "rules.yaml").write_text(POLICY, encoding="utf-8")
        config = deepcopy(CONFIG)
        config["http_options"]["port"] = port
        config["applications"][0]["args"] = {
            "engine": {"kind": "scripted"},
            "models": {
                "fast": {"upstream": f"{upstream}/v1"},
                "mock": {"litellm": "openai/mock", "mock_response": "ok"},
            },
            "policies": {"directory": str(policies), "default": "rules"},
        }
        path = Path(folder) / "serve.yaml"
        path.write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
        serve = [str(Path(sys.executable).parent / "readgate"), "serve", "--config", str(path)]
        fast = [sys.executable, "-m", "uvicorn", "benchmarks.fast_upstream:app", "--port", str(upstream_port)]
        with (
            process([*fast, "--log-level", "warning"], f"{upstream}/", {}) as upstream_pid,
            process(serve, f"{base}/readyz", {}) as pid,
        ):
            one, completions = f"{base}/v1/systemone", "/v1/chat/completions"
            rows = [
                measure("systemone, 12 questions packed, uncached", one, systemone("a", "packed", cached=False), pid),
                measure(
                    "systemone, 12 questions isolated, uncached", one, systemone("b", "isolated", cached=False), pid
                ),
                measure("systemone, 12 questions packed, cache hit", one, systemone("c", "packed", cached=True), pid),
                measure("upstream alone, chat", upstream + completions, chat("fast", stream=False), upstream_pid),
                measure("guarded chat, raw relay", base + completions, chat("fast", stream=False), pid),
                measure(
                    "upstream alone, 13-chunk stream", upstream + completions, chat("fast", stream=True), upstream_pid
                ),
                measure("guarded 13-chunk stream, raw relay", base + completions, chat("fast", stream=True), pid),
                measure("guarded chat, litellm SDK", base + completions, chat("mock", stream=False), pid),
            ]
    record(
        "serving",
        question="CPU of all server processes per request (Ray Serve, scripted engine, closed loop, 8 clients).",
        rows=rows,
        notes=["The engine and the upstream answer at once, so what remains is Readgate's, Ray's and HTTP's own cost."],
    )


if __name__ == "__main__":
    main()
