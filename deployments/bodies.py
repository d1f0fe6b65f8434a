"""A request's bytes, bounded before and after decompression. Knows no schema and no framework but an ASGI stream."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Final

import zstandard
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from deployments.errors import BadRequest, Finding, InvalidBody, TooLarge, UnsupportedType
from deployments.limits import MIB, Limits

_MAX_WINDOW_BYTES: Final = 8 * MIB  # RFC 8878's recommended minimum support; a larger window is memory for the asking
_MAX_PARTS: Final = 64
_MAX_PART_HEADERS: Final = 8


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a multipart body."""

    name: str
    content_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Body:
    """Decoded bytes: the JSON text, and the named parts that came beside it."""

    json: bytes
    parts: tuple[Part, ...] = ()


async def read_body(headers: Mapping[str, str], chunks: AsyncIterator[bytes], limits: Limits) -> Body:
    """JSON or multipart/form-data, plain or zstd. Raises TooLarge, UnsupportedType, BadRequest or InvalidBody."""
    media_type, options = parse_options_header(headers.get("content-type") or "application/json")
    multipart = media_type == b"multipart/form-data"
    if not multipart and not _is_json(media_type):
        raise UnsupportedType(f"Content-Type {media_type.decode('latin-1')} is not supported; send application/json")
    limit = limits.multipart_bytes if multipart else limits.body_bytes
    raw = await _bounded(headers, chunks, limit)
    encoding = headers.get("content-encoding", "identity").strip().lower() or "identity"
    match encoding:
        case "identity":
            data = raw
        case "zstd":
            data = _unzstd(raw, limit)
        case _:
            raise UnsupportedType(f"Content-Encoding {encoding} is not supported; send identity or zstd")
    if not multipart:
        return Body(data)
    return _split(_parts(data, options.get(b"boundary", b"")), limits)


def _is_json(media_type: bytes) -> bool:
    return media_type == b"application/json" or media_type.endswith(b"+json")


async def _bounded(headers: Mapping[str, str], chunks: AsyncIterator[bytes], limit: int) -> bytes:
    declared = headers.get("content-length", "")
    if declared.isdecimal() and len(declared) < 20 and int(declared) > limit:  # noqa: PLR2004 - 64-bit lengths
        raise _too_large(limit)
    received = bytearray()
    async for chunk in chunks:
        received += chunk
        if len(received) > limit:
            raise _too_large(limit)
    return bytes(received)


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"request body is larger than {limit / MIB:g} MiB")


def _unzstd(raw: bytes, limit: int) -> bytes:
    """At most `limit` bytes of output are ever made, whatever the frame claims.

    A frame that ends early yields what it holds: no whole JSON text and no closing boundary, so it is refused later.
    """
    reader = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_BYTES).stream_reader(raw, read_across_frames=True)
    out = bytearray()
    try:
        while block := reader.read(min(MIB, limit + 1 - len(out))):
            out += block
            if len(out) > limit:
                raise _too_large(limit)
    except zstandard.ZstdError as error:
        raise BadRequest(f"the body is not valid zstd: {error}") from error
    return bytes(out)


class _Collector:
    """Multipart callbacks into parts; the body's size is bounded already."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.ended = False
        self._headers: dict[str, str] = {}
        self._field = bytearray()
        self._value = bytearray()
        self._data = bytearray()

    def on_part_begin(self) -> None:
        if len(self.parts) >= _MAX_PARTS:
            raise TooLarge(f"a multipart body may have at most {_MAX_PARTS} parts")
        self._headers = {}
        self._data = bytearray()

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def on_header_end(self) -> None:
        if len(self._headers) >= _MAX_PART_HEADERS:
            raise BadRequest(f"a part may have at most {_MAX_PART_HEADERS} headers")
        self._headers[self._field.decode("latin-1").lower()] = self._value.decode("latin-1")
        self._field.clear()
        self._value.clear()

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._data += data[start:end]

    def on_part_end(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition", ""))
        name = options.get(b"name")
        if not name:
            raise BadRequest("a part of the multipart body has no name")
        content_type = self._headers.get("content-type", "text/plain")
        self.parts.append(Part(name.decode("utf-8", "replace"), content_type, bytes(self._data)))

    def on_end(self) -> None:
        self.ended = True


def _parts(data: bytes, boundary: bytes) -> list[Part]:
    if not boundary:
        raise BadRequest("multipart/form-data without a boundary")
    collector = _Collector()
    try:
        parser = MultipartParser(
            boundary,
            callbacks={
                "on_part_begin": collector.on_part_begin,
                "on_header_field": collector.on_header_field,
                "on_header_value": collector.on_header_value,
                "on_header_end": collector.on_header_end,
                "on_part_data": collector.on_part_data,
                "on_part_end": collector.on_part_end,
                "on_end": collector.on_end,
            },
        )
        parser.write(data)
        parser.finalize()
    except FormParserError as error:
        raise BadRequest(f"the multipart body is malformed: {error}") from error
    if not collector.ended:
        raise BadRequest("the multipart body ends before its closing boundary")
    return collector.parts


def _split(parts: list[Part], limits: Limits) -> Body:
    requests = [part for part in parts if part.name == "request"]
    if len(requests) != 1:
        finding = Finding(
            ("body", "request"), f"Needs exactly one part named 'request', got {len(requests)}", "missing"
        )
        raise InvalidBody((finding,))
    if len(requests[0].data) > limits.body_bytes:
        raise _too_large(limits.body_bytes)
    return Body(requests[0].data, tuple(part for part in parts if part.name != "request"))
