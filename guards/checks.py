"""The kinds of checks a policy is made of: what each asks, its thresholds, its actions. Knows no policy."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from canvas import Choice, Option, Predicate, Question, Score
from canvas.questions import MAX_LEVELS, MAX_OPTIONS, MIN_LEVELS, MIN_OPTIONS


class Stage(StrEnum):
    """Where in a conversation a text stands when it is judged."""

    REQUEST = "request"
    RESPONSE = "response"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"


class Section(BaseModel):
    """A part of a policy: every key known, every type exact, frozen."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Block(Section):
    """Refuse the text; `message` replaces the policy's own."""

    at: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    message: Annotated[str, Field(min_length=1)] | None = None


class Flag(Section):
    """Let the text go, and say so."""

    at: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


class _Check(Section):
    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]  # ids go into headers and metric labels
    stage: Annotated[tuple[Annotated[Stage, Field(strict=False)], ...], Field(min_length=1, strict=False)]
    block: Block | None = None
    flag: Flag | None = None
    shadow: bool = False

    @property
    def highest(self) -> float | None:
        """The largest value the check can have; None for a rule, which has no threshold."""
        return 1.0

    @model_validator(mode="after")
    def _act(self) -> Self:
        if len(set(self.stage)) != len(self.stage):
            raise ValueError("a stage is named twice")
        if self.block is None and self.flag is None and not self.shadow:
            raise ValueError("needs an action: block or flag (or shadow: true, to only record)")
        for name, action in (("block", self.block), ("flag", self.flag)):
            if action is not None:
                self._threshold(name, action.at)
        if self.block and self.flag:
            if self.highest is None:
                raise ValueError("an exact rule has no thresholds, so flag beside block could never act")
            if cast("float", self.flag.at) >= cast("float", self.block.at):
                raise ValueError("flag.at must be below block.at, or it could never act")
        return self

    def _threshold(self, name: str, at: float | None) -> None:
        if self.highest is None:
            if at is not None:
                raise ValueError(f"{name}.at: an exact rule has no threshold")
        elif at is None:
            raise ValueError(f"{name} needs a threshold: at")
        elif not 0 < at <= self.highest:
            raise ValueError(f"{name}.at must be above 0 and at most {self.highest:g}, got {at:g}")


class PredicateCheck(_Check):
    """Acts on the probability of yes; of no with `invert`."""

    predicate: Annotated[str, Field(min_length=1)]
    invert: bool = False

    @property
    def question(self) -> Question:
        return Predicate(self.id, self.predicate)


class ChoiceCheck(_Check):
    """Acts on the probability of every option that is not allowed."""

    choice: Annotated[str, Field(min_length=1)]
    options: Annotated[dict[str, str], Field(min_length=MIN_OPTIONS, max_length=MAX_OPTIONS)]
    allow: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]

    @model_validator(mode="before")
    @classmethod
    def _names(cls, data: Any) -> Any:  # noqa: ANN401 (pydantic's before-validator sees whatever the file says)
        """Options may be a plain list of names; a description may be left out."""
        if not isinstance(data, Mapping):
            return data
        fields = dict(cast("Mapping[str, Any]", data))
        options = fields.get("options")
        if isinstance(options, list):
            names = cast("list[Any]", options)
            if len({str(name) for name in names}) != len(names):
                raise ValueError("an option is named twice")
            fields["options"] = dict.fromkeys(names, "")
        elif isinstance(options, Mapping):
            described = cast("Mapping[Any, Any]", options)
            fields["options"] = {name: "" if text is None else text for name, text in described.items()}
        return fields

    @model_validator(mode="after")
    def _allowed(self) -> Self:
        if len(set(self.allow)) == len(self.options):
            raise ValueError("allow names every option, so the check could never act")
        return self

    @property
    def question(self) -> Question:
        return Choice(self.id, self.choice, tuple(Option(name, text) for name, text in self.options.items()))


class ScoreCheck(_Check):
    """Acts on the expected level, counted from 0."""

    score: Annotated[str, Field(min_length=1)]
    levels: Annotated[tuple[str, ...], Field(min_length=MIN_LEVELS, max_length=MAX_LEVELS, strict=False)]

    @property
    def highest(self) -> float | None:
        return float(len(self.levels) - 1)

    @property
    def question(self) -> Question:
        return Score(self.id, self.score, self.levels)


class RegexCheck(_Check):
    """Acts where the pattern (RE2 syntax) is found."""

    rule: Literal["regex"]
    pattern: Annotated[str, Field(min_length=1, max_length=4096)]

    @property
    def highest(self) -> float | None:
        return None


class SecretsCheck(_Check):
    """Acts where a credential of a published shape is found."""

    rule: Literal["secrets"]

    @property
    def highest(self) -> float | None:
        return None


KINDS: Final[Mapping[str, type[_Check]]] = {
    "predicate": PredicateCheck,
    "choice": ChoiceCheck,
    "score": ScoreCheck,
    "rule: regex": RegexCheck,
    "rule: secrets": SecretsCheck,
}


def kind_of(check: object) -> str | None:
    """Which of KINDS a check written as a mapping is; None when it says none or several."""
    if isinstance(check, _Check):
        return next(name for name, model in KINDS.items() if type(check) is model)
    if not isinstance(check, Mapping):
        return None
    fields = cast("Mapping[str, object]", check)
    named = [name for name in ("predicate", "choice", "score", "rule") if name in fields]
    if len(named) != 1:
        return None
    kind = f"rule: {fields['rule']}" if named == ["rule"] else named[0]
    return kind if kind in KINDS else None


ReadCheck = PredicateCheck | ChoiceCheck | ScoreCheck
RuleCheck = RegexCheck | SecretsCheck
Check = ReadCheck | RuleCheck
