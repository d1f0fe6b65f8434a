"""Encoded images to pixels, with their limits checked before anything is decoded. Knows nothing of models."""

from io import BytesIO
from typing import Final

from PIL import Image as Pillow
from PIL import UnidentifiedImageError

from canvas import Image, InvalidState

MAX_PIXELS: Final = 33_554_432
"""8,192 x 4,096: above any camera's picture that matters, as the vision tower shrinks each to under 1 megapixel."""

FORMATS: Final = {"image/png": "PNG", "image/jpeg": "JPEG"}


def decode_picture(image: Image) -> Pillow.Image:
    """An RGB picture. Raises InvalidState for another format, too many pixels, or bytes that are no such image."""
    wanted = FORMATS.get(image.media_type)
    if wanted is None:
        raise InvalidState(f"an image is {image.media_type!r}, only image/png and image/jpeg can be read")
    try:
        with Pillow.open(BytesIO(image.data), formats=[wanted]) as picture:
            width, height = picture.size
            if width * height > MAX_PIXELS:
                raise InvalidState(f"an image has {width * height} pixels, at most {MAX_PIXELS} are decoded")
            return picture.convert("RGB")
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Pillow.DecompressionBombError) as error:
        # What Pillow raises for broken files, by format: SyntaxError is its PNG reader's.
        raise InvalidState(f"an image cannot be decoded as {image.media_type}: {error}") from error
