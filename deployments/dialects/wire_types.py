"""What the dialects' request models share: strict objects, Content, read options, findings from pydantic."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from canvas import ReadOptions
from deployments.errors import Finding, InvalidBody

Model = TypeVar("Model", bound=BaseModel)

MAX_DRAWS: Final = 16  # canvas refuses more; said here so that the error names the field


class Strict(BaseModel):
    """A request object: no coercion, and an unknown key is an error that names it."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


def _content(value: object) -> object:
    if isinstance(value, str | dict | list):
        return value  # pyright: ignore[reportUnknownVariableType] - JSON of any shape, rendered later
    raise PydanticCustomError("content_type", "Input should be a string, an object or an array")


Content = Annotated[Any, BeforeValidator(_content)]
"""System One's `Content`: a string, or JSON rendered with non-ASCII kept. One finding, not one a union member."""


class Extensions(Strict):
    """`x_readgate`: how to read. Absent keys keep the server's defaults."""

    packing: Literal["isolated", "packed"] | None = None
    layout: Literal["state_first", "questions_first"] | None = None
    draws: Annotated[int, Field(ge=1, le=MAX_DRAWS)] | Literal["auto"] | None = None
    max_draws: Annotated[int, Field(ge=1, le=MAX_DRAWS)] | None = None
    cache: Literal["use", "bypass"] = "use"

    def over(self, defaults: ReadOptions) -> ReadOptions:
        """These options where given, the defaults elsewhere."""
        return ReadOptions(
            packing=self.packing or defaults.packing,
            layout=self.layout or defaults.layout,
            draws=defaults.draws if self.draws is None else self.draws,
            max_draws=self.max_draws or defaults.max_draws,
        )


def findings_of(error: ValidationError) -> tuple[Finding, ...]:
    """Pydantic's errors as findings below "body"; the input itself is never echoed (it may be private or huge)."""
    return tuple(
        Finding(("body", *item["loc"]), item["msg"], item["type"], _plain(item.get("ctx", {})))
        for item in error.errors(include_url=False, include_input=False)
    )


def _plain(context: dict[str, Any]) -> tuple[tuple[str, str | int | float], ...]:
    return tuple((key, value) for key, value in context.items() if isinstance(value, str | int | float))


def validated(model: type[Model], value: object) -> Model:
    """The request object, or InvalidBody with every finding."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise InvalidBody(findings_of(error)) from error


def findings_for(loc: Sequence[str | int], msg: str, kind: str) -> InvalidBody:
    """One finding as an InvalidBody."""
    return InvalidBody((Finding(("body", *loc), msg, kind),))
