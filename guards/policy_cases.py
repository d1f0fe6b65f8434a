"""Runs the tests beside a policy: each conversation through the real guard, its verdict against the expected one.

Probabilities are stubbed by check id, or read for real with `model: embedded` by a reader that the caller brings.
Knows no command line: results are values, `render` makes them readable.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from canvas import JSON
from guards.audit import NoAudit, NoMeter
from guards.case_file import Case, Expected, parse_cases, tests_of
from guards.checks import Stage
from guards.dialects.chat import answer_segments, request_transcript
from guards.errors import InvalidAnswer, InvalidConversation, PolicyError
from guards.loader import load_policy, policies_at, read_text
from guards.policy import Policy
from guards.reader import Reader
from guards.screen import Guard
from guards.strict_yaml import Document, parse
from guards.stub_reader import StubReader
from guards.transcript import Transcript
from guards.verdict import Finding, Verdict, strictest


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


class ReaderMaker(Protocol):
    """Makes the embedded reader when a case first needs it."""

    async def __call__(self) -> Reader: ...


async def run_cases(path: Path, make_reader: ReaderMaker | None = None) -> tuple[CaseResult, ...]:
    """Every case beside the policies of a file or directory: the work of `readgate policy test`.

    Raises PolicyError for a broken policy or test file, for a policy without tests, and for `model: embedded` without
    a reader.
    """
    results: list[CaseResult] = []
    reader: Reader | None = None
    for file in policies_at(path):
        policy = load_policy(file)
        tests = tests_of(file)
        document = parse(read_text(tests), str(tests))
        cases = parse_cases(document, policy)
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


def render_cases(results: Sequence[CaseResult]) -> str:
    """One line a case, its faults under it, and a count."""
    lines: list[str] = []
    for result in results:
        lines.append(f"{'ok    ' if result.passed else 'FAILED'}  {result.file}:{result.line}: {result.name}")
        lines.extend(f"        {fault}" for fault in result.faults)
    failed = sum(not result.passed for result in results)
    lines.append(f"{len(results) - failed} of {len(results)} cases hold")
    return "\n".join(lines)


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
        from_answer = _answer_transcript(case.messages)
        return from_answer, stages
    return request_transcript({"messages": case.messages}), stages


def _answer_transcript(messages: Sequence[Mapping[str, JSON]]) -> Transcript:
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
