"""Images are decoded within limits, or refused as the caller's fault."""

import struct
import zlib
from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow

from canvas import Image, InvalidState
from deployments.engines.pictures import MAX_PIXELS, decode_picture


def encoded(media_type: str, mode: str = "RGB") -> Image:
    buffer = BytesIO()
    Pillow.new(mode, (30, 20)).save(buffer, format=media_type.removeprefix("image/").upper())
    return Image(media_type, buffer.getvalue())


@pytest.mark.parametrize(("media_type", "mode"), [("image/png", "RGBA"), ("image/png", "P"), ("image/jpeg", "L")])
def test_any_colour_mode_becomes_rgb(media_type: str, mode: str) -> None:
    picture = decode_picture(encoded(media_type, mode))
    assert (picture.mode, picture.size) == ("RGB", (30, 20))


def test_another_type_is_refused_by_its_name() -> None:
    with pytest.raises(InvalidState, match="image/webp"):
        decode_picture(Image("image/webp", b""))


def test_a_png_that_says_it_is_a_jpeg_is_refused() -> None:
    with pytest.raises(InvalidState, match="image/jpeg"):
        decode_picture(Image("image/jpeg", encoded("image/png").data))


def test_a_bomb_is_refused_by_its_size_before_it_is_decoded() -> None:
    width = MAX_PIXELS // 100 + 1
    header = b"IHDR" + struct.pack(">IIBBBBB", width, 100, 8, 2, 0, 0, 0)
    data = b"IDAT" + zlib.compress(b"")
    chunks = b"".join(
        struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) for chunk in (header, data)
    )
    with pytest.raises(InvalidState, match=f"at most {MAX_PIXELS}"):
        decode_picture(Image("image/png", b"\x89PNG\r\n\x1a\n" + chunks))


@given(st.sampled_from(["image/png", "image/jpeg"]), st.binary(max_size=64), st.integers(0, 200))
def test_broken_bytes_are_the_callers_fault_or_a_picture(media_type: str, noise: bytes, cut: int) -> None:
    data = encoded(media_type).data
    broken = Image(media_type, data[:cut] + noise + data[cut + len(noise) :])
    with suppress(InvalidState):
        assert decode_picture(broken).mode == "RGB"
