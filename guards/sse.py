"""Server-sent events from bytes cut anywhere (the WHATWG rules). Knows nothing of what the events say."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One dispatched event; `comments` are the comment lines since the last one."""

    data: str
    name: str = ""
    comments: tuple[str, ...] = ()


class SseParser:
    """Feed bytes, take events. Raises ValueError for bytes that are not UTF-8."""

    def __init__(self) -> None:
        self._buffer = b""
        self._started = False
        self._data: list[str] = []
        self._name = ""
        self._comments: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The events that this chunk completes."""
        self._buffer += chunk
        if not self._started:
            if len(self._buffer) < len(_BOM) and _BOM.startswith(self._buffer):
                return
            self._buffer = self._buffer.removeprefix(_BOM)
            self._started = True
        yield from self._lines(final=False)

    def close(self) -> Iterator[Event]:
        """What a stream that ends without its last blank line still holds. Stricter than a browser: it is read."""
        yield from self._lines(final=True)
        if self._data or self._comments:
            yield self._dispatch()

    def _lines(self, *, final: bool) -> Iterator[Event]:
        start = 0
        buffer = self._buffer
        while start < len(buffer):
            ends = [end for end in (buffer.find(b"\n", start), buffer.find(b"\r", start)) if end >= 0]
            end = min(ends, default=len(buffer))
            at_end = end == len(buffer)
            # A carriage return at the very end may be half of a line ending: wait for the next byte.
            if not final and (at_end or (buffer[end : end + 1] == b"\r" and end + 1 == len(buffer))):
                break
            line = buffer[start:end].decode("utf-8")
            start = end + (2 if buffer[end : end + 2] == b"\r\n" else 1)
            event = self._line(line)
            if event is not None:
                yield event
        self._buffer = buffer[start:]

    def _line(self, line: str) -> Event | None:
        if not line:
            return self._dispatch() if self._data else self._reset()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match field:
            case "":
                self._comments.append(value)
            case "data":
                self._data.append(value)
            case "event":
                self._name = value
            case "id" | "retry":
                pass  # settings of a reconnecting browser
            case _:
                self._comments.append(line)  # a field nobody defined: kept as text, so that it is read
        return None

    def _reset(self) -> None:
        self._name = ""

    def _dispatch(self) -> Event:
        event = Event("\n".join(self._data), self._name, tuple(self._comments))
        self._data, self._name, self._comments = [], "", []
        return event
