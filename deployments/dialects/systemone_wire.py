"""System One requests as the wire has them. `noul` is this dialect's name for a predicate."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from canvas.questions import MAX_OPTIONS
from deployments.dialects.images import ImageFormat
from deployments.dialects.wire_types import Content, Extensions, Strict

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
