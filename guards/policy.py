"""A policy as written in YAML, and nothing of files, lines or verdicts.

Only what this version runs can be said; everything else of the language is named in UNSUPPORTED, so that the loader
refuses it by name instead of accepting and ignoring it.
"""

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, Final, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from canvas import Choice, Layout, Option, Packing, Predicate, Question, ReadOptions, Score
from canvas.questions import MAX_LEVELS, MAX_OPTIONS, MIN_LEVELS, MIN_OPTIONS

MAX_CHECKS: Final = 64  # bounds what one request may cost; the largest shipped policy of similar products has about 20
MAX_DRAWS: Final = 16
MAX_TURNS: Final = 1000
MAX_TIMEOUT_S: Final = 60.0
UNSUPPORTED: Final = frozenset(
    {"extends", "parallel", "redact", "rewrite", "regenerate", "escalate", "calibration", "window_tokens"}
    | {"overlap_tokens", "window", "pii", "language", "length", "json_schema"}
)


class Stage(StrEnum):
    """Where in a conversation a text stands when it is judged."""

    REQUEST = "request"
    RESPONSE = "response"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"


class OnError(StrEnum):
    """What follows when a check could not run."""

    BLOCK = "block"
    ALLOW = "allow"


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ReadSection(_Section):
    """How a stage's questions are read."""

    packing: Packing = "packed"
    layout: Layout = "state_first"
    draws: Annotated[int, Field(ge=1, le=MAX_DRAWS)] | Literal["auto"] = 1

    @property
    def options(self) -> ReadOptions:
        return ReadOptions(packing=self.packing, layout=self.layout, draws=self.draws)


class Context(_Section):
    """What of the conversation the state holds beside the text judged: the last `turns` messages, the system text."""

    turns: Annotated[int, Field(ge=0, le=MAX_TURNS)] = 10
    system: bool = True


class Block(_Section):
    """Refuse the text; `message` replaces the policy's own."""

    at: Annotated[float, Field(ge=0, strict=False, allow_inf_nan=False)] | None = None
    message: Annotated[str, Field(min_length=1)] | None = None


class Flag(_Section):
    """Let the text go, and say so."""

    at: Annotated[float, Field(ge=0, strict=False, allow_inf_nan=False)] | None = None


class _Check(_Section):
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


class Stream(_Section):
    """When a streamed answer is released: `hold` keeps all of it until the verdict."""

    release: Literal["hold"] = "hold"


class Blocked(_Section):
    """What the caller sees of a block."""

    as_: Annotated[Literal["error", "refusal"], Field(alias="as")] = "error"
    status: Annotated[int, Field(ge=400, le=499)] = 400  # a 5xx would make client SDKs ask again
    message: Annotated[str, Field(min_length=1)] = "This conversation was blocked by the content policy."

    @model_validator(mode="after")
    def _status_of_an_error(self) -> Self:
        if self.as_ == "refusal" and "status" in self.model_fields_set:
            raise ValueError("status belongs to as: error; a refusal is a normal answer")
        return self


class Policy(_Section):
    """A named set of checks."""

    version: Literal[1]
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]
    description: str = ""
    read: ReadSection = ReadSection()
    context: Context = Context()
    checks: Annotated[
        tuple[
            Annotated[
                Annotated[PredicateCheck, Tag("predicate")]
                | Annotated[ChoiceCheck, Tag("choice")]
                | Annotated[ScoreCheck, Tag("score")]
                | Annotated[RegexCheck, Tag("rule: regex")]
                | Annotated[SecretsCheck, Tag("rule: secrets")],
                Discriminator(kind_of),
            ],
            ...,
        ],
        Field(min_length=1, max_length=MAX_CHECKS, strict=False),
    ]
    on_error: Annotated[OnError, Field(strict=False)] = OnError.BLOCK
    timeout_s: Annotated[float, Field(gt=0, le=MAX_TIMEOUT_S, strict=False, allow_inf_nan=False)] = 2.0
    stream: Stream = Stream()
    blocked: Blocked = Blocked()
    sample: Annotated[float, Field(gt=0, le=1, strict=False, allow_inf_nan=False)] = 1.0

    @model_validator(mode="after")
    def _sample_only_shadows(self) -> Self:
        if self.sample < 1 and not all(check.shadow for check in self.checks):
            raise ValueError("sample below 1 needs shadow: true on every check: an acting check sees all traffic")
        return self

    @cached_property
    def hash(self) -> str:
        """16 hex digits over everything that can change a verdict; the description is not part of it."""
        content = self.model_dump(mode="json", by_alias=True, exclude={"description"})
        canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def at(self, stage: Stage) -> tuple[Check, ...]:
        """The checks of one stage, in the file's order."""
        return tuple(check for check in self.checks if stage in check.stage)
