"""OpenAI Decisions: one question of the wire to ours, its errors named by its place. Knows no conversation."""

from collections.abc import Sequence
from typing import assert_never

from canvas import Choice, Option, Predicate, Question, Score, render
from deployments.dialects.decisions_wire import (
    ChoiceQuestion,
    ImagePart,
    JsonPart,
    PredicateQuestion,
    ScoreQuestion,
    TextPart,
    WireQuestion,
)
from deployments.dialects.errors import param_of
from deployments.errors import Finding, InvalidBody


def question_of(index: int, wire: WireQuestion) -> Question:
    """Its id is its place, so that an error's param is right; ids never reach the model."""
    id_ = f"questions[{index}]"
    instructions = _instructions(index, wire.instructions)
    match wire:
        case PredicateQuestion():
            return Predicate(id_, instructions)
        case ChoiceQuestion():
            return Choice(id_, instructions, _options(index, wire))
        case ScoreQuestion():
            return Score(id_, instructions, tuple(_described(level.label, level.description) for level in wire.levels))
        case _:
            assert_never(wire)


def _instructions(index: int, parts: str | Sequence[TextPart | ImagePart | JsonPart]) -> str:
    if isinstance(parts, str):
        return parts
    texts: list[str] = []
    for number, part in enumerate(parts):
        match part:
            case TextPart():
                texts.append(part.text)
            case JsonPart():
                texts.append(render(part.data))
            case _:
                loc = ("questions", index, "instructions", number)
                raise refuse(loc, "images are read in the input, not in a question's instructions")
    return "\n".join(texts)


def _options(index: int, wire: ChoiceQuestion) -> tuple[Option, ...]:
    """Choices are typed: `true` and "true" differ on the wire, so they get different names for the model."""
    given = [choice.value for choice in wire.choices]
    if len({(type(value), value) for value in given}) != len(given):
        raise refuse(("questions", index, "choices"), "each choice must be unique")
    texts = {value for value in given if isinstance(value, str)}
    return tuple(Option(_name(choice.value, texts), choice.description or "") for choice in wire.choices)


def _name(value: str | bool, texts: set[str]) -> str:  # noqa: FBT001 - the wire's own type
    if isinstance(value, str):
        return value
    name = "true" if value else "false"
    while name in texts:
        name += " (boolean)"
    return name


def _described(label: str, description: str | None) -> str:
    return f"{label}: {description}" if description else label


def refuse(loc: tuple[str | int, ...], msg: str) -> InvalidBody:
    """One finding, with OpenAI's name of its place."""
    place = ("body", *loc)
    return InvalidBody((Finding(place, msg, "value_error"),), param=param_of(place))
