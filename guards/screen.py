"""A policy over a conversation: rules, one read a stage, a verdict. Fails closed; knows no HTTP.

Whatever keeps a check from running becomes its finding, "unread" with the reason; the policy's on_error decides.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from canvas import JSON
from guards.audit import AuditSink, Meter, finding_record
from guards.checks import RegexCheck, RuleCheck, SecretsCheck, Stage
from guards.policy import Policy
from guards.reader import Reader
from guards.reading import Job, StageRead, read_stage, together
from guards.rules.scan import RuleScanner
from guards.transcript import Transcript
from guards.verdict import Empty, Found, Outcome, Unread, Verdict, judge

THREAD_CHARS: Final = 20_000  # rules take about 1 ms for this much: longer texts leave the event loop

_log = logging.getLogger("readgate.guards")


class Caller(Protocol):
    """On whose behalf a text is judged: the server's authentication says so."""

    @property
    def tenant(self) -> str: ...

    @property
    def policies(self) -> frozenset[str] | None:
        """Those it may name; None for all."""
        ...


class Guard:
    """Judges conversations with a reader. `clock_s` is monotonic, `now_s` is the time of day."""

    def __init__(
        self,
        reader: Reader,
        *,
        audit: AuditSink,
        meter: Meter,
        clock_s: Callable[[], float],
        now_s: Callable[[], float],
    ) -> None:
        self._reader = reader
        self._audit = audit
        self._meter = meter
        self._clock_s = clock_s
        self._now_s = now_s
        self._rules = RuleScanner()

    async def screen(
        self, policy: Policy, transcript: Transcript, stages: Sequence[Stage], *, caller: Caller, request_id: str
    ) -> tuple[Verdict, ...]:
        """One verdict for each stage that has text to judge and checks to judge it."""
        jobs = [
            Job(policy, transcript, stage, caller.tenant)
            for stage in transcript.stages(tuple(stages))
            if policy.at(stage)
        ]
        verdicts = await together(self._judge(job, request_id) for job in jobs)
        return tuple(verdict for verdict in verdicts if verdict is not None)

    async def _judge(self, job: Job, request_id: str) -> Verdict | None:
        """None where there was no text, and nothing in what surrounds it."""
        started_s = self._clock_s()
        outcomes: dict[str, Outcome] = {}
        read = StageRead()
        digest = job.transcript.digest(job.stage)
        if int(digest, 16) < job.policy.sample * 16 ** len(digest):  # by the text: a repeat is sampled alike
            checks = job.policy.at(job.stage)
            for check in checks:
                if isinstance(check, RegexCheck | SecretsCheck):
                    outcomes[check.id] = await self._scan(check, job)
            reads = [check for check in checks if not isinstance(check, RegexCheck | SecretsCheck)]
            read = await read_stage(self._reader, job, reads)
            outcomes.update(read.outcomes)
        verdict = judge(job.policy, job.stage, outcomes)
        if not verdict.findings and not job.transcript.speaks(job.stage):
            return None
        elapsed_s = self._clock_s() - started_s
        self._meter.judged(verdict, elapsed_s)
        self._record(job, verdict, read, request_id, elapsed_s)
        return verdict

    async def _scan(self, check: RuleCheck, job: Job) -> Outcome:
        segments, details = job.transcript.scanned(job.stage), job.transcript.details_of(job.stage)
        try:
            if sum(len(one.text) for one in (*segments, *details)) > THREAD_CHARS:
                spans = await asyncio.to_thread(self._rules.scan, check, segments, details)
            else:
                spans = self._rules.scan(check, segments, details)
        except Exception as error:  # noqa: BLE001 (whatever it is, the text was not scanned: the finding says so)
            _log.exception("check %s of policy %s could not run", check.id, job.policy.name)
            return Unread(f"the rule failed: {type(error).__name__}")
        if not spans and not job.transcript.speaks(job.stage):
            return Empty()  # identifiers and keys alone: no text about which a rule could be said to have run
        return Found(spans, job.transcript.untold(job.stage))

    def _record(self, job: Job, verdict: Verdict, read: StageRead, request_id: str, elapsed_s: float) -> None:
        record: dict[str, JSON] = {
            "time_s": round(self._now_s(), 3),
            "request_id": request_id,
            "tenant": job.tenant,
            "policy": job.policy.name,
            "policy_hash": job.policy.hash,
            "stage": job.stage.value,
            "verdict": verdict.action.value,
            "read": verdict.read,
            "findings": [finding_record(finding) for finding in verdict.findings],
            "text_hash": job.transcript.digest(job.stage),
            "chars": job.transcript.length(job.stage),
            "windows": read.windows,
            "context_left_out_chars": read.context_left_out_chars,
            "fingerprint": read.fingerprint,
            "ms": round(elapsed_s * 1000, 3),
        }
        try:
            self._audit.write(record)
        except OSError:
            _log.exception("the audit line of request %s could not be written", request_id)
            self._meter.audit_lost()
