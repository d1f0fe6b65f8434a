"""Bytes of a request: bounded before and after decompression, split exactly, refused by name."""

from collections.abc import AsyncIterator

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from deployments.bodies import Body, Part, read_body
from deployments.errors import BadRequest, Fault, InvalidBody, TooLarge, UnsupportedType
from deployments.limits import Limits

LIMITS = Limits(body_bytes=1000, multipart_bytes=8000)
MULTIPART = "multipart/form-data; boundary=b0"


async def stream(data: bytes, size: int = 100) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


async def read(data: bytes, **headers: str) -> Body:
    return await read_body({name.replace("_", "-"): value for name, value in headers.items()}, stream(data), LIMITS)


def form(*parts: tuple[str, bytes]) -> bytes:
    lines = [
        b'--b0\r\nContent-Disposition: form-data; name="%s"; filename="%s"\r\nContent-Type: image/png\r\n\r\n%s\r\n'
        % (name.encode(), name.encode(), data)
        for name, data in parts
    ]
    return b"".join(lines) + b"--b0--\r\n"


@given(st.binary(max_size=1000))
async def test_zstd_and_plain_bodies_arrive_alike(data: bytes) -> None:
    assert (await read(data)).json == data
    assert (await read(zstandard.compress(data), content_encoding="zstd")).json == data


@given(st.binary(max_size=500), st.binary(max_size=500).filter(lambda data: b"--b0" not in data))
async def test_parts_arrive_byte_for_byte(request: bytes, image: bytes) -> None:
    if b"--b0" in request:
        return
    body = await read(form(("request", request), ("asset-0", image)), content_type=MULTIPART)
    assert body == Body(request, (Part("asset-0", "image/png", image),))


async def test_a_whole_multipart_body_may_be_compressed() -> None:
    data = zstandard.compress(form(("request", b"{}"), ("asset-0", b"\x89PNG")))
    body = await read(data, content_type=MULTIPART, content_encoding="zstd")
    assert [part.data for part in body.parts] == [b"\x89PNG"]


REFUSED: list[tuple[bytes, dict[str, str], type[Fault], str]] = [
    (b"x" * 1001, {}, TooLarge, "larger than"),
    (b"x", {"content_length": "9000"}, TooLarge, "larger than"),
    (zstandard.compress(b"x" * 100_000), {"content_encoding": "zstd"}, TooLarge, "larger than"),
    (zstandard.compress(b"x" * 900) * 2, {"content_encoding": "zstd"}, TooLarge, "larger than"),
    (b"not zstd", {"content_encoding": "zstd"}, BadRequest, "not valid zstd"),
    (b"{}", {"content_encoding": "gzip"}, UnsupportedType, "gzip is not supported; send identity or zstd"),
    (b"{}", {"content_type": "text/plain"}, UnsupportedType, "text/plain is not supported"),
    (b"{}", {"content_type": "multipart/form-data"}, BadRequest, "without a boundary"),
    (form(("request", b"{}"))[:-8], {"content_type": MULTIPART}, BadRequest, "ends before its closing boundary"),
    (form(("asset-0", b"")), {"content_type": MULTIPART}, InvalidBody, "exactly one part named 'request'"),
    (form(("request", b""), ("request", b"")), {"content_type": MULTIPART}, InvalidBody, "got 2"),
    (form(("request", b"x" * 1001)), {"content_type": MULTIPART}, TooLarge, "larger than"),
    (form(*[("request", b"")] * 65), {"content_type": MULTIPART}, TooLarge, "at most 64 parts"),
    (b"nonsense", {"content_type": MULTIPART}, BadRequest, "malformed"),
]


@pytest.mark.parametrize(
    ("data", "headers", "error", "reason"), REFUSED, ids=[f"{index} {row[3]}" for index, row in enumerate(REFUSED)]
)
async def test_what_cannot_be_read_is_refused_by_name(
    data: bytes, headers: dict[str, str], error: type[Fault], reason: str
) -> None:
    with pytest.raises(error, match=reason):
        await read(data, **headers)
