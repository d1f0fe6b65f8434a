"""Tests beside a policy as written, `NAME_test.yaml`: conversations, probabilities, expected verdicts. Runs nothing."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from guards.checks import ReadCheck, Section, Stage
from guards.errors import PolicyError
from guards.loader import SUFFIXES, TEST_ENDING, known_keys, validation_error
from guards.policy import Policy
from guards.strict_yaml import Document
from guards.verdict import Action


class Expected(Section):
    """What must come out; what is not said is not asserted. `findings` maps a check to its action."""

    verdict: Annotated[Action, Field(strict=False)] | None = None
    findings: dict[str, Annotated[Action, Field(strict=False)]] | None = None
    read: bool | None = None
    message: str | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.verdict is None and not self.findings and self.read is None and self.message is None:
            raise ValueError("asserts nothing: needs verdict, findings, read or message")
        return self


class Case(Section):
    """One conversation and what must come of it.

    `probabilities` by check id: of yes for a predicate, by option for a choice, by level for a score; or `unread`, for
    a reader that fails. With `model: embedded` the reader answers.
    """

    name: Annotated[str, Field(min_length=1)]
    stage: Annotated[Stage, Field(strict=False)] | None = None
    messages: Annotated[list[dict[str, Any]], Field(min_length=1)]  # as JSON: the dialect parses them
    probabilities: dict[str, float | dict[str, float] | list[float]] | Literal["unread"] | None = None
    model: Literal["embedded"] | None = None
    expect: Expected

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.model is not None and self.probabilities is not None:
            raise ValueError("model and probabilities exclude each other")
        return self


class CaseFile(Section):
    """The cases of one policy."""

    policy: str
    cases: Annotated[list[Case], Field(min_length=1)]


def tests_of(file: Path) -> Path:
    """The test file beside a policy's. Raises PolicyError when there is none."""
    for suffix in sorted(SUFFIXES):
        tests = file.with_name(f"{file.stem}{TEST_ENDING}{suffix}")
        if tests.is_file():
            return tests
    raise PolicyError(str(file), 1, f"has no tests: {file.stem}{TEST_ENDING}{file.suffix} is not there")


def parse_cases(document: Document, policy: Policy) -> CaseFile:
    """Raises PolicyError for what is not a test of this policy."""
    value = document.value
    known_keys(document, value, (), list(CaseFile.model_fields))
    checks = {check.id: check for check in policy.checks}
    cases = value.get("cases") if isinstance(value, dict) else None
    for index, case in enumerate(cases if isinstance(cases, list) else ()):
        known_keys(document, case, ("cases", index), list(Case.model_fields))
        if not isinstance(case, dict):
            continue
        expect = case.get("expect")
        known_keys(document, expect, ("cases", index, "expect"), list(Expected.model_fields))
        if isinstance(expect, dict):
            known_keys(document, expect.get("findings"), ("cases", index, "expect", "findings"), list(checks))
        reads = [name for name, check in checks.items() if isinstance(check, ReadCheck)]
        known_keys(document, case.get("probabilities"), ("cases", index, "probabilities"), reads)
    try:
        parsed = CaseFile.model_validate(value)
    except ValidationError as error:
        raise validation_error(document, error) from error
    if parsed.policy != policy.name:
        line = document.line(("policy",))
        raise PolicyError(document.file, line, f"tests {parsed.policy!r}, but beside it stands {policy.name!r}")
    return parsed
