"""Reads by vLLM in this process (AsyncLLM, V1). The only module that imports vllm.

One read is one request: token ids in, one denoise step over the seeded canvas, raw log-probabilities out. vLLM can
return wrong numbers with a good status (READING's traps 1 and 2); `_checked` catches both. Longer than 200 lines:
configuring and reading both need vllm, which no other module may import.
"""

import asyncio
import difflib
import itertools
import os
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import fields

from vllm import SamplingParams
from vllm.config import VllmConfig
from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.exceptions import GracefulHTTPError, VLLMClientError, VLLMServerError
from vllm.inputs import EngineInput, TokensPrompt, tokens_input
from vllm.outputs import RequestOutput
from vllm.sampling_params import RequestOutputKind
from vllm.v1.engine.async_llm import AsyncLLM

from canvas import CanvasPlan, CanvasRead, InvalidRead, InvalidState, ModelCard
from deployments.engines.engine import EngineTimeout, EngineUnavailable, Overloaded
from deployments.engines.limits import check_plan, check_read
from deployments.engines.pictures import decode_picture
from deployments.engines.vllm_settings import UnsafeEngineSettings, VllmSettings
from deployments.engines.warm_up import warm_up
from deployments.engines.weights import weights_revision

MAX_LABEL_IDS = 128  # vLLM's bound on logprob_token_ids
HEALTH_TIMEOUT_S = 5.0  # a step of the largest batch takes well under a second on a GPU

Loader = Callable[[VllmSettings], AsyncLLM]


class VllmEngine:
    """One AsyncLLM. `load` makes it; the default refuses configurations that vLLM has changed to unsafe ones."""

    def __init__(self, settings: VllmSettings, load: Loader | None = None) -> None:
        self._settings = settings
        self._load = load or load_checked
        self._llm: AsyncLLM | None = None
        self._card: ModelCard | None = None
        self._in_flight: set[str] = set()
        self._numbers = itertools.count()

    @property
    def card(self) -> ModelCard:
        """Known once the engine has started: the vocabulary is the checkpoint's."""
        if self._card is None:
            raise EngineUnavailable(f"{self._settings.name} has not started: its card is not known yet")
        return self._card

    async def start(self) -> None:
        settings = self._settings
        try:
            # Loading takes minutes with real weights; the loop goes on answering probes.
            llm = await asyncio.to_thread(self._load, settings)
        except Exception as error:  # whatever vLLM raises while it loads, the engine is not there
            raise EngineUnavailable(f"vLLM could not load {settings.checkpoint}: {error}") from error
        self._llm = llm
        self._card = _card(settings, llm.vllm_config)
        try:
            await warm_up(self, concurrent=settings.max_num_seqs)
        except InvalidRead as error:
            await self.close()
            raise EngineUnavailable(f"vLLM misreads {settings.name} while it warms up: {error}") from error
        except BaseException:
            await self.close()
            raise

    async def run(self, plan: CanvasPlan) -> CanvasRead:
        llm, card = self._running(), self.card
        check_plan(plan, card)
        request_id = f"read-{next(self._numbers)}"
        self._in_flight.add(request_id)
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                prompt = await _prompt(plan, card, llm)
                deltas = await _deltas(plan, prompt, request_id, llm)
        except TimeoutError as error:
            raise EngineTimeout(f"{card.name} did not answer within {self._settings.timeout_s} s") from error
        except GracefulHTTPError as error:
            raise Overloaded(f"{card.name} refused the read: {error}") from error
        except VLLMClientError as error:
            raise InvalidState(f"{card.name} cannot read this: {error}") from error
        except VLLMServerError as error:
            raise EngineUnavailable(f"{card.name} failed: {error}") from error
        finally:
            self._in_flight.discard(request_id)
        return check_read(plan, _checked(plan, deltas))

    async def check_health(self) -> None:
        """Asks the engine's own process, between two steps; a flag in this one would not notice that it hangs."""
        llm = self._running()
        try:
            await llm.check_health()
            async with asyncio.timeout(HEALTH_TIMEOUT_S):
                asleep = await llm.is_sleeping()
        except TimeoutError as error:
            raise EngineUnavailable(f"vLLM's engine process did not answer within {HEALTH_TIMEOUT_S} s") from error
        except VLLMServerError as error:
            raise EngineUnavailable(f"vLLM's engine process is dead: {error}") from error
        if asleep:
            raise EngineUnavailable("vLLM's engine is asleep")

    async def close(self) -> None:
        llm, self._llm = self._llm, None
        if llm is None:
            return
        await llm.abort(tuple(self._in_flight))  # they end with EngineUnavailable instead of waiting for ever
        await asyncio.to_thread(llm.shutdown)

    def _running(self) -> AsyncLLM:
        if self._llm is None:
            raise EngineUnavailable(f"{self._settings.name} is not running")
        return self._llm


def load_checked(settings: VllmSettings) -> AsyncLLM:
    """Configures vLLM, compares what it made of the settings with them, and only then loads the model.

    Raises UnsafeEngineSettings.
    """
    if settings.batch_invariant:
        os.environ["VLLM_BATCH_INVARIANT"] = "1"  # vLLM has no argument for it, and its processes inherit this one's
    arguments = engine_arguments(settings)
    config = arguments.create_engine_config()
    check_config(config, settings)
    return AsyncLLM.from_vllm_config(config, disable_log_stats=False)


def engine_arguments(settings: VllmSettings) -> AsyncEngineArgs:
    """Raises UnsafeEngineSettings for an argument that this vLLM does not know."""
    known = {known.name for known in fields(AsyncEngineArgs)}
    for name in settings.engine_arguments:
        if name not in known:
            nearest = difflib.get_close_matches(name, known, n=1, cutoff=0)[0]
            raise UnsafeEngineSettings(f"engine argument {name!r} is unknown to vLLM; the nearest is {nearest!r}")
    return AsyncEngineArgs(
        model=str(settings.checkpoint),
        served_model_name=settings.name,
        max_model_len=settings.max_model_len,
        max_num_seqs=settings.max_num_seqs,
        max_num_batched_tokens=settings.max_num_batched_tokens,
        dtype=settings.dtype,
        quantization=settings.quantization,
        tensor_parallel_size=settings.tensor_parallel_size,
        gpu_memory_utilization=settings.gpu_memory_utilization,
        enforce_eager=settings.enforce_eager,
        limit_mm_per_prompt={"image": settings.max_images, "video": 0},
        diffusion_config={"canvas_length": settings.canvas_tokens},
        max_logprobs=MAX_LABEL_IDS,
        long_prefill_token_threshold=0,
        stream_interval=1,
        **{"enable_prefix_caching": True, **settings.engine_arguments},
    )


def check_config(config: VllmConfig, settings: VllmSettings) -> None:
    """Configurations are rewritten by vLLM without a word. Raises UnsafeEngineSettings when ours was."""
    scheduler = config.scheduler_config
    resolved = {
        "max_num_seqs": (scheduler.max_num_seqs, settings.max_num_seqs),
        "max_num_batched_tokens": (scheduler.max_num_batched_tokens, settings.max_num_batched_tokens),
        "long_prefill_token_threshold": (scheduler.long_prefill_token_threshold, 0),
        "canvas_length": (config.diffusion_config and config.diffusion_config.canvas_length, settings.canvas_tokens),
        "max_model_len": (config.model_config.max_model_len, settings.max_model_len),
    }
    for name, (is_now, was_asked) in resolved.items():
        if is_now != was_asked:
            raise UnsafeEngineSettings(f"vLLM changed {name} from {was_asked} to {is_now}")


def _card(settings: VllmSettings, config: VllmConfig) -> ModelCard:
    sees = config.model_config.is_multimodal_model and config.model_config.hf_config.vision_config is not None
    return ModelCard(
        name=settings.name,
        revision=settings.revision or weights_revision(settings.checkpoint),
        vocab_size=config.model_config.get_vocab_size(),
        canvas_tokens=settings.canvas_tokens,
        context_tokens=settings.max_model_len,
        max_label_ids=MAX_LABEL_IDS,
        takes_images=sees and settings.max_images > 0,
    )


async def _prompt(plan: CanvasPlan, card: ModelCard, llm: AsyncLLM) -> EngineInput:
    """Token ids as they are; with images, what the checkpoint's processor makes of them, checked for length again."""
    if not plan.images:
        return tokens_input(list(plan.prompt_ids))
    pictures = [await asyncio.to_thread(decode_picture, image) for image in plan.images]
    prompt = TokensPrompt(prompt_token_ids=list(plan.prompt_ids), multi_modal_data={"image": pictures})
    try:
        expanded = await llm.renderer.process_for_engine_async(prompt, time.time())
    except (ValueError, RuntimeError) as error:  # the processor's ways to say no: count, size, missing placeholder
        raise InvalidState(f"the images of the state cannot be read: {error}") from error
    length = len(expanded["prompt_token_ids"]) + plan.width_tokens
    if length > card.context_tokens:
        raise InvalidState(
            f"prompt, images and canvas make {length} tokens, {card.name} takes at most {card.context_tokens}"
        )
    return expanded


async def _deltas(plan: CanvasPlan, prompt: EngineInput, request_id: str, llm: AsyncLLM) -> list[RequestOutput]:
    """Everything the engine sent for this read. Leaving early, by cancellation too, aborts the request."""
    sampling = SamplingParams(
        # All rows, though those behind the last slot tell nothing. Asked for no more than the slots' rows, a canvas
        # that is cut behind them gives just these, in one delta, read from half a canvas (measured: wrong by 0.33).
        # Only the last row proves that the canvas was whole.
        max_tokens=plan.width_tokens,
        logprob_token_ids=list(plan.token_ids),
        flat_logprobs=True,
        detokenize=False,
        output_kind=RequestOutputKind.DELTA,
        extra_args={
            "diffusion_seed_canvas": list(plan.canvas_ids),
            "diffusion_canvas_length": plan.width_tokens,
            "diffusion_max_steps": 1,
            "diffusion_read_only": True,
        },
    )
    async with aclosing(llm.generate(prompt, sampling, request_id)) as outputs:
        return [output async for output in outputs]


def _checked(plan: CanvasPlan, deltas: list[RequestOutput]) -> CanvasRead:
    """The slots' log-probabilities of a read that was made in one step.

    A canvas that did not fit its step is finished over fresh noise in the next: more than one delta, or one whose
    first and last token have different times (deltas that wait together are merged). A prompt too long gives fewer
    rows. Raises InvalidRead; EngineUnavailable when the engine was closed meanwhile.
    """
    last = deltas[-1]
    (output,) = last.outputs
    if output.finish_reason == "abort":
        raise EngineUnavailable("the engine was closed during the read")
    times = last.metrics
    if len(deltas) != 1 or (times is not None and times.first_token_ts != times.last_token_ts):
        raise InvalidRead(f"the canvas of {plan.width_tokens} tokens was cut: its rows come from more than one step")
    logprobs = output.logprobs
    if len(output.token_ids) != plan.width_tokens or logprobs is None or len(logprobs) != plan.width_tokens:
        raise InvalidRead(f"the engine returned {len(output.token_ids)} rows, the canvas has {plan.width_tokens}")
    read: list[tuple[float, ...]] = []
    for slot in plan.slots:
        row = slice(logprobs.start_indices[slot.position], logprobs.end_indices[slot.position])
        by_id = dict(zip(logprobs.token_ids[row], logprobs.logprobs[row], strict=True))
        if missing := [token for token in slot.token_ids if token not in by_id]:
            raise InvalidRead(f"slot at position {slot.position}: no log-probability for ids {missing}")
        read.append(tuple(by_id[token] for token in slot.token_ids))
    return tuple(read)
