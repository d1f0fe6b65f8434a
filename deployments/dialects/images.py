"""Pictures in a request: where each stands in the state, and whether it may be decoded at all.

Only headers are parsed here; nothing is decompressed (a picture of 2 kB can claim 10 GB of pixels).
"""

import base64
import binascii
import io
import json
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

from PIL import Image as Picture
from PIL import UnidentifiedImageError

from canvas import Image, State, render
from deployments.errors import BadRequest, TooLarge
from deployments.limits import MIB, Limits

Json = Any  # a JSON value, already parsed and checked
_BOMBS: Final = (Picture.DecompressionBombError, Picture.DecompressionBombWarning)
_FORMATS: Final = {"PNG": "image/png", "JPEG": "image/jpeg"}
_DATA_URL: Final = re.compile(r"data:image/(?:png|jpe?g);base64,", re.IGNORECASE)


def checked_image(data: bytes, name: str, limits: Limits) -> Image:
    """A PNG or JPEG within the limits, judged by its header alone. `name` says which in errors."""
    if len(data) > limits.image_bytes:
        raise TooLarge(f"image {name!r} is larger than {limits.image_bytes / MIB:g} MiB")
    try:
        with Picture.open(io.BytesIO(data), formats=tuple(_FORMATS)) as picture:
            kind, (width, height) = picture.format, picture.size
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, *_BOMBS) as error:
        raise BadRequest(f"image {name!r} is not a readable PNG or JPEG") from error
    if max(width, height) > limits.image_side_px:
        raise BadRequest(f"image {name!r} is {width} x {height} pixels; the limit is {limits.image_side_px} a side")
    return Image(_FORMATS[kind or ""], data)


def from_base64(text: str, name: str, limits: Limits) -> Image:
    """An image from base64 text."""
    if len(text) * 3 // 4 > limits.image_bytes + 2:
        raise TooLarge(f"image {name!r} is larger than {limits.image_bytes / MIB:g} MiB")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadRequest(f"image {name!r} is not valid base64") from error
    return checked_image(data, name, limits)


def from_data_url(url: str, name: str, limits: Limits) -> Image:
    """An image from a data URL. Addresses are refused: this server fetches nothing on a client's word."""
    found = _DATA_URL.match(url)
    if found is None:
        raise BadRequest("image_url must be a data URL of a PNG or JPEG in base64; this server fetches no addresses")
    return from_base64(url[found.end() :], name, limits)


def place_images(content: Json, images: Mapping[str, Image], limits: Limits) -> State:
    """The state as text with each image where it stands: an Image among the values, or its name inside any string.

    Names in object keys are text. Raises BadRequest for a named image that stands nowhere, or too many images.
    """
    placer = _Placer(content, images)
    pieces = render(placer.marked(content)).split(placer.mark)  # text, number, text, number, ..., text
    unplaced = next((name for name in images if name not in placer.named), None)
    if unplaced is not None:
        raise BadRequest(f"asset {unplaced!r} is not referenced in the state")
    if len(placer.shown) > limits.images:
        raise BadRequest(f"the state shows {len(placer.shown)} images; the limit is {limits.images}")
    parts = [placer.shown[int(piece)] if index % 2 else piece for index, piece in enumerate(pieces)]
    return State(tuple(part for part in parts if part != "") or ("",))


class _Placer:
    """Marks each showing of an image by a run of letters that the content does not hold: splitting is exact."""

    def __init__(self, content: Json, images: Mapping[str, Image]) -> None:
        self.shown: list[Image] = []
        self.named: set[str] = set()
        self.mark = "image"
        text = json.dumps(content, ensure_ascii=False, default=lambda _: "")
        while self.mark in text:
            self.mark += "e"
        self._images = images
        longest_first = sorted(images, key=len, reverse=True)
        self._pattern = re.compile("|".join(re.escape(name) for name in longest_first)) if images else None

    def marked(self, content: Json) -> Json:
        match content:
            case str():
                return self._pattern.sub(self._named, content) if self._pattern else content
            case Image():
                return self._show(content)
            case list():
                return [self.marked(item) for item in cast("list[Json]", content)]
            case dict():
                return {key: self.marked(item) for key, item in cast("dict[str, Json]", content).items()}
            case _:
                return content

    def _named(self, found: re.Match[str]) -> str:
        self.named.add(found[0])
        return self._show(self._images[found[0]])

    def _show(self, image: Image) -> str:
        self.shown.append(image)
        return f"{self.mark}{len(self.shown) - 1}{self.mark}"


ImageFormat = Literal["png", "jpg", "jpeg"]
