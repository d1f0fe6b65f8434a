"""Images: every place they come from, every limit, each refused before anything is decoded."""

import base64
import io
import json
import struct
import zlib
from dataclasses import replace
from typing import Any

import httpx
import pytest
from PIL import Image as Picture

from canvas import CanvasPlan
from deployments.engines.scripted_engine import SCRIPTED_CARD, ScriptedEngine
from deployments.limits import Limits
from tests.server import Setup, client

QUESTIONS = {"q": {"type": "noul", "instructions": "Is there a dog?"}}


def picture(kind: str = "PNG", size: tuple[int, int] = (8, 8)) -> bytes:
    out = io.BytesIO()
    Picture.new("RGB", size, "red").save(out, kind)
    return out.getvalue()


def huge_header() -> bytes:
    """A PNG of 57 bytes that claims 60,000 x 60,000 pixels."""
    header = b"IHDR" + struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    return b"\x89PNG\r\n\x1a\n" + chunk + struct.pack(">I", 0) + b"IDAT" + struct.pack(">I", zlib.crc32(b"IDAT"))


def watched() -> tuple[Setup, list[CanvasPlan]]:
    seen: list[CanvasPlan] = []

    def script(plan: CanvasPlan) -> list[list[float]]:
        seen.append(plan)
        return [[0.5, 0.4] for _ in plan.slots]

    return Setup(
        engine=ScriptedEngine(script=script), limits=Limits(image_bytes=4096, image_side_px=512, images=2)
    ), seen


async def ask(setup: Setup, state: Any, assets: dict[str, Any]) -> httpx.Response:  # noqa: ANN401 - JSON
    async with client(setup) as http:
        body = {"model": "jev-latest", "state": state, "questions": QUESTIONS, "assets": assets}
        return await http.post("/v1/systemone", json=body)


def inline(data: bytes, **more: str) -> dict[str, str]:
    return {"data_base64": base64.b64encode(data).decode(), **more}


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
async def test_an_inline_image_stands_where_its_name_stood(kind: str) -> None:
    setup, seen = watched()
    reply = await ask(setup, {"note": "see <img> here"}, {"<img>": inline(picture(kind))})
    assert reply.status_code == 200
    assert [image.data for image in seen[0].images] == [picture(kind)]


async def test_a_name_in_a_key_or_a_number_is_text_and_not_a_place() -> None:
    setup, _ = watched()
    reply = await ask(setup, {"7": 7}, {"7": inline(picture())})
    assert reply.status_code == 400
    assert "'7' is not referenced" in reply.json()["detail"]["message"]


async def test_the_longer_of_two_names_wins() -> None:
    setup, seen = watched()
    small, large = picture(), picture(size=(9, 9))
    reply = await ask(setup, "img2 img", {"img": inline(small), "img2": inline(large)})
    assert reply.status_code == 200
    assert [image.data for image in seen[0].images] == [large, small]


async def test_an_image_is_part_of_what_is_cached() -> None:
    setup, seen = watched()
    async with client(setup) as http:
        for size in ((8, 8), (9, 9), (8, 8)):
            body = {
                "model": "jev-latest",
                "state": "img",
                "questions": QUESTIONS,
                "assets": {"img": inline(picture(size=size))},
            }
            assert (await http.post("/v1/systemone", json=body)).status_code == 200
    assert len(seen) == 2


REFUSED: list[tuple[Any, dict[str, Any], int, str]] = [
    ("no place", {"img": inline(picture())}, 400, "is not referenced"),
    ("img img img", {"img": inline(picture())}, 400, "shows 3 images; the limit is 2"),
    ("img", {"img": inline(b"GIF89a" + b"\0" * 50)}, 400, "not a readable PNG or JPEG"),
    ("img", {"img": inline(picture()[:20])}, 400, "not a readable PNG or JPEG"),
    ("img", {"img": inline(huge_header())}, 400, "img"),
    ("img", {"img": inline(picture(size=(513, 1)))}, 400, "513 x 1 pixels; the limit is 512"),
    ("img", {"img": inline(picture() + b"\0" * 4096)}, 413, "larger than"),
    ("img", {"img": {"data_base64": "***"}}, 400, "not valid base64"),
    ("img", {"img": {"part": "asset-0"}}, 400, "which the body does not have"),
    ("img", {"img": {}}, 400, "either data_base64 or part"),
    ("img", {"img": inline(picture(), part="x")}, 400, "either data_base64 or part"),
    ("img", {"img": inline(picture(), colour="red")}, 422, "Extra inputs"),
    ("img", {}, 422, "at least 1 item"),
    ("abc", {name: inline(picture()) for name in "abc"}, 400, "3 assets; the limit is 2"),
]
IDS = [f"{index} {row[3]}" for index, row in enumerate(REFUSED)]


@pytest.mark.parametrize(("state", "assets", "status", "reason"), REFUSED, ids=IDS)
async def test_a_wrong_asset_is_refused_by_name(state: Any, assets: dict[str, Any], status: int, reason: str) -> None:  # noqa: ANN401
    setup, seen = watched()
    reply = await ask(setup, state, assets)
    assert reply.status_code == status
    assert reason in reply.text
    assert seen == []


async def test_a_model_that_takes_no_images_says_so() -> None:
    card = replace(SCRIPTED_CARD, takes_images=False)
    reply = await ask(Setup(engine=ScriptedEngine(card)), "img", {"img": inline(picture())})
    assert reply.status_code == 422
    assert reply.json()["detail"][0]["loc"] == ["body", "state"]
    assert "takes none" in reply.text


def form(assets: dict[str, Any], *parts: str) -> tuple[bytes, dict[str, str]]:
    request = json.dumps(
        {"model": "jev-latest", "state": "img other", "questions": QUESTIONS, "assets": assets}
    ).encode()
    body = b'--b0\r\nContent-Disposition: form-data; name="request"\r\n\r\n%s\r\n' % request
    for part in parts:
        body += b'--b0\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (part.encode(), picture())
    return body + b"--b0--\r\n", {"content-type": "multipart/form-data; boundary=b0"}


PARTS: list[tuple[dict[str, Any], tuple[str, ...], int, str]] = [
    ({"img": {"part": "p"}}, ("p",), 200, "answers"),
    ({"img": {"part": "p"}, "other": {"part": "p"}}, ("p",), 400, "claimed by two assets"),
    ({"img": {"part": "p"}}, ("p", "q"), 400, "'q' is claimed by no asset"),
    ({"img": {"part": "p"}}, ("p", "p"), 400, "same name"),
]


@pytest.mark.parametrize(("assets", "parts", "status", "reason"), PARTS, ids=[row[3] for row in PARTS])
async def test_each_part_is_claimed_by_exactly_one_asset(
    assets: dict[str, Any], parts: tuple[str, ...], status: int, reason: str
) -> None:
    body, headers = form(assets, *parts)
    async with client(watched()[0]) as http:
        reply = await http.post("/v1/systemone", content=body, headers=headers)
    assert reply.status_code == status
    assert reason in reply.text
