"""Chat completions in, transcripts out: every text of a request and of an answer. Knows no policies.

A field that is not known here is judged when it holds text: what a model could have been told, or a person be shown,
is read. Only fields that the API defines as identifiers, numbers or settings are left out.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from canvas import JSON, Image
from guards.dialects.strict_json import METADATA, leaves, parse
from guards.errors import InvalidAnswer, InvalidConversation
from guards.policy import Stage
from guards.transcript import Segment, Transcript

MAX_MESSAGES: Final = 4096
LONGEST_TOKEN: Final = 48  # characters; longer is no token of a model but text
MAX_CHOICES: Final = 128  # the API's own limit of n
# Settings of a request that put no words before the model. `tools` and `functions` do, but are the application's own
# definitions: context, not accused as user text.
_SETTINGS: Final = METADATA | frozenset(
    {"model", "messages", "stream", "stream_options", "n", "temperature", "top_p", "max_tokens", "seed", "logprobs"}
    | {"max_completion_tokens", "top_logprobs", "frequency_penalty", "presence_penalty", "logit_bias", "stop", "user"}
    | {"tools", "functions", "tool_choice", "function_call", "parallel_tool_calls", "response_format", "modalities"}
    | {"reasoning_effort", "verbosity", "store", "metadata", "audio", "prompt_cache_key", "safety_identifier"}
    | {"prompt_cache_retention"}
)
_CONTEXT_ROLES: Final = frozenset({"system", "developer"})
_ROLES: Final = _CONTEXT_ROLES | {"user", "assistant", "tool", "function"}
_REASONING: Final = ("reasoning_content", "reasoning")
_MESSAGE_FIELDS: Final = METADATA | {"content", "name", "refusal", "tool_calls", "function_call", "audio", *_REASONING}
_ANSWER_FIELDS: Final = METADATA | {"choices"}
_CHOICE_FIELDS: Final = METADATA | {"message", "delta", "logprobs"}
_IMAGE_TYPES: Final = frozenset({"image/png", "image/jpeg"})


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What the proxy must know of a request; `fields` is the whole body."""

    model: str
    stream: bool
    include_usage: bool
    choices: int
    transcript: Transcript
    fields: Mapping[str, JSON]


def parse_request(body: bytes) -> ChatRequest:
    """Raises InvalidConversation for anything in which a text could stand unread."""
    try:
        value = parse(body, requests=True)
    except ValueError as error:
        raise InvalidConversation(None, f"the body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidConversation(None, "the body must be a JSON object")
    fields = value
    model = fields.get("model")
    if not isinstance(model, str) or not model:
        raise InvalidConversation("model", "model: must be the name of a model")
    stream = fields.get("stream")
    if stream is not None and not isinstance(stream, bool):
        raise InvalidConversation("stream", "stream: must be true or false")
    options = fields.get("stream_options")
    if options is not None and not isinstance(options, dict):
        raise InvalidConversation("stream_options", "stream_options: must be an object")
    choices = fields.get("n")
    if choices is None:
        choices = 1
    if not isinstance(choices, int) or isinstance(choices, bool) or not 1 <= choices <= MAX_CHOICES:
        raise InvalidConversation("n", f"n: must be a whole number from 1 to {MAX_CHOICES}")
    include_usage = isinstance(options, dict) and options.get("include_usage") is True
    return ChatRequest(model, stream is True, include_usage, choices, request_transcript(fields), fields)


def request_transcript(fields: Mapping[str, JSON]) -> Transcript:
    """Every text of a request's messages and of its unknown fields. Raises InvalidConversation."""
    messages = fields.get("messages")
    if not isinstance(messages, list) or not messages:
        raise InvalidConversation("messages", "messages: must be a list of one or more messages")
    if len(messages) > MAX_MESSAGES:
        raise InvalidConversation("messages", f"messages: {len(messages)}, at most {MAX_MESSAGES} are read")
    segments: list[Segment] = []
    for key, value in fields.items():
        if key not in _SETTINGS:
            segments.extend(_unknown(key, value, Stage.REQUEST, 0))
    for turn, message in enumerate(messages):
        segments.extend(_request_message(message, turn, last=turn == len(messages) - 1))
    return Transcript(tuple(segments))


def parse_answer(body: bytes) -> JSON:
    """An answer that was not streamed. Raises InvalidAnswer."""
    try:
        return parse(body, requests=False)
    except ValueError as error:
        raise InvalidAnswer(f"the upstream's answer is not JSON: {error}") from error


def answer_segments(answer: JSON) -> tuple[Segment, ...]:
    """Every text of every choice, and of every field that is not known. Raises InvalidAnswer."""
    if not isinstance(answer, dict):
        raise InvalidAnswer("the upstream's answer is not an object")
    fields = answer
    choices = fields.get("choices")
    if choices is None and fields.get("error") is not None:
        return ()  # the upstream's own failure, passed on as itself: no model's text
    if not isinstance(choices, list):
        raise InvalidAnswer("the upstream's answer has no choices")
    segments: list[Segment] = []
    for key, value in fields.items():
        if key not in _ANSWER_FIELDS:
            segments.extend(_unknown(key, value, Stage.RESPONSE, 0))
    for index, choice in enumerate(choices):
        if not isinstance(choice, dict):
            raise InvalidAnswer(f"choices[{index}] is not an object")
        segments.extend(_choice(choice, f"choices[{index}]"))
    return tuple(segments)


def _request_message(message: JSON, turn: int, *, last: bool) -> Iterator[Segment]:
    where = f"messages[{turn}]"
    if not isinstance(message, dict):
        raise InvalidConversation(where, f"{where}: must be an object")
    fields = message
    role = fields.get("role")
    if not isinstance(role, str):
        raise InvalidConversation(f"{where}.role", f"{where}.role: must be a text")
    if role not in _ROLES:
        raise InvalidConversation(f"{where}.role", f"{where}.role: {role!r} is none of {', '.join(sorted(_ROLES))}")
    stage: Stage | None = Stage.REQUEST
    if role in {"tool", "function"}:
        stage = Stage.TOOL_RESULT
    elif role != "user" and not last:  # the last message is always judged, whatever its role claims
        stage = None
    try:
        for segment in _message(fields, role, where, stage, turn):
            tool_call = segment.stage is Stage.TOOL_CALL
            yield Segment(
                segment.role,
                segment.where,
                segment.text,
                stage if tool_call else segment.stage,
                turn,
                replayed=role == "assistant",
                system=role in _CONTEXT_ROLES,
                images=segment.images,
                unseen=segment.unseen,
            )
    except InvalidAnswer as error:
        raise InvalidConversation(where, str(error)) from error


def _choice(choice: Mapping[str, JSON], where: str) -> Iterator[Segment]:
    spoken: list[str] = []
    for key in ("message", "delta"):
        message = choice.get(key)
        if message is None:
            continue
        if not isinstance(message, dict):
            raise InvalidAnswer(f"{where}.{key} is not an object")
        for segment in _message(message, "assistant", f"{where}.{key}", Stage.RESPONSE, 0):
            spoken.append(segment.text)
            yield segment
    for key, value in choice.items():
        if key not in _CHOICE_FIELDS:
            yield from _unknown(f"{where}.{key}", value, Stage.RESPONSE, 0)
    yield from _logprobs(choice.get("logprobs"), f"{where}.logprobs", spoken)


def _logprobs(logprobs: JSON, where: str, spoken: Sequence[str]) -> Iterator[Segment]:
    """Token by token the same words again, judged where they differ, and whatever else is too long for a token.

    The alternatives (`top_logprobs`) are single tokens: twenty to each word would bury the answer.
    """
    if not isinstance(logprobs, dict):
        yield from _unknown(where, logprobs, Stage.RESPONSE, 0)
        return
    for name, entries in logprobs.items():
        if not isinstance(entries, list):
            yield from _unknown(f"{where}.{name}", entries, Stage.RESPONSE, 0)
            continue
        tokens = [entry.get("token") if isinstance(entry, dict) else entry for entry in entries]
        words = "".join(token for token in tokens if isinstance(token, str))
        if words and words not in spoken:
            yield Segment("other", f"{where}.{name}", words, Stage.RESPONSE, 0)
        beside = [text for entry in entries for text in leaves(_without(entry, {"token"})) if len(text) > LONGEST_TOKEN]
        if beside:
            yield Segment("other", f"{where}.{name}", "\n".join(beside), Stage.RESPONSE, 0)


def _message(fields: Mapping[str, JSON], role: str, where: str, stage: Stage | None, turn: int) -> Iterator[Segment]:
    """The texts of one message; what a reader sees first comes last. Raises InvalidAnswer."""
    for key in _REASONING:
        if (text := _text(fields.get(key), f"{where}.{key}")) is not None:
            yield Segment(f"{role} reasoning", f"{where}.{key}", text, stage, turn)
    for key, value in fields.items():
        if key not in _MESSAGE_FIELDS:
            yield from _unknown(f"{where}.{key}", value, stage, turn)
    if (name := _text(fields.get("name"), f"{where}.name")) is not None:
        yield Segment(f"{role} name", f"{where}.name", name, stage, turn)
    yield from _content(fields.get("content"), role, f"{where}.content", stage, turn)
    if (refusal := _text(fields.get("refusal"), f"{where}.refusal")) is not None:
        yield Segment(f"{role} refusal", f"{where}.refusal", refusal, stage, turn)
    if (audio := fields.get("audio")) is not None:
        found = "\n".join(leaves(_without(audio, {"data"})))
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
    """Name and arguments as they are; and, where JSON escapes hide texts, those texts. Of any type of tool."""
    found = list(leaves(_without(call, METADATA)))
    if found:
        yield Segment(f"{role} tool call", where, "\n".join(found), Stage.TOOL_CALL, turn)
    decoded: list[str] = []
    for text in found:
        if "\\" in text:
            try:
                decoded.extend(leaves(parse(text, requests=False)))
            except ValueError:
                continue  # not JSON after all: it has been taken as it is
    if decoded:
        yield Segment(f"{role} tool call, decoded", where, "\n".join(decoded), Stage.TOOL_CALL, turn)


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
        match fields.get("type"):
            case "text" | "refusal" | "thinking" | "reasoning":
                yield Segment(role, place, "\n".join(_plain(fields)), stage, turn)
            case "image_url":
                yield _image(fields, role, place, stage, turn)
            case kind:
                known = kind if kind in {"input_audio", "file", "video_url"} else "a part of an unknown type"
                text = "\n".join(leaves(_without(fields, METADATA | {"input_audio", "file"})))
                yield Segment(role, place, text, stage, turn, unseen=str(known))


def _plain(part: Mapping[str, JSON]) -> Sequence[str]:
    """The texts of a part without the names of its fields."""
    return [text for key, value in part.items() if key not in METADATA for text in leaves(value)]


def _image(part: Mapping[str, JSON], role: str, where: str, stage: Stage | None, turn: int) -> Segment:
    """A PNG or JPEG in the message is shown to the reader; anything else is named as unseen."""
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str):
        raise InvalidAnswer(f"{where}.image_url.url: must be a text")
    text = "\n".join(leaves(_without(part, METADATA | {"image_url"})))
    head, _, data = url.partition(",")
    media_type = head.removeprefix("data:").removesuffix(";base64")
    if head == url or not head.startswith("data:") or media_type not in _IMAGE_TYPES:
        return Segment(role, where, text, stage, turn, unseen="an image that is no PNG or JPEG data URL")
    try:
        decoded = base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise InvalidAnswer(f"{where}.image_url.url: not base64: {error}") from error
    return Segment(role, where, text, stage, turn, images=(Image(media_type, decoded),))


def _without(value: JSON, keys: AbstractSet[str]) -> JSON:
    return {key: inner for key, inner in value.items() if key not in keys} if isinstance(value, Mapping) else value


def _unknown(where: str, value: JSON, stage: Stage | None, turn: int) -> Iterator[Segment]:
    text = "\n".join(leaves(value))
    if text:
        yield Segment("other", where, text, stage, turn)


def _text(value: JSON, where: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, (str, dict, list)):
        raise InvalidAnswer(f"{where}: must be a text")
    return "\n".join(leaves(value))
