"""System One requests: the wire's questions to ours. `noul` is this dialect's name for a predicate, and lives here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, assert_never
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from canvas import Choice, Option, Predicate, Question, ReadOptions, Score, State, render
from canvas.questions import MAX_OPTIONS
from deployments.bodies import Part
from deployments.dialects.images import ImageFormat, checked_image, from_base64, place_images
from deployments.dialects.wire_types import Content, Extensions, Strict, findings_for, validated
from deployments.errors import BadRequest, Finding, InvalidBody
from deployments.limits import Limits

NonEmpty = Annotated[str, Field(min_length=1)]


def _at_most_options(criteria: dict[str, Any]) -> dict[str, Any]:
    """Pydantic's own bound stops counting and says "not more"."""
    if len(criteria) > MAX_OPTIONS:
        msg = "Dictionary should have at most {limit} items after validation, not {count}"
        raise PydanticCustomError("too_long", msg, {"limit": MAX_OPTIONS, "count": len(criteria)})
    return criteria


class NoulCriteria(Strict):
    """What yes and what no mean; either may be absent or null."""

    true: Content | None = None
    false: Content | None = None


class NoulQuestion(Strict):
    """A yes/no question."""

    type: Literal["noul"]
    instructions: Content | None = None
    criteria: NoulCriteria | None = None


class ChoiceQuestion(Strict):
    """One of named options; a description may be null."""

    type: Literal["choice"]
    instructions: Content | None = None
    criteria: Annotated[dict[str, Content | None], Field(min_length=1), AfterValidator(_at_most_options)]


class ScoreQuestion(Strict):
    """Ordered levels, lowest first."""

    type: Literal["score"]
    instructions: Content | None = None
    criteria: Annotated[list[Content], Field(min_length=1, max_length=10)]


class BoxQuestion(BaseModel):
    """Part of the specification and not answered here: known, so that the error can say so."""

    model_config = ConfigDict(frozen=True)
    type: Literal["box"]


WireQuestion = Annotated[NoulQuestion | ChoiceQuestion | ScoreQuestion | BoxQuestion, Field(discriminator="type")]
Questions = Annotated[dict[NonEmpty, WireQuestion], Field(min_length=1)]


class Asset(Strict):
    """An image, inline as base64 or in a part of a multipart body."""

    type: Literal["image"] = "image"
    format: ImageFormat | None = None
    data_base64: str | None = None
    part: str | None = None


class SystemOneRequest(BaseModel):
    """The body. Unknown top-level fields are ignored, as the specification asks, and named in a header."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)
    model: NonEmpty
    state: Content
    questions: Questions
    assets: Annotated[dict[NonEmpty, Asset], Field(min_length=1)] | None = None
    x_readgate: Extensions = Extensions()


class BatchRequest(BaseModel):
    """Our extension: the same questions about several states."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)
    model: NonEmpty | None = None
    states: Annotated[list[Content], Field(min_length=1)]
    questions: Questions
    x_readgate: Extensions = Extensions()


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """What a dialect makes of a body: all that a reader needs."""

    model: str | None
    states: tuple[State, ...]
    questions: tuple[Question, ...]
    options: ReadOptions
    use_cache: bool
    levels: Mapping[str, Sequence[Any]]
    ignored: tuple[str, ...] = ()


_SINGLE_FIELDS: Final = frozenset(SystemOneRequest.model_fields)
_BATCH_FIELDS: Final = frozenset(BatchRequest.model_fields)


def parse_systemone(value: object, parts: Sequence[Part], defaults: ReadOptions, limits: Limits) -> ReadRequest:
    """Raises InvalidBody with every finding, canvas.InvalidQuestion, BadRequest or TooLarge."""
    body = validated(SystemOneRequest, value)
    questions = _questions(body.questions, limits)
    images = _assets(body, parts, limits)
    return ReadRequest(
        model=body.model,
        states=(place_images(body.state, images, limits),),
        questions=questions,
        options=body.x_readgate.over(defaults),
        use_cache=body.x_readgate.cache == "use",
        levels=_levels(body.questions),
        ignored=_ignored(value, _SINGLE_FIELDS),
    )


def parse_batch(value: object, defaults: ReadOptions, limits: Limits) -> ReadRequest:
    """As `parse_systemone`, for many states and no images."""
    body = validated(BatchRequest, value)
    if len(body.states) > limits.batch_states:
        msg = f"List should have at most {limits.batch_states} items after validation, not {len(body.states)}"
        raise findings_for(("states",), msg, "too_long")
    return ReadRequest(
        model=body.model,
        states=tuple(State((render(state),)) for state in body.states),
        questions=_questions(body.questions, limits),
        options=body.x_readgate.over(defaults),
        use_cache=body.x_readgate.cache == "use",
        levels=_levels(body.questions),
        ignored=_ignored(value, _BATCH_FIELDS),
    )


def ignored_header(names: Sequence[str]) -> str:
    """Field names as one header value: percent-encoded, at most 20 of them."""
    shown = ",".join(quote(name[:64], safe="") for name in names[:20])
    return shown if len(names) <= 20 else f"{shown},+{len(names) - 20}"  # noqa: PLR2004 - the bound above


def _ignored(value: object, known: frozenset[str]) -> tuple[str, ...]:
    return tuple(key for key in value if key not in known) if isinstance(value, dict) else ()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _questions(wire: Mapping[str, WireQuestion], limits: Limits) -> tuple[Question, ...]:
    if len(wire) > limits.questions:
        msg = f"Dictionary should have at most {limits.questions} items after validation, not {len(wire)}"
        raise findings_for(("questions",), msg, "too_long")
    boxes = [id_ for id_, question in wire.items() if isinstance(question, BoxQuestion)]
    if boxes:
        msg = "box questions are not supported: a structured read gives probabilities, no positions"
        raise InvalidBody(tuple(Finding(("body", "questions", id_), msg, "unsupported_question") for id_ in boxes))
    return tuple(_question(id_, question) for id_, question in wire.items())


def _question(id_: str, wire: WireQuestion) -> Question:
    match wire:
        case NoulQuestion():
            criteria = wire.criteria or NoulCriteria()
            return Predicate(id_, _text(wire.instructions), yes=_text(criteria.true), no=_text(criteria.false))
        case ChoiceQuestion():
            options = tuple(Option(name, _text(description)) for name, description in wire.criteria.items())
            return Choice(id_, _text(wire.instructions), options)
        case ScoreQuestion():
            return Score(id_, _text(wire.instructions), tuple(_text(level) for level in wire.criteria))
        case BoxQuestion():
            raise AssertionError("refused above")
        case _:
            assert_never(wire)


def _text(content: Any) -> str:  # noqa: ANN401 - Content
    return "" if content is None else render(content)


def _levels(wire: Mapping[str, WireQuestion]) -> dict[str, Sequence[Any]]:
    return {id_: question.criteria for id_, question in wire.items() if isinstance(question, ScoreQuestion)}


def _assets(body: SystemOneRequest, parts: Sequence[Part], limits: Limits) -> dict[str, Any]:
    unclaimed = {part.name: part for part in parts}
    if len(unclaimed) != len(parts):
        raise BadRequest("two parts of the multipart body have the same name")
    assets = body.assets or {}
    if len(assets) > limits.images:
        raise BadRequest(f"the request has {len(assets)} assets; the limit is {limits.images}")
    images: dict[str, Any] = {}
    claimed: set[str] = set()
    for name, asset in assets.items():
        if (asset.data_base64 is None) == (asset.part is None):
            raise BadRequest(f"asset {name!r} needs either data_base64 or part")
        if asset.data_base64 is not None:
            images[name] = from_base64(asset.data_base64, name, limits)
            continue
        wanted = asset.part or ""
        if wanted in claimed:
            raise BadRequest(f"part {wanted!r} is claimed by two assets")
        if wanted not in unclaimed:
            raise BadRequest(f"asset {name!r} claims part {wanted!r}, which the body does not have")
        claimed.add(wanted)
        images[name] = checked_image(unclaimed.pop(wanted).data, name, limits)
    if unclaimed:
        raise BadRequest(f"part {next(iter(unclaimed))!r} is claimed by no asset")
    return images
