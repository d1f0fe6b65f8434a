"""OpenAI Decisions: a conversation to a state, an array of questions to ours, decisions back. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, assert_never

from pydantic import TypeAdapter, ValidationError

from canvas import Question, ReadOptions, State
from canvas.state import Image
from deployments.dialects.decisions_questions import question_of, refuse
from deployments.dialects.decisions_wire import (
    PARTS_TAG,
    TEXT_TAG,
    AssistantMessage,
    CustomToolCall,
    DecisionRequest,
    FunctionCall,
    ImagePart,
    InstructionMessage,
    Item,
    JsonPart,
    Message,
    OutputTextPart,
    RefusalPart,
    TextPart,
    ToolItem,
    ToolOutput,
    UserMessage,
    WireQuestion,
)
from deployments.dialects.errors import param_of
from deployments.dialects.images import from_data_url, place_images
from deployments.dialects.wire_types import findings_of
from deployments.errors import BadRequest, Finding, InvalidBody, Loc
from deployments.limits import Limits

T = TypeVar("T")
AnyPart = TextPart | ImagePart | JsonPart | OutputTextPart | RefusalPart
_MESSAGE: Final[TypeAdapter[Item]] = TypeAdapter(Message)
_TOOL_ITEM: Final[TypeAdapter[Item]] = TypeAdapter(ToolItem)
_REQUEST: Final[TypeAdapter[DecisionRequest]] = TypeAdapter(DecisionRequest)
_HINTS: Final = ("safety_identifier", "prompt_cache_key", "prompt_cache_options")


@dataclass(frozen=True, slots=True)
class DecisionQuery:
    """What a reader needs, and what the answers are named after."""

    model: str
    state: State
    questions: tuple[Question, ...]
    wire: tuple[WireQuestion, ...]
    options: ReadOptions
    use_cache: bool
    ignored: tuple[str, ...]


def parse_decisions(value: object, defaults: ReadOptions, limits: Limits) -> DecisionQuery:
    """Raises InvalidBody or BadRequest with OpenAI's `param`, or canvas.InvalidQuestion."""
    body = _validate(_REQUEST, value, ())
    if len(body.questions) > limits.questions:
        raise refuse(("questions",), f"at most {limits.questions} questions, got {len(body.questions)}")
    return DecisionQuery(
        model=body.model,
        state=_state(body.input, limits),
        questions=tuple(question_of(index, question) for index, question in enumerate(body.questions)),
        wire=tuple(body.questions),
        options=body.x_readgate.over(defaults),
        use_cache=body.x_readgate.cache == "use",
        ignored=tuple(name for name in _HINTS if getattr(body, name) is not None),
    )


def _validate(adapter: TypeAdapter[T], value: object, loc: tuple[str | int, ...]) -> T:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        found = tuple(
            Finding(_without_tags(("body", *loc, *finding.loc[1:])), finding.msg, finding.type, finding.ctx)
            for finding in findings_of(error)
        )
        raise InvalidBody(found, param=param_of(found[0].loc)) from error


def _without_tags(loc: Loc) -> Loc:
    """Pydantic names the union member inside a place (`questions, 0, choice, choices`); OpenAI does not."""
    kept = (part for index, part in enumerate(loc) if not (index and isinstance(loc[index - 1], int)))
    return tuple(part for part in kept if part not in {TEXT_TAG, PARTS_TAG})


def _state(given: str | list[dict[str, Any]], limits: Limits) -> State:
    """A string is the state itself, and so is a lone user message; a conversation is JSON, which no text can forge."""
    if isinstance(given, str):
        return State((given,))
    if not given:
        raise refuse(("input",), "needs at least one item")
    items = [_item(index, value) for index, value in enumerate(given)]
    _check_calls(items)
    rendered = [_render(item, ("input", index), limits) for index, item in enumerate(items)]
    if len(items) == 1 and isinstance(items[0], UserMessage):
        return place_images(rendered[0]["content"], {}, limits)
    return place_images(rendered, {}, limits)


def _item(index: int, value: dict[str, Any]) -> Item:
    return _validate(_MESSAGE if "role" in value else _TOOL_ITEM, value, ("input", index))


def _check_calls(items: Sequence[Item]) -> None:
    called: set[str] = set()
    for index, item in enumerate(items):
        match item:
            case FunctionCall() | CustomToolCall():
                called.add(item.call_id)
            case ToolOutput() if item.call_id not in called:
                raise refuse(("input", index, "call_id"), f"no call before it has the id {item.call_id!r}")
            case _:
                pass


def _render(item: Item, loc: tuple[str | int, ...], limits: Limits) -> dict[str, Any]:
    """The item as JSON with Image values in it; call ids and statuses say nothing about the text and stay out."""
    match item:
        case UserMessage() | InstructionMessage() | AssistantMessage():
            return {"role": item.role, "content": _content(item.content, (*loc, "content"), limits)}
        case FunctionCall():
            return {"call": item.name, "arguments": item.arguments}
        case CustomToolCall():
            return {"call": item.name, "input": item.input}
        case ToolOutput():
            return {"output": _content(item.output, (*loc, "output"), limits)}
        case _:
            assert_never(item)


def _content(content: str | Sequence[AnyPart], loc: tuple[str | int, ...], limits: Limits) -> Any:  # noqa: ANN401 - JSON
    """One text as a string; anything else as a list."""
    if isinstance(content, str):
        return content
    rendered = [_part(part, (*loc, index), limits) for index, part in enumerate(content)]
    return rendered[0] if len(rendered) == 1 and isinstance(rendered[0], str) else rendered


def _part(part: AnyPart, loc: tuple[str | int, ...], limits: Limits) -> Any:  # noqa: ANN401 - JSON
    match part:
        case TextPart() | OutputTextPart():
            return part.text
        case RefusalPart():
            return {"refusal": part.refusal}
        case JsonPart():
            return part.data
        case ImagePart():
            return _image(part.image_url, f"{param_of(loc)}.image_url", limits)
        case _:
            assert_never(part)


def _image(url: str, param: str, limits: Limits) -> Image:
    try:
        return from_data_url(url, param, limits)
    except BadRequest as error:
        raise BadRequest(error.message, param=param) from error
