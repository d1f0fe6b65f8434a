"""A policy as written in YAML, and nothing of files, lines or verdicts.

Only what this version runs can be said; everything else of the language is named in UNSUPPORTED, so that the loader
refuses it by name instead of accepting and ignoring it.
"""

import hashlib
import json
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Final, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from canvas import Layout, Packing, ReadOptions
from guards.checks import (
    Check,
    ChoiceCheck,
    PredicateCheck,
    RegexCheck,
    ScoreCheck,
    SecretsCheck,
    Section,
    Stage,
    kind_of,
)

MAX_CHECKS: Final = 64  # bounds what one request may cost; the largest shipped policy of similar products has about 20
MAX_DRAWS: Final = 16
MAX_TURNS: Final = 1000
MAX_TIMEOUT_S: Final = 60.0
UNSUPPORTED: Final = frozenset(
    {"extends", "parallel", "redact", "rewrite", "regenerate", "escalate", "calibration", "window_tokens"}
    | {"overlap_tokens", "window", "pii", "language", "length", "json_schema"}
)


class OnError(StrEnum):
    """What follows when a check could not run."""

    BLOCK = "block"
    ALLOW = "allow"


class ReadSection(Section):
    """How a stage's questions are read."""

    packing: Packing = "packed"
    layout: Layout = "state_first"
    draws: Annotated[int, Field(ge=1, le=MAX_DRAWS)] | Literal["auto"] = 1

    @property
    def options(self) -> ReadOptions:
        return ReadOptions(packing=self.packing, layout=self.layout, draws=self.draws)


class Context(Section):
    """What of the conversation the state holds beside the text judged: the last `turns` messages, the system text."""

    turns: Annotated[int, Field(ge=0, le=MAX_TURNS)] = 10
    system: bool = True


class Stream(Section):
    """When a streamed answer is released: `hold` keeps all of it until the verdict."""

    release: Literal["hold"] = "hold"


class Blocked(Section):
    """What the caller sees of a block."""

    as_: Annotated[Literal["error", "refusal"], Field(alias="as")] = "error"
    status: Annotated[int, Field(ge=400, le=499)] = 400  # a 5xx would make client SDKs ask again
    message: Annotated[str, Field(min_length=1)] = "This conversation was blocked by the content policy."

    @model_validator(mode="after")
    def _status_of_an_error(self) -> Self:
        if self.as_ == "refusal" and "status" in self.model_fields_set:
            raise ValueError("status belongs to as: error; a refusal is a normal answer")
        return self


class Policy(Section):
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
    timeout_s: Annotated[float, Field(gt=0, le=MAX_TIMEOUT_S, allow_inf_nan=False)] = 2.0
    stream: Stream = Stream()
    blocked: Blocked = Blocked()
    sample: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = 1.0

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
