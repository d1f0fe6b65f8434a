"""A vLLM OpenAI server of the tiny checkpoint, as an operator would start it, on a free port of this machine."""

import asyncio
import os
import socket
import sys
from asyncio.subprocess import STDOUT
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import httpx

from tests.engine.tiny import TINY_SETTINGS

START_TIMEOUT_S: Final = 240  # two shared cores
MODEL: Final = "tiny"


@asynccontextmanager
async def vllm_server(log: Path) -> AsyncIterator[str]:
    """Its base URL; the process ends with the context. `log` has its output."""
    port = _free_port()
    settings = TINY_SETTINGS
    arguments = [
        "-m", "vllm.entrypoints.openai.api_server",  # `vllm serve` asks for CUDA before it reads its arguments
        "--model", str(settings.checkpoint),
        "--served-model-name", MODEL,
        "--host", "127.0.0.1", "--port", str(port),
        "--dtype", settings.dtype,
        "--max-model-len", str(settings.max_model_len),
        "--max-num-seqs", str(settings.max_num_seqs),
        "--max-num-batched-tokens", str(settings.max_num_batched_tokens),
        "--diffusion-config", f'{{"canvas_length": {settings.canvas_tokens}}}',
        "--limit-mm-per-prompt", '{"image": 0, "video": 0}',
        "--enforce-eager",
    ]  # fmt: skip
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, stdout=output, stderr=STDOUT, env=dict(os.environ)
        )
    base_url = f"http://127.0.0.1:{port}"
    try:
        await _until_healthy(base_url, process, log)
        yield base_url
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _until_healthy(base_url: str, process: asyncio.subprocess.Process, log: Path) -> None:
    async with asyncio.timeout(START_TIMEOUT_S), httpx.AsyncClient(base_url=base_url) as client:
        while process.returncode is None:
            try:
                if (await client.get("/health")).is_success:
                    return
            except httpx.TransportError:
                pass  # not listening yet
            await asyncio.sleep(0.5)
    raise RuntimeError(f"the server ended with {process.returncode}; its output is in {log}")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
