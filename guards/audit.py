"""What is recorded of each verdict: one JSON line, never the text. Knows no database."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, TextIO

from canvas import JSON
from guards.checks import ScoreCheck
from guards.verdict import Finding, Verdict


class AuditSink(Protocol):
    """Takes one record a verdict."""

    def write(self, record: Mapping[str, JSON]) -> None:
        """Raises OSError when it cannot be kept."""
        ...


class Meter(Protocol):
    """Counts; the server's metrics implement it."""

    def judged(self, verdict: Verdict, elapsed_s: float) -> None: ...

    def audit_lost(self) -> None:
        """A record could not be written."""
        ...


class NoAudit:
    """Keeps nothing."""

    def write(self, record: Mapping[str, JSON]) -> None:
        """Drop it: no sink was configured."""


class NoMeter:
    """Counts nothing."""

    def judged(self, verdict: Verdict, elapsed_s: float) -> None:
        """No metrics were configured."""

    def audit_lost(self) -> None:
        """No metrics were configured."""


class StreamAudit:
    """One line a record on an open text stream, standard output unless told."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream

    def write(self, record: Mapping[str, JSON]) -> None:
        self._stream.write(json.dumps(record, ensure_ascii=False) + "\n")
        self._stream.flush()


class FileAudit:
    """Appends to a file, a line at a time; whole lines, so that several processes may share it."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)

    def write(self, record: Mapping[str, JSON]) -> None:
        self._file.write((json.dumps(record, ensure_ascii=False) + "\n").encode("utf-8", "replace"))

    def close(self) -> None:
        self._file.close()


def finding_record(finding: Finding) -> dict[str, JSON]:
    """A finding as JSON; only what applies to it."""
    record: dict[str, JSON] = {
        "check": finding.check.id,
        "action": finding.action.value,
        "shadow": finding.check.shadow,
    }
    if finding.value is not None:
        record["score" if isinstance(finding.check, ScoreCheck) else "probability"] = round(finding.value, 6)
    if finding.threshold is not None:
        record["threshold"] = finding.threshold
    if finding.spans:
        record["spans"] = [
            {"where": span.where, "start": span.start, "end": span.end, "kind": span.kind} for span in finding.spans
        ]
    if finding.unseen:
        record["unseen"] = finding.unseen
    if finding.unread:
        record["unread"] = finding.unread
    return record
