"""Torch forms of vLLM's three log-probability kernels, put in their place in every vLLM process.

The interpreter runs these kernels as a Python loop over rows, which was 85 % of a read's time (measured on 0.32 with
the tiny checkpoint). The sampler's own kernel (row statistics) stays Triton, interpreted: it is what the suite tests.
"""

import os
from collections.abc import Callable

import torch


class Launcher:
    """Looks like a Triton kernel to its caller: `kernel[grid](arguments)` calls the function, the grid is dropped."""

    def __init__(self, function: Callable[..., None]) -> None:
        self._function = function

    def __getitem__(self, grid: object) -> Callable[..., None]:
        return self._function


def register() -> None:
    """The plug-in hook of vLLM. Does nothing where kernels are compiled."""
    if os.environ.get("TRITON_INTERPRET") != "1":
        return
    from vllm.v1.worker.gpu.sample import logprob as kernels  # noqa: PLC0415 - vLLM is loading this very module's caller

    kernels._topk_log_softmax_kernel = Launcher(log_softmax_of_ids)  # noqa: SLF001 - what the plug-in is for
    kernels._ranks_kernel = Launcher(ranks)  # noqa: SLF001
    kernels._fill_logprob_token_ids_kernel = Launcher(fill_token_ids)  # noqa: SLF001


def log_softmax_of_ids(
    output: torch.Tensor, logits: torch.Tensor, _logits_stride: int, ids: torch.Tensor, _ids_stride: int,
    id_count: int, _vocab_size: int, **_launch: object,
) -> None:  # fmt: skip
    """output[row, k] = log softmax(logits[row])[ids[row, k]]."""
    output.copy_(logits.float().log_softmax(dim=-1).gather(1, ids[:, :id_count].long()))


def ranks(
    output: torch.Tensor, logits: torch.Tensor, _logits_stride: int, token_ids: torch.Tensor, _vocab_size: int,
    **_launch: object,
) -> None:  # fmt: skip
    """output[row] = how many logits of the row are at least the token's."""
    output.copy_((logits >= logits.gather(1, token_ids.long().unsqueeze(1))).sum(dim=-1))


def fill_token_ids(  # noqa: PLR0917 - the kernel's arguments, in its order
    output_ids: torch.Tensor, _output_stride: int, valid: torch.Tensor, _valid_stride: int, sampled: torch.Tensor,
    topk_ids: torch.Tensor, _topk_stride: int, slot_of_row: torch.Tensor, id_counts: torch.Tensor,
    requested_ids: torch.Tensor, _requested_stride: int, *, NUM_TOPK: int = 0, **_launch: object,  # noqa: N803
) -> None:  # fmt: skip
    """Row by row: the sampled id, then the ids its request asked for, or else the top ids."""
    output_ids[:, 0] = sampled
    valid[:, 0] = True
    for row, slot in enumerate(slot_of_row[: output_ids.shape[0]].tolist()):
        count = int(id_counts[slot])
        if count:
            output_ids[row, 1 : 1 + count] = requested_ids[slot, :count].to(output_ids.dtype)
        elif NUM_TOPK:
            output_ids[row, 1 : 1 + NUM_TOPK] = topk_ids[row, :NUM_TOPK].to(output_ids.dtype)
        valid[row, 1 : 1 + (count or NUM_TOPK)] = True
