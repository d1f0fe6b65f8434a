"""The compiler half of the backend. It must exist to be found, and is never asked to compile."""

from typing import NoReturn

from triton.backends.compiler import BaseBackend, GPUTarget


class InterpretedBackend(BaseBackend):
    """Knows its target; every step of a compilation is refused with the reason."""

    binary_ext = "none"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "cpu"

    def hash(self) -> str:
        return "interpreted"

    def parse_options(self, _options: dict[str, object]) -> NoReturn:
        raise _not_compiled()

    def add_stages(self, _stages: object, _options: object, _language: object) -> NoReturn:
        raise _not_compiled()

    def load_dialects(self, context: object) -> None:
        """No dialects: nothing is lowered."""

    def get_module_map(self) -> dict[str, object]:
        return {}


def _not_compiled() -> RuntimeError:
    return RuntimeError("readgate-triton-cpu interprets kernels, it compiles none: set TRITON_INTERPRET=1")
