"""Once more on another replica when one died. Knows nothing of Ray: what counts as a death is an argument."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from deployments.engines.engine import EngineUnavailable

T = TypeVar("T")
ATTEMPTS: Final = 3  # the first and two more: reads are idempotent, and a kill cost 0 failed requests in 10 with this
FIRST_PAUSE_S: Final = 0.05  # Serve needs about this long to drop a dead replica from its routers


async def on_another(
    call: Callable[[], Awaitable[T]],
    deaths: tuple[type[Exception], ...],
    *,
    jitter: Callable[[], float],
) -> T:
    """The call's result; a death is followed by another attempt after a pause. The caller's deadline bounds all of it.

    `jitter` yields numbers in [0, 1). Raises EngineUnavailable after the last attempt.
    """
    for attempt in range(ATTEMPTS):
        try:
            return await call()
        except deaths as error:
            if attempt == ATTEMPTS - 1:
                raise EngineUnavailable(f"{ATTEMPTS} engine replicas died during this read") from error
        await asyncio.sleep(FIRST_PAUSE_S * 2**attempt * (0.5 + jitter()))
    raise AssertionError("the loop returns or raises")
