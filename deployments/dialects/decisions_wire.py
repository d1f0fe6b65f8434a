"""The body of `POST /v1/decisions` as OpenAI's client (3.57) sends it: pydantic models alone."""

from typing import Annotated, Any, Final, Literal

from pydantic import Discriminator, Field, Tag

from deployments.dialects.wire_types import Extensions, Strict

# Pydantic puts these into the place of a finding; no key of a request looks like them.
TEXT_TAG: Final = "(text)"
PARTS_TAG: Final = "(parts)"
NonEmpty = Annotated[str, Field(min_length=1)]


class CacheBreakpoint(Strict):
    """A hint for OpenAI's prompt cache; ours needs none."""

    mode: Literal["explicit"]


class TextPart(Strict):
    """A text."""

    type: Literal["input_text"]
    text: str
    prompt_cache_breakpoint: CacheBreakpoint | None = None


class ImagePart(Strict):
    """A picture as a data URL."""

    type: Literal["input_image"]
    image_url: str
    detail: Literal["low", "high", "auto", "original"] | None = None
    prompt_cache_breakpoint: CacheBreakpoint | None = None


class JsonPart(Strict):
    """Any JSON value; read with non-ASCII kept."""

    type: Literal["input_json"]
    data: Any
    prompt_cache_breakpoint: CacheBreakpoint | None = None


class OutputTextPart(Strict):
    """What an assistant said."""

    type: Literal["output_text"]
    text: str


class RefusalPart(Strict):
    """What an assistant refused with."""

    type: Literal["refusal"]
    refusal: str


UserPart = Annotated[TextPart | ImagePart | JsonPart, Field(discriminator="type")]
ToolPart = Annotated[TextPart | ImagePart, Field(discriminator="type")]
AssistantPart = Annotated[OutputTextPart | RefusalPart, Field(discriminator="type")]


def _is_text(value: object) -> str:
    return TEXT_TAG if isinstance(value, str) else PARTS_TAG


# A text or a list of parts, told apart before either is validated: one finding, not one for each.
Text = Annotated[str, Tag(TEXT_TAG)]
UserContent = Annotated[Text | Annotated[list[UserPart], Tag(PARTS_TAG)], Discriminator(_is_text)]
TextContent = Annotated[Text | Annotated[list[TextPart], Tag(PARTS_TAG)], Discriminator(_is_text)]
AssistantContent = Annotated[Text | Annotated[list[AssistantPart], Tag(PARTS_TAG)], Discriminator(_is_text)]
ToolContent = Annotated[Text | Annotated[list[ToolPart], Tag(PARTS_TAG)], Discriminator(_is_text)]
Status = Literal["in_progress", "completed", "incomplete"]


class UserMessage(Strict):
    """Texts, images and JSON."""

    role: Literal["user"]
    content: UserContent
    type: Literal["message"] = "message"


class InstructionMessage(Strict):
    """A system or developer message: texts."""

    role: Literal["system", "developer"]
    content: TextContent
    type: Literal["message"] = "message"


class AssistantMessage(Strict):
    """Texts and refusals."""

    role: Literal["assistant"]
    content: AssistantContent
    phase: Literal["commentary", "final_answer"] | None = None
    type: Literal["message"] = "message"


class FunctionCall(Strict):
    """A call with JSON arguments as text."""

    type: Literal["function_call"]
    call_id: NonEmpty
    name: NonEmpty
    arguments: str
    namespace: str | None = None
    id: str | None = None
    status: Status | None = None


class CustomToolCall(Strict):
    """A call with free text."""

    type: Literal["custom_tool_call"]
    call_id: NonEmpty
    name: NonEmpty
    input: str
    namespace: str | None = None
    id: str | None = None
    status: Status | None = None


class ToolOutput(Strict):
    """What a call returned; its call comes before it."""

    type: Literal["function_call_output", "custom_tool_call_output"]
    call_id: NonEmpty
    output: ToolContent
    id: str | None = None
    status: Status | None = None


Message = Annotated[UserMessage | InstructionMessage | AssistantMessage, Field(discriminator="role")]
ToolItem = Annotated[FunctionCall | CustomToolCall | ToolOutput, Field(discriminator="type")]
Item = UserMessage | InstructionMessage | AssistantMessage | FunctionCall | CustomToolCall | ToolOutput


class PredicateQuestion(Strict):
    """How likely a statement about the input is true."""

    type: Literal["predicate"]
    instructions: UserContent
    name: str | None = None


class ChoiceValue(Strict):
    """A typed value: "true" and true are two choices."""

    value: str | bool
    description: str | None = None


class ChoiceQuestion(Strict):
    """One of 2 to 255 unique values."""

    type: Literal["choice"]
    instructions: UserContent
    choices: Annotated[list[ChoiceValue], Field(min_length=2, max_length=255)]
    name: str | None = None


class ScoreLevel(Strict):
    """One level."""

    label: str
    description: str | None = None


class ScoreQuestion(Strict):
    """2 to 10 ordered levels."""

    type: Literal["score"]
    instructions: UserContent
    levels: Annotated[list[ScoreLevel], Field(min_length=2, max_length=10)]
    name: str | None = None


WireQuestion = Annotated[PredicateQuestion | ChoiceQuestion | ScoreQuestion, Field(discriminator="type")]


class CacheOptions(Strict):
    """Hints for OpenAI's prompt cache."""

    mode: Literal["implicit", "explicit"] | None = None
    ttl: Literal["30m"] | None = None


class DecisionRequest(Strict):
    """The body; an unknown field is an error, as with OpenAI. `input`'s items are validated one by one."""

    model: NonEmpty
    input: Annotated[Text | Annotated[list[dict[str, Any]], Tag(PARTS_TAG)], Discriminator(_is_text)]
    questions: Annotated[list[WireQuestion], Field(min_length=1)]
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    prompt_cache_options: CacheOptions | None = None
    x_readgate: Extensions = Extensions()
