"""System One requests: the wire's questions to ours, its assets to images. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, assert_never
from urllib.parse import quote

from canvas import Choice, Option, Predicate, Question, ReadOptions, Score, State, render
from deployments.bodies import Part
from deployments.dialects.images import checked_image, from_base64, place_images
from deployments.dialects.systemone_wire import (
    BatchRequest,
    BoxQuestion,
    ChoiceQuestion,
    NoulCriteria,
    NoulQuestion,
    ScoreQuestion,
    SystemOneRequest,
    WireQuestion,
)
from deployments.dialects.wire_types import findings_for, validated
from deployments.errors import BadRequest, Finding, InvalidBody
from deployments.limits import Limits


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
