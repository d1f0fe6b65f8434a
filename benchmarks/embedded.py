"""What the embedded engine reads on this machine's cores: a packed check of 12 questions, and 12 isolated ones.

    python benchmarks/embedded.py

In process: planner, cache off, admission and ONNX Runtime; no HTTP. States of 256 tokens, always new. Baseline in the
same run: the isolated reads, one canvas a question, which is what a server without packing does.
"""

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.record import record, summary
from canvas import Packing, Predicate, ReadOptions, State
from deployments.assembly import build_local_reader
from deployments.embedded.card_file import SHIPPED
from deployments.engines.tokenizer import load_tokenizer
from guards.reader import Reader

STATE_TOKENS: Final = 256
CHECKS: Final = 60
QUESTIONS: Final = tuple(Predicate(f"q{i}", f"Does the text ask for subject number {i}?") for i in range(12))
WORDS: Final = "please tell me how the order of last week can be returned and who pays for it "


async def one(reader: Reader, text: str, packing: Packing) -> float:
    """Milliseconds of one check."""
    start = time.perf_counter()
    await reader.read(State((text,)), QUESTIONS, ReadOptions(packing=packing), use_cache=False)
    return (time.perf_counter() - start) * 1e3


async def measure(reader: Reader, text: str, packing: Packing) -> dict[str, object]:
    """One row: alone for latency, four at a time for throughput."""
    await asyncio.gather(*(one(reader, f"warm {packing} {i} {text}", packing) for i in range(4)))
    alone = [await one(reader, f"alone {packing} {i} {text}", packing) for i in range(CHECKS)]
    cpu, start = time.process_time(), time.perf_counter()
    for batch in range(CHECKS // 4):
        await asyncio.gather(*(one(reader, f"busy {packing} {batch} {i} {text}", packing) for i in range(4)))
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {
        "12 questions": packing,
        "p50 ms, one at a time": summary(alone)["median"],
        "decisions/s, four at a time": float(f"{CHECKS * len(QUESTIONS) / seconds:.4g}"),
        "CPU-ms a check": float(f"{cpu * 1e3 / CHECKS:.4g}"),
    }


async def main() -> None:
    """Measure both packings and record."""
    tokenizer = load_tokenizer(SHIPPED)
    text = WORDS
    while len(tokenizer.encode(text + WORDS)) <= STATE_TOKENS:
        text += WORDS
    reader = await build_local_reader(os.environ)
    rows = [await measure(reader, text, packing) for packing in ("packed", "isolated")]
    record(
        "embedded",
        question="The embedded engine in process: 12 yes/no questions about an unseen state of 256 tokens.",
        rows=rows,
    )


if __name__ == "__main__":
    asyncio.run(main())
