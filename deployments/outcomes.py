"""What a call to an engine replica returns: reads, or the reason there are none, as a value.

Values, because an exception that crosses processes is logged with a traceback and comes back as another class.
"""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Literal, assert_never

from canvas import CanvasRead, InvalidRead, InvalidState
from deployments.engines.engine import EngineTimeout, EngineUnavailable, Overloaded
from guards.reader import ReadFailed

Reason = Literal["unavailable", "timeout", "overloaded", "invalid_read", "invalid_state"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """No reads, and whose fault it is."""

    reason: Reason
    message: str
    retry_after_s: float = 0.0


Outcome = tuple[CanvasRead, ...] | Refusal


async def outcome_of(call: Awaitable[tuple[CanvasRead, ...]]) -> Outcome:
    """The reads, or what an engine may raise as a Refusal; anything else is a bug and is raised."""
    try:
        return await call
    except Overloaded as error:
        return Refusal("overloaded", str(error), error.retry_after_s or 0.0)
    except EngineTimeout as error:
        return Refusal("timeout", str(error))
    except ReadFailed as error:
        return Refusal("unavailable", str(error))
    except InvalidRead as error:
        return Refusal("invalid_read", str(error))
    except InvalidState as error:
        return Refusal("invalid_state", str(error))


def reads_of(outcome: Outcome) -> tuple[CanvasRead, ...]:
    """The inverse: the reads, or the error raised again on this side."""
    if not isinstance(outcome, Refusal):
        return outcome
    match outcome.reason:
        case "overloaded":
            raise Overloaded(outcome.message, outcome.retry_after_s)
        case "timeout":
            raise EngineTimeout(outcome.message)
        case "unavailable":
            raise EngineUnavailable(outcome.message)
        case "invalid_read":
            raise InvalidRead(outcome.message)
        case "invalid_state":
            raise InvalidState(outcome.message)
        case _:
            assert_never(outcome.reason)
