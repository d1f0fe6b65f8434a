"""An upstream's whole answer taken apart: its texts for the checks, its headers for the caller. Pure; asks nobody."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from canvas import JSON
from guards.checks import Stage
from guards.dialects.chat import answer_details, answer_segments, failure_texts, parse_answer
from guards.dialects.chat_stream import ChatAssembler
from guards.errors import InvalidAnswer
from guards.transcript import Detail, Segment

FIRST_ERROR_STATUS: Final = 400
_CONTENT_TYPE: Final = "content-type"
_HEADERS: Final = frozenset({_CONTENT_TYPE, "retry-after", "retry-after-ms", "x-request-id", "x-should-retry"})
_HEADER_FAMILIES: Final = ("openai-", "x-ratelimit-", "ratelimit", "anthropic-ratelimit-")


@dataclass(frozen=True, slots=True)
class HeldAnswer:
    """A whole answer and what is in it; `fault` says why its texts could not be found."""

    body: bytes
    segments: tuple[Segment, ...] = ()
    details: tuple[Detail, ...] = ()
    usage: JSON = None
    fault: str = ""


def take_apart(body: bytes, *, status: int, streamed: bool, choices: int) -> HeldAnswer:
    """What cannot be taken apart is a fault, not an exception: its bytes may yet be allowed. They are one detail."""
    try:
        if streamed:
            assembler = ChatAssembler(choices=choices)
            assembler.feed(body)
            assembler.close()
            return HeldAnswer(body, assembler.segments, assembler.details, assembler.usage)
        if status >= FIRST_ERROR_STATUS:
            return HeldAnswer(body, *failure_texts(body))
        answer = parse_answer(body)
        usage = answer.get("usage") if isinstance(answer, Mapping) else None
        return HeldAnswer(body, answer_segments(answer), answer_details(answer), usage)
    except InvalidAnswer as error:
        whole = Detail("the body", body.decode("utf-8", "replace"), Stage.RESPONSE)
        return HeldAnswer(body, details=(whole,), fault="" if status >= FIRST_ERROR_STATUS else str(error))


def is_stream(headers: Mapping[str, str]) -> bool:
    """Whether the answer says that it is made of events."""
    return headers.get(_CONTENT_TYPE, "").lower().startswith("text/event-stream")


def passed_back(headers: Mapping[str, str]) -> dict[str, str]:
    """The upstream's headers that the caller gets: those a client of the API acts on, and no others.

    What is not known could be a text, or read as a verdict of ours.
    """
    named = ((name.lower(), value) for name, value in headers.items())
    kept = {name: value for name, value in named if name in _HEADERS or name.startswith(_HEADER_FAMILIES)}
    if "x-request-id" in kept:
        kept["x-upstream-request-id"] = kept.pop("x-request-id")
    return kept


def header_details(headers: Mapping[str, str]) -> tuple[Detail, ...]:
    """What rules look at of the headers passed back."""
    return tuple(
        Detail(f"the header {name}", value, Stage.RESPONSE) for name, value in headers.items() if name != _CONTENT_TYPE
    )
