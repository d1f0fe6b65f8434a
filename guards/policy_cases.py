"""Tests beside a policy, `NAME_test.yaml`: conversations, probabilities, and what the verdict must be.

Probabilities are stubbed by check id, or read for real with `model: embedded` by a reader that the caller brings.
Knows no command line: results are values, `render` makes them readable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Protocol, Self, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from canvas import JSON, Answer, Choice, Decision, Distribution, Predicate, Question, ReadOptions, Score, State, Usage
from guards.audit import NoAudit, NoMeter
from guards.dialects.chat import answer_segments, request_transcript
from guards.errors import InvalidAnswer, InvalidConversation, PolicyError
from guards.loader import SUFFIXES, TEST_ENDING, known_keys, load_policy, policy_files, read_text, validation_error
from guards.policy import Policy, ReadCheck, Stage
from guards.reader import Reader, ReadFailed
from guards.screen import Guard
from guards.strict_yaml import Document, parse
from guards.transcript import Transcript
from guards.verdict import Action, Finding, Verdict, strictest

DEFAULT_PROBABILITY: Final = 0.0  # of what a check looks for, where a case says nothing of it


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Expected(_Section):
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


class Case(_Section):
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


class CaseFile(_Section):
    """The cases of one policy."""

    policy: str
    cases: Annotated[list[Case], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case; `faults` is empty when it held."""

    file: str
    line: int
    name: str
    faults: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.faults


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One policy file: the policy, or why it is none."""

    file: str
    policy: Policy | None
    error: PolicyError | None


class ReaderMaker(Protocol):
    """Makes the embedded reader when a case first needs it."""

    async def __call__(self) -> Reader: ...


def check_policies(path: Path) -> tuple[CheckResult, ...]:
    """Each policy of a file or directory, loaded or not: the work of `readgate policy check`."""
    results: list[CheckResult] = []
    names: dict[str, str] = {}
    for file in _policies(path):
        try:
            policy = load_policy(file)
            if policy.name in names:
                raise PolicyError(str(file), 1, f"the name {policy.name!r} is also in {names[policy.name]}")  # noqa: TRY301 (one place makes results)
        except PolicyError as error:
            results.append(CheckResult(str(file), None, error))
            continue
        names[policy.name] = str(file)
        results.append(CheckResult(str(file), policy, None))
    return tuple(results)


async def run_cases(path: Path, make_reader: ReaderMaker | None = None) -> tuple[CaseResult, ...]:
    """Every case beside the policies of a file or directory: the work of `readgate policy test`.

    Raises PolicyError for a broken policy or test file, for a policy without tests, and for `model: embedded` without
    a reader.
    """
    results: list[CaseResult] = []
    reader: Reader | None = None
    for file in _policies(path):
        policy = load_policy(file)
        tests = _tests_of(file)
        document = parse(read_text(tests), str(tests))
        cases = _case_file(document, policy)
        for index, case in enumerate(cases.cases):
            line = document.line(("cases", index))
            if case.model is not None and reader is None:
                if make_reader is None:
                    raise PolicyError(str(tests), line, "model: embedded needs the embedded model, which is not here")
                reader = await make_reader()
            source = reader if case.model is not None and reader is not None else StubReader(policy, case)
            results.append(
                CaseResult(str(tests), line, case.name, await _faults(policy, case, source, document, index))
            )
    return tuple(results)


def render_checks(results: Sequence[CheckResult]) -> str:
    """One line a file."""
    lines = [
        f"{result.error}"
        if result.policy is None
        else f"ok  {result.file}: {result.policy.name}, {len(result.policy.checks)} checks, hash {result.policy.hash}"
        for result in results
    ]
    return "\n".join(lines)


def render_cases(results: Sequence[CaseResult]) -> str:
    """One line a case, its faults under it, and a count."""
    lines: list[str] = []
    for result in results:
        lines.append(f"{'ok    ' if result.passed else 'FAILED'}  {result.file}:{result.line}: {result.name}")
        lines.extend(f"        {fault}" for fault in result.faults)
    failed = sum(not result.passed for result in results)
    lines.append(f"{len(results) - failed} of {len(results)} cases hold")
    return "\n".join(lines)


class StubReader:
    """Answers with a case's probabilities."""

    def __init__(self, policy: Policy, case: Case) -> None:
        self._policy = policy
        self._case = case

    async def read(
        self,
        state: State,  # noqa: ARG002 (the protocol's signature; a stub does not look)
        questions: Sequence[Question],
        options: ReadOptions,  # noqa: ARG002
        *,
        tenant: str = "",  # noqa: ARG002
        use_cache: bool = True,  # noqa: ARG002
        calibration: str = "",  # noqa: ARG002
    ) -> Decision:
        """As the case says. Raises ReadFailed when it says `unread`."""
        stubbed = self._case.probabilities
        if stubbed == "unread":
            raise ReadFailed("the case says that nothing could be read")
        given: Mapping[str, float | dict[str, float] | list[float]] = stubbed or {}
        answers = tuple(
            Answer(q, Distribution(_stub(self._policy, q, given.get(q.id)), label_mass=1.0)) for q in questions
        )
        return Decision(answers, Usage(0, 0), (len(answers),), "stub")


def _stub(
    policy: Policy, question: Question, given: float | dict[str, float] | list[float] | None
) -> tuple[float, ...]:
    """A distribution; where nothing is given, the one that is the furthest from acting."""
    match question:
        case Predicate():
            check = next(check for check in policy.checks if check.id == question.id)
            inverted = getattr(check, "invert", False)
            yes = cast("float", given) if given is not None else (1.0 if inverted else DEFAULT_PROBABILITY)
            return (yes, 1 - yes)
        case Choice(options=options):
            allowed = next(
                cast("tuple[str, ...]", getattr(c, "allow", ())) for c in policy.checks if c.id == question.id
            )
            by_name = cast("dict[str, float]", given) if given is not None else {allowed[0]: 1.0}
            return tuple(by_name.get(option.name, 0.0) for option in options)
        case Score(levels=levels):
            return tuple(cast("list[float]", given)) if given is not None else (1.0, *[0.0] * (len(levels) - 1))


async def _faults(policy: Policy, case: Case, reader: Reader, document: Document, index: int) -> tuple[str, ...]:
    line = document.line(("cases", index, "messages"))
    try:
        transcript, stages = _conversation(case)
    except InvalidConversation as error:
        raise PolicyError(document.file, line, str(error)) from error
    guard = Guard(reader, audit=NoAudit(), meter=NoMeter(), clock_s=lambda: 0.0, now_s=lambda: 0.0)
    verdicts = await guard.screen(policy, transcript, stages, caller=_Tester(), request_id=case.name)
    if not verdicts:
        return ("no check of the policy judges this conversation at this stage",)
    return tuple(_compare(case.expect, verdicts))


@dataclass(frozen=True, slots=True)
class _Tester:
    tenant: str = ""
    policies: frozenset[str] | None = None


def _conversation(case: Case) -> tuple[Transcript, tuple[Stage, ...]]:
    """The last message is what is judged; without a stage an assistant's is an answer and any other a request."""
    last = case.messages[-1]
    stage = case.stage
    if stage is None and last.get("role") == "assistant":
        stages: tuple[Stage, ...] = (Stage.RESPONSE, Stage.TOOL_CALL)
    elif stage is None:
        stages = (Stage.REQUEST, Stage.TOOL_RESULT)
    else:
        stages = (stage,)
    if stages[0] in {Stage.RESPONSE, Stage.TOOL_CALL}:
        from_answer = answer_transcript(case.messages)
        return from_answer, stages
    return request_transcript({"messages": case.messages}), stages


def answer_transcript(messages: Sequence[Mapping[str, JSON]]) -> Transcript:
    """A conversation whose last message is the answer to be judged. Raises InvalidConversation."""
    before, answer = messages[:-1], messages[-1]
    base = request_transcript({"messages": before}) if before else Transcript(())
    try:
        return base.followed_by(answer_segments({"choices": [{"index": 0, "message": answer}]}))
    except InvalidAnswer as error:
        raise InvalidConversation("messages", str(error)) from error


def _compare(expect: Expected, verdicts: Sequence[Verdict]) -> list[str]:
    faults: list[str] = []
    verdict = strictest(verdicts)
    found: dict[str, Finding] = {finding.check.id: finding for one in verdicts for finding in one.findings}
    if expect.verdict is not None and verdict.action is not expect.verdict:
        values = ", ".join(_value(finding) for finding in found.values())
        faults.append(f"verdict: expected {expect.verdict}, got {verdict.action} ({values})")
    for check, action in (expect.findings or {}).items():
        finding = found.get(check)
        if finding is None:
            faults.append(f"finding {check}: expected {action}, but the check did not run")
        elif finding.unread:
            faults.append(f"finding {check}: expected {action}, but it was not read: {finding.unread}")
        elif finding.action is not action:
            faults.append(f"finding {check}: expected {action}, got {finding.action} ({_value(finding)})")
    read = all(one.read for one in verdicts)
    if expect.read is not None and read is not expect.read:
        faults.append(f"read: expected {str(expect.read).lower()}, got {str(read).lower()}")
    if expect.message is not None and verdict.message != expect.message:
        faults.append(f"message: expected {expect.message!r}, got {verdict.message!r}")
    return faults


def _value(finding: Finding) -> str:
    if finding.unread:
        return f"{finding.check.id} unread"
    return f"{finding.check.id} {len(finding.spans) if finding.value is None else format(finding.value, '.3f')}"


def _policies(path: Path) -> Sequence[Path]:
    if path.is_dir():
        files = policy_files(path)
        if not files:
            raise PolicyError(str(path), 1, "holds no policy (*.yaml)")
        return files
    if path.stem.endswith(TEST_ENDING):
        raise PolicyError(str(path), 1, "is a test file; name the policy beside it")
    return [path]


def _tests_of(file: Path) -> Path:
    for suffix in sorted(SUFFIXES):
        tests = file.with_name(f"{file.stem}{TEST_ENDING}{suffix}")
        if tests.is_file():
            return tests
    raise PolicyError(str(file), 1, f"has no tests: {file.stem}{TEST_ENDING}{file.suffix} is not there")


def _case_file(document: Document, policy: Policy) -> CaseFile:
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
