"""Server-sent events from bytes cut anywhere (the WHATWG rules). Knows nothing of what the events say."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_BOM: Final = b"\xef\xbb\xbf"
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Event:
    """One dispatched event; `comments` are the comment lines since the last one, `settings` what else was said.

    Settings are the values of `event:`, `id:` and `retry:`, also of events without data, which a browser drops.
    """

    data: str
    name: str = ""
    comments: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


class SseParser:
    """Feed bytes, take events. Raises ValueError for bytes that are not UTF-8."""

    def __init__(self) -> None:
        self._held: list[bytes] = []  # of a line that has not ended yet
        self._started = False
        self._data: list[str] = []
        self._name = ""
        self._comments: list[str] = []
        self._settings: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The events that this chunk completes."""
        waits = self._started and b"\n" not in chunk and b"\r" not in chunk
        if waits and not (self._held and self._held[-1].endswith(b"\r")):
            self._held.append(chunk)
            return
        buffer = b"".join((*self._held, chunk))
        if not self._started:
            if len(buffer) < len(_BOM) and _BOM.startswith(buffer):
                self._held = [buffer]
                return
            buffer = buffer.removeprefix(_BOM)
            self._started = True
        yield from self._lines(buffer, final=False)

    def close(self) -> Iterator[Event]:
        """What a stream that ends without its last blank line still holds. Stricter than a browser: it is read."""
        yield from self._lines(b"".join(self._held), final=True)
        if self._data or self._comments or self._settings:
            yield self._dispatch()

    def _lines(self, buffer: bytes, *, final: bool) -> Iterator[Event]:
        start = 0
        self._held = []
        for end in _LINE_END.finditer(buffer):
            # A carriage return at the very end may be half of a line ending: wait for the next byte.
            if not final and end.end() == len(buffer) and end[0] == b"\r":
                break
            event = self._line(buffer[start : end.start()].decode("utf-8"))
            start = end.end()
            if event is not None:
                yield event
        if final and start < len(buffer):
            event = self._line(buffer[start:].decode("utf-8"))
            if event is not None:
                yield event
        elif start < len(buffer):
            self._held = [buffer[start:]]

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
                self._settings.append(value)
            case "id" | "retry":
                self._settings.append(value)
            case _:
                self._comments.append(line)  # a field nobody defined: kept as text, so that it is read
        return None

    def _reset(self) -> None:
        self._name = ""

    def _dispatch(self) -> Event:
        event = Event("\n".join(self._data), self._name, tuple(self._comments), tuple(self._settings))
        self._data, self._name, self._comments, self._settings = [], "", [], []
        return event
