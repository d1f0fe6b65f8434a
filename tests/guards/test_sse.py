from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guards.sse import Event, SseParser

RAW = (
    '\ufeff: hello\r\n\r\ndata: {"a": "é漢😀"}\n\nevent: done\rdata: one\rdata:two\r\rid: 7\nretry: 3\ndata\n\n'
    "odd: text\ndata: x\n\ndata: unended"
).encode()
EVENTS = [
    Event('{"a": "é漢😀"}', comments=("hello",)),
    Event("one\ntwo", "done", settings=("done",)),
    Event("x", comments=("odd: text",)),
    Event("unended"),
]


def _parse(pieces: list[bytes]) -> list[Event]:
    parser = SseParser()
    events = [event for piece in pieces for event in parser.feed(piece)]
    return [event for event in [*events, *parser.close()] if event.data]


def test_events_are_read_as_the_standard_says() -> None:
    assert _parse([RAW]) == EVENTS


@given(st.lists(st.integers(0, len(RAW)), max_size=20))
def test_bytes_may_be_cut_anywhere(cuts: list[int]) -> None:
    places = sorted({0, *cuts, len(RAW)})
    assert _parse([RAW[a:b] for a, b in pairwise(places)]) == EVENTS


def test_comments_at_the_end_are_not_lost() -> None:
    parser = SseParser()
    assert list(parser.feed(b": only\n\n")) == []
    assert list(parser.close()) == [Event("", comments=("only",))]


def test_bytes_that_are_no_text_are_an_error() -> None:
    with pytest.raises(UnicodeDecodeError):
        list(SseParser().feed(b"data: \xff\n\n"))


def test_names_and_numbers_of_events_without_data_are_not_lost() -> None:
    parser = SseParser()
    assert list(parser.feed(b"event: a\nid: b\n\nretry: c\n\n")) == []
    assert list(parser.close()) == [Event("", "", settings=("a", "b", "c"))]
