# ruff: noqa: INP001 - copied into site-packages as one module
"""Runs at the start of every Python of the engine environment (by readgate_cpu_boot.pth): CPU defaults, torchvision.

Two things that a process cannot do later. Settings that libraries read while they are imported get their CPU values,
unless the caller set them. And torchvision, whose common build links CUDA, is made to import beside the CPU torch.
"""

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

CPU_DEFAULTS = {
    "TRITON_INTERPRET": "1",  # no Triton compiler for CPUs here: kernels run in its interpreter
    "TORCH_COMPILE_DISABLE": "1",  # compiling the sampler step costs the first read 27 s and gains a CPU nothing
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB; a tiny checkpoint needs far less than the default share of memory
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",  # checkpoints of this environment are made here
}


class TorchvisionOperators(MetaPathFinder):
    """Declares, just before torchvision is imported, the two operators whose fake kernels it registers without looking.

    Its C extension cannot load here, so nobody else declares them. Image resizing is plain torch and works.
    """

    library: object = None  # torch drops the declarations with the object that made them

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "torchvision":
            sys.meta_path.remove(self)
            import torch  # noqa: PLC0415 - at start-up it would cost every Python process a second

            library = torch.library.Library("torchvision", "FRAGMENT")
            for operator in ("nms", "qnms"):
                library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
            type(self).library = library
        return None


for name, value in CPU_DEFAULTS.items():
    os.environ.setdefault(name, value)
sys.meta_path.insert(0, TorchvisionOperators())
