"""One message of a chat completion to its texts: parts, reasoning, refusals, tool calls, pictures. Knows no body.

Requests and answers share it: what a message may hold is the same for both.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from canvas import JSON, Image
from guards.checks import Stage
from guards.dialects.chat_words import place
from guards.dialects.json_texts import METADATA, leaves, unknown_segments, without
from guards.errors import InvalidAnswer
from guards.rules.escapes import hides_letters, unescaped
from guards.transcript import Segment

_REASONING: Final = ("reasoning_content", "reasoning")
_MESSAGE_FIELDS: Final = METADATA | {"content", "name", "refusal", "tool_calls", "function_call", "audio", *_REASONING}
_ARGUMENTS: Final = frozenset({"arguments", "input"})
_IMAGE_TYPES: Final = frozenset({"image/png", "image/jpeg"})


def message_segments(
    fields: Mapping[str, JSON], role: str, where: str, stage: Stage | None, turn: int
) -> Iterator[Segment]:
    """The texts of one message; what a reader sees first comes last. Raises InvalidAnswer."""
    for key in _REASONING:
        if (text := _text(fields.get(key), f"{where}.{key}")) is not None:
            yield Segment(f"{role} reasoning", f"{where}.{key}", text, stage, turn)
    for key, value in fields.items():
        if key not in _MESSAGE_FIELDS:
            yield from unknown_segments(place(where, key), value, stage, turn)
    if (name := _text(fields.get("name"), f"{where}.name")) is not None:
        yield Segment(f"{role} name", f"{where}.name", name, stage, turn)
    yield from _content(fields.get("content"), role, f"{where}.content", stage, turn)
    if (refusal := _text(fields.get("refusal"), f"{where}.refusal")) is not None:
        yield Segment(f"{role} refusal", f"{where}.refusal", refusal, stage, turn)
    if (audio := fields.get("audio")) is not None:
        found = "\n".join(leaves(without(audio, {"data"})))
        yield Segment(role, f"{where}.audio", found, stage, turn, unseen="audio")
    yield from _tool_calls(fields, role, where, turn)


def _tool_calls(fields: Mapping[str, JSON], role: str, where: str, turn: int) -> Iterator[Segment]:
    calls = fields.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise InvalidAnswer(f"{where}.tool_calls: must be a list")
    for index, call in enumerate(calls or []):
        yield from _tool_call(call, role, f"{where}.tool_calls[{index}]", turn)
    if (call := fields.get("function_call")) is not None:
        yield from _tool_call(call, role, f"{where}.function_call", turn)


def _tool_call(call: JSON, role: str, where: str, turn: int) -> Iterator[Segment]:
    """Name and arguments as they are; and, where escapes hide letters, as they are meant. Of any type of tool."""
    found = list(leaves(_written(without(call, METADATA))))
    if found:
        yield Segment(f"{role} tool call", where, "\n".join(found), Stage.TOOL_CALL, turn)
    for text in found:
        meant = [copy.text for copy in unescaped(text)] if hides_letters(text) else []
        if meant:
            yield Segment(f"{role} tool call, decoded", where, meant[-1], Stage.TOOL_CALL, turn)


def _written(call: JSON) -> JSON:
    """Arguments that are no text, as the JSON they are: their keys and numbers say what is asked for."""
    if isinstance(call, Mapping):
        return {
            key: json.dumps(inner, ensure_ascii=False)
            if key in _ARGUMENTS and isinstance(inner, Mapping | list)
            else _written(inner)
            for key, inner in call.items()
        }
    return call


def _content(content: JSON, role: str, where: str, stage: Stage | None, turn: int) -> Iterator[Segment]:
    if content is None:
        return
    if isinstance(content, str):
        yield Segment(role, where, content, stage, turn)
        return
    if not isinstance(content, list):
        raise InvalidAnswer(f"{where}: must be a text, a list of parts or null")
    for index, part in enumerate(content):
        place = f"{where}[{index}]"
        if not isinstance(part, dict):
            raise InvalidAnswer(f"{place}: must be an object")
        fields = part
        kind = fields.get("type")
        if not isinstance(kind, str):
            raise InvalidAnswer(f"{place}.type: must be a text")
        match kind:
            case "text" | "refusal" | "thinking" | "reasoning":
                yield Segment(role, place, "\n".join(_plain(fields)), stage, turn)
            case "image_url":
                yield _image(fields, role, place, stage, turn)
            case _:
                known = kind if kind in {"input_audio", "file", "video_url"} else "a part of an unknown type"
                text = "\n".join(leaves(without(fields, METADATA | {"input_audio", "file"})))
                yield Segment(role, place, text, stage, turn, unseen=known)


def _plain(part: Mapping[str, JSON]) -> Sequence[str]:
    """The texts of a part without the names of its fields."""
    return [text for key, value in part.items() if key not in METADATA for text in leaves(value)]


def _image(part: Mapping[str, JSON], role: str, where: str, stage: Stage | None, turn: int) -> Segment:
    """A PNG or JPEG in the message is shown to the reader; anything else is named as unseen."""
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str):
        raise InvalidAnswer(f"{where}.image_url.url: must be a text")
    text = "\n".join(leaves(without(part, METADATA | {"image_url"})))
    head, _, data = url.partition(",")
    media_type = head.removeprefix("data:").removesuffix(";base64")
    if head == url or not head.startswith("data:") or media_type not in _IMAGE_TYPES:
        return Segment(role, where, text, stage, turn, unseen="an image that is no PNG or JPEG data URL")
    try:
        decoded = base64.b64decode(data, validate=True)
    except ValueError as error:  # also for a character that is not ASCII
        raise InvalidAnswer(f"{where}.image_url.url: not base64: {error}") from error
    return Segment(role, where, text, stage, turn, images=(Image(media_type, decoded),))


def _text(value: JSON, where: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, (str, dict, list)):
        raise InvalidAnswer(f"{where}: must be a text")
    return "\n".join(leaves(value))
