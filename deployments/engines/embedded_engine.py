"""The small DiffusionGemma on ONNX Runtime, in this process: the laptop's engine. The only module that imports it.

A plan's shared prefix is encoded once and kept; a read is then one pass over the rest of its prompt and its canvas.
Reads run one after the other, each on all cores: a canvas is too small to share, and equal plans give equal bytes.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs] -- it ships no types: Session says what is used
from numpy.typing import NDArray

from canvas import CanvasPlan, CanvasRead, ModelCard
from deployments.embedded.card_file import CardFile
from deployments.embedded.prefix_cache import KeysValues, PrefixCache
from deployments.embedded.weights import read_weights
from deployments.engines.engine import EngineUnavailable
from deployments.engines.limits import check_plan, check_read

PREFIX_BYTES: Final = 256 * 2**20
"""About 40 states of 1,000 tokens at 6 KB a token (6 layers, keys and values, 2 heads of 64, float32)."""
CHUNK_TOKENS: Final = 512
"""A pass holds heads * chunk * context scores: 32 MB at 4,096 tokens, where one pass over all would hold 256."""
TOKEN_AXIS: Final = 3  # of keys and values
ERRORS_ONLY: Final = 3  # ONNX Runtime's severity; its warnings tell of constants that it does not fold
WARM_UP_TOKENS: Final = 64


class Session(Protocol):
    """What of onnxruntime.InferenceSession is used."""

    def run(self, output_names: None, input_feed: dict[str, NDArray[np.generic]]) -> list[NDArray[np.float32]]: ...


@dataclass(frozen=True, slots=True)
class Graphs:
    """A loaded checkpoint. `no_past` is the keys and values of nothing; `tensors` must outlive the sessions."""

    encode: Session
    read: Session
    no_past: KeysValues
    tensors: tuple[object, ...]


class EmbeddedEngine:
    """Runs a checkpoint folder with encode.onnx, read.onnx and model.safetensors.

    `threads` is ONNX Runtime's: 0 means one a physical core. `prefix_bytes` bounds the encoded prefixes kept.
    Cancelling a read drops it unless it has begun; one that has begun ends (a few dozen milliseconds), unseen.
    """

    def __init__(
        self, checkpoint: Path, card_file: CardFile, *, threads: int = 0, prefix_bytes: int = PREFIX_BYTES
    ) -> None:
        self._checkpoint = checkpoint
        self._card_file = card_file
        self._threads = threads
        self._prefixes = PrefixCache(prefix_bytes)
        self._graphs: Graphs | None = None
        self._worker: ThreadPoolExecutor | None = None

    @property
    def card(self) -> ModelCard:
        return self._card_file.card

    async def start(self) -> None:
        """Loads and reads once. Raises EngineUnavailable with the file that is missing or broken."""
        worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="readgate-embedded")
        try:
            self._graphs = await asyncio.wrap_future(worker.submit(self._load))
        except Exception as error:
            worker.shutdown(wait=False)
            raise EngineUnavailable(f"the embedded model at {self._checkpoint} does not load: {error}") from error
        self._worker = worker

    async def run(self, plan: CanvasPlan) -> CanvasRead:
        worker, graphs = self._running()
        check_plan(plan, self.card)
        future = worker.submit(self._read, graphs, plan)
        try:
            read = await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # Nobody cancelled the caller: the queue was dropped.
            raise EngineUnavailable("the embedded engine was closed before this read began") from None
        return check_read(plan, read)

    async def check_health(self) -> None:
        self._running()

    async def close(self) -> None:
        worker, self._worker, self._graphs = self._worker, None, None
        if worker is not None:
            await asyncio.to_thread(worker.shutdown, wait=True, cancel_futures=True)
        self._prefixes.clear()

    def _running(self) -> tuple[ThreadPoolExecutor, Graphs]:
        if self._worker is None or self._graphs is None:
            raise EngineUnavailable("the embedded engine is not running: start it first")
        return self._worker, self._graphs

    def _load(self) -> Graphs:
        runtime: Any = onnxruntime
        names = {"encode": self._card_file.encode_tensors, "read": self._card_file.read_tensors}
        weights = read_weights(self._checkpoint / "model.safetensors", {*names["encode"], *names["read"]})
        tensors = {name: runtime.OrtValue.ortvalue_from_numpy(array) for name, array in weights.items()}
        sessions: dict[str, Any] = {}
        for graph, wanted in names.items():
            options = runtime.SessionOptions()
            options.intra_op_num_threads = self._threads
            options.log_severity_level = ERRORS_ONLY
            options.add_external_initializers(list(wanted), [tensors[name] for name in wanted])
            content = (self._checkpoint / f"{graph}.onnx").read_bytes()
            sessions[graph] = runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        layers, pair, heads, _, channels = sessions["encode"].get_inputs()[0].shape
        graphs = Graphs(
            encode=sessions["encode"],
            read=sessions["read"],
            no_past=np.zeros((layers, pair, heads, 0, channels), np.float32),
            tensors=(*tensors.values(), *weights.values()),
        )
        prompt = _ids(range(WARM_UP_TOKENS))
        graphs.encode.run(None, {"past": graphs.no_past, "prompt": prompt})
        graphs.read.run(None, {"past": graphs.no_past, "prompt": prompt, "canvas": prompt[:16], "rows": _ids((0,))})
        return graphs

    def _read(self, graphs: Graphs, plan: CanvasPlan) -> CanvasRead:
        """In the worker thread; ONNX Runtime releases the interpreter's lock."""
        past, done = self._prefix(graphs, plan)
        rest = plan.prompt_ids[done:]
        # At least one token is left for the read graph, and no more than a chunk.
        chunks = (len(rest) - 1) // CHUNK_TOKENS * CHUNK_TOKENS
        (logprobs,) = graphs.read.run(
            None,
            {
                "past": _encode(graphs, past, rest[:chunks]),
                "prompt": _ids(rest[chunks:]),
                "canvas": _ids(plan.canvas_ids),
                "rows": _ids([slot.position for slot in plan.slots]),
            },
        )
        return tuple(
            tuple(float(row[token]) for token in slot.token_ids) for slot, row in zip(plan.slots, logprobs, strict=True)
        )

    def _prefix(self, graphs: Graphs, plan: CanvasPlan) -> tuple[KeysValues, int]:
        """The keys and values of the prompt's shared start, and how many tokens that is."""
        shared = min(plan.prefix_tokens, len(plan.prompt_ids) - 1)
        if shared <= 0:
            return graphs.no_past, 0
        prefix = plan.prompt_ids[:shared]
        past = self._prefixes.get(prefix)
        if past is None:
            past = _encode(graphs, graphs.no_past, prefix)
            self._prefixes.put(prefix, past)
        return past, shared


def _encode(graphs: Graphs, past: KeysValues, ids: Sequence[int]) -> KeysValues:
    """The past with these ids behind it, in chunks."""
    for start in range(0, len(ids), CHUNK_TOKENS):
        (new,) = graphs.encode.run(None, {"past": past, "prompt": _ids(ids[start : start + CHUNK_TOKENS])})
        past = np.concatenate((past, new), axis=TOKEN_AXIS)
    return past


def _ids(ids: Sequence[int]) -> NDArray[np.int64]:
    return np.asarray(ids, np.int64)
