import io
import json
from pathlib import Path

from canvas import Distribution
from guards.audit import FileAudit, NoAudit, NoMeter, StreamAudit, finding_record
from guards.checks import Stage
from guards.verdict import Found, Measured, judge
from tests.guards.policies import policy


def test_a_stream_gets_one_json_line_a_record() -> None:
    out = io.StringIO()
    StreamAudit(out).write({"a": "é"})
    assert out.getvalue() == '{"a": "é"}\n'


def test_a_file_is_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for number in range(2):
        sink = FileAudit(path)
        sink.write({"n": number, "half": "\ud800"})
        sink.close()
    assert [json.loads(line)["n"] for line in path.read_text().splitlines()] == [0, 1]


def test_without_a_sink_nothing_is_kept_and_nothing_counted() -> None:
    verdict = judge(policy(), Stage.REQUEST, {})
    NoAudit().write({})
    NoMeter().judged(verdict, 0.0)
    NoMeter().audit_lost()


def test_a_score_is_called_a_score_and_a_probability_a_probability() -> None:
    scored = Measured((Distribution((0.25, 0.5, 0.25), 1.0),))
    verdict = judge(policy(), Stage.RESPONSE, {"harm": scored, "codename": Found(()), "secrets": Found(())})
    record = finding_record(verdict.findings[0])
    assert record == {"check": "harm", "action": "pass", "shadow": False, "score": 1.0, "threshold": 1.5}
