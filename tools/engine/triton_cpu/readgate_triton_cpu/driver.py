"""The driver half of the backend: one CPU device, no streams, nothing to time."""

from typing import NoReturn

import torch
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase


class InterpretedDriver(DriverBase):
    """Always active. Only vLLM's look for a driver and Triton's own questions about the device reach it."""

    def __init__(self) -> None:
        # The base class builds launch helpers for a real device.
        pass

    @classmethod
    def is_active(cls) -> bool:
        return True

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cpu", 0, 1)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _device: int | None = None) -> int:
        return 0

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cpu")

    def get_device_interface(self) -> object:
        return torch.cpu

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def clear_cache(self, cache: object) -> None:
        """The interpreter keeps none."""

    def get_benchmarker(self) -> NoReturn:
        raise NotImplementedError("interpreted kernels are not timed")

    def get_empty_cache_for_benchmark(self) -> NoReturn:
        raise NotImplementedError("interpreted kernels are not timed")
