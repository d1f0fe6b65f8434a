"""Chat completions in, transcripts out: every text of a request and of an answer. Knows no policies.

A field that is not known here is judged when it holds text: what a model could have been told, or a person be shown,
is read. Fields that the API defines as identifiers or settings, and all keys, are details: exact rules alone look at
them. Of a request the application's own part (system text, tool definitions, the form asked for) is accused by none.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from canvas import JSON
from guards.checks import Stage
from guards.dialects.chat_details import ChatDetails
from guards.dialects.chat_logprobs import logprobs_segments
from guards.dialects.chat_message import message_segments
from guards.dialects.chat_words import place
from guards.dialects.json_texts import METADATA, unknown_segments
from guards.errors import InvalidAnswer, InvalidConversation
from guards.strict_json import InvalidJson, parse, parse_keeping_all
from guards.transcript import Detail, Segment, Transcript

MAX_MESSAGES: Final = 4096
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
_APPLICATION: Final = frozenset({"tools", "functions", "response_format", "model", "messages"})
_CONTEXT_ROLES: Final = frozenset({"system", "developer"})
_TOOL_ROLES: Final = frozenset({"tool", "function"})
_ROLES: Final = _CONTEXT_ROLES | _TOOL_ROLES | {"user", "assistant"}
_ANSWER_FIELDS: Final = METADATA | {"choices", "error"}
_ERROR_FIELDS: Final = METADATA | {"message", "code", "param", "status"}
_CHOICE_FIELDS: Final = METADATA | {"message", "delta", "logprobs"}


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
        value = parse(body)
    except InvalidJson as error:
        raise InvalidConversation(None, f"the body is not strict JSON: {error}") from error
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
            segments.extend(unknown_segments(place("", key), value, Stage.REQUEST, 0))
    settings = ChatDetails(Stage.REQUEST)
    settings.take({key: value for key, value in fields.items() if key not in _APPLICATION}, "")
    details = [*settings.details()]
    for turn, message in enumerate(messages):
        last = turn == len(messages) - 1
        segments.extend(_request_message(message, turn, last=last))
        if isinstance(message, Mapping) and (last or message.get("role") not in _CONTEXT_ROLES):
            of_message = ChatDetails(Stage.TOOL_RESULT if message.get("role") in _TOOL_ROLES else Stage.REQUEST)
            of_message.take(message, f"messages[{turn}]")
            details.extend(of_message.details())
    return Transcript(tuple(segments), tuple(details))


def parse_answer(body: bytes) -> JSON:
    """An answer that was not streamed. Raises InvalidAnswer."""
    try:
        return parse_keeping_all(body)
    except InvalidJson as error:
        raise InvalidAnswer(f"the upstream's answer is not JSON: {error}") from error


def answer_segments(answer: JSON) -> tuple[Segment, ...]:
    """Every text of every choice, and of every field that is not known. Raises InvalidAnswer."""
    if not isinstance(answer, dict):
        raise InvalidAnswer("the upstream's answer is not an object")
    fields = answer
    choices = fields.get("choices")
    error = fields.get("error")
    if choices is None and error is not None:
        choices = []
    if not isinstance(choices, list):
        raise InvalidAnswer("the upstream's answer has no choices")
    segments: list[Segment] = [*_beside_the_error(error)]
    for key, value in fields.items():
        if key not in _ANSWER_FIELDS:
            segments.extend(unknown_segments(place("", key), value, Stage.RESPONSE, 0))
    for index, choice in enumerate(choices):
        if not isinstance(choice, dict):
            raise InvalidAnswer(f"choices[{index}] is not an object")
        segments.extend(_choice(choice, f"choices[{index}]"))
    return tuple(segments)


def _beside_the_error(error: JSON) -> Iterator[Segment]:
    """An error's own words are the upstream's: details. Whatever else it holds may be a model's."""
    if isinstance(error, Mapping):
        for key, value in error.items():
            if key not in _ERROR_FIELDS:
                yield from unknown_segments(place("error", key), value, Stage.RESPONSE, 0)


def answer_details(answer: JSON) -> tuple[Detail, ...]:
    """Every string and key of an answer, whatever its shape."""
    details = ChatDetails(Stage.RESPONSE)
    details.take(answer, "")
    return details.details()


def failure_texts(body: bytes) -> tuple[tuple[Segment, ...], tuple[Detail, ...]]:
    """What an answer with an error's status holds, whatever its form."""
    try:
        answer = parse_answer(body)
    except InvalidAnswer:
        return (), (Detail("the body", body.decode("utf-8", "replace"), Stage.RESPONSE),)
    fields: dict[str, JSON] = {"error": {}}
    fields.update(answer if isinstance(answer, Mapping) else {"body": answer})
    try:
        return answer_segments(fields), answer_details(answer)
    except InvalidAnswer:
        return tuple(unknown_segments("the body", answer, Stage.RESPONSE, 0)), answer_details(answer)


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
    if role in _TOOL_ROLES:
        stage = Stage.TOOL_RESULT
    elif role != "user" and not last:  # the last message is always judged, whatever its role claims
        stage = None
    try:
        for segment in message_segments(fields, role, where, stage, turn):
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
        for segment in message_segments(message, "assistant", f"{where}.{key}", Stage.RESPONSE, 0):
            spoken.append(segment.text)
            yield segment
    for key, value in choice.items():
        if key not in _CHOICE_FIELDS:
            yield from unknown_segments(place(where, key), value, Stage.RESPONSE, 0)
    yield from logprobs_segments(choice.get("logprobs"), f"{where}.logprobs", spoken)
