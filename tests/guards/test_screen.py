"""Long texts and windows against a reader with a limit, as a real one has."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from canvas import Decision, Question, ReadOptions, State
from canvas.errors import StateTooLong
from guards.checks import Stage
from guards.dialects.chat import request_transcript
from guards.policy import Policy
from guards.screen import Guard
from guards.transcript import Segment, Transcript
from guards.verdict import Action, Verdict
from tests.guards.fakes import CountingMeter, ListAudit, ScriptedReader, Someone
from tests.guards.policies import policy

READS = """\
version: 1
name: reads
checks:
  - {id: bad, stage: [request, response], predicate: "Is BAD in it?", block: {at: 0.5}}
"""


class LimitedReader(ScriptedReader):
    """Says yes where it sees BAD; takes so many tokens: a character of CJK, or four others."""

    limit_tokens: int = 250

    def look(self, text: str) -> None:
        tokens = sum(4 if ord(character) > 0x2E80 else 1 for character in text) // 4 + 1
        if tokens > self.limit_tokens:
            raise StateTooLong(state_tokens=tokens, other_tokens=40, limit_tokens=self.limit_tokens + 40)

    def judge(self, question: Question, text: str) -> tuple[float, ...]:
        assert question.id == "bad"
        return (1.0, 0.0) if "BAD" in text else (0.0, 1.0)


async def _screen(
    transcript: Transcript, stage: Stage, reader: ScriptedReader, loaded: Policy
) -> tuple[Verdict, dict[str, Any]]:
    audit = ListAudit()
    guard = Guard(reader, audit=audit, meter=CountingMeter(), clock_s=itertools.count().__next__, now_s=lambda: 0.0)
    (verdict,) = await guard.screen(loaded, transcript, [stage], caller=Someone(), request_id="r")
    return verdict, dict(audit.records[0])


def _user(text: str) -> Transcript:
    return request_transcript({"messages": [{"role": "user", "content": text}]})


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 8000), st.integers(0, 8000), st.sampled_from(["x ", "漢", "x漢 "]))
async def test_a_span_is_found_wherever_it_stands_in_a_long_text(before: int, after: int, filler: str) -> None:
    text = (filler * before)[:before] + " BAD " + (filler * after)[:after]
    verdict, _ = await _screen(_user(text), Stage.REQUEST, LimitedReader(), policy(READS))
    assert verdict.read
    assert verdict.action is Action.BLOCK


async def test_a_long_clean_text_is_read_in_windows_and_the_audit_line_says_how_many() -> None:
    reader = LimitedReader()
    verdict, record = await _screen(_user("word " * 2000), Stage.REQUEST, reader, policy(READS))
    assert verdict.action is Action.PASS
    assert record["windows"] == len(reader.states) > 10
    assert sum(state.count("word") for state in reader.states) >= 2000


async def test_a_long_prompt_leaves_room_for_the_answer_and_is_said_to_be_cut() -> None:
    talk = _user("prompt " * 1000 + "THE END").followed_by((Segment("assistant", "c", "short", Stage.RESPONSE, 0),))
    reader = LimitedReader()
    verdict, record = await _screen(talk, Stage.RESPONSE, reader, policy(READS))
    assert verdict.read
    assert record["windows"] == 1
    assert record["context_left_out_chars"] > 5000
    assert "THE END\n[assistant, judged]\n| short\n" in reader.states[0]


async def test_a_text_beyond_the_number_of_windows_is_not_read() -> None:
    verdict, _ = await _screen(_user("word " * 200_000), Stage.REQUEST, LimitedReader(), policy(READS))
    assert not verdict.read
    assert "windows" in verdict.findings[0].unread


async def test_a_reader_that_takes_almost_nothing_cannot_read() -> None:
    reader = LimitedReader()
    reader.limit_tokens = 8
    verdict, _ = await _screen(_user("word " * 200), Stage.REQUEST, reader, policy(READS))
    assert "too few" in verdict.findings[0].unread


async def test_one_window_that_fails_leaves_the_whole_text_unread() -> None:
    class Failing(LimitedReader):
        def look(self, text: str) -> None:
            super().look(text)
            if len(self.states) == 3:
                raise ConnectionError

    verdict, _ = await _screen(_user("word " * 2000), Stage.REQUEST, Failing(), policy(READS))
    assert verdict.action is Action.BLOCK
    assert "the reader failed: ConnectionError" in verdict.findings[0].unread


async def test_checks_of_one_stage_are_one_read() -> None:
    reader = ScriptedReader()
    await _screen(_user("hi"), Stage.REQUEST, reader, policy())
    assert len(reader.states) == 1


async def test_a_reader_that_skips_an_answer_has_read_nothing() -> None:
    class Short(ScriptedReader):
        async def read(
            self,
            state: State,
            questions: Sequence[Question],
            options: ReadOptions,
            *,
            tenant: str = "",
            use_cache: bool = True,
            calibration: str = "",
        ) -> Decision:
            return await super().read(
                state, questions[1:], options, tenant=tenant, use_cache=use_cache, calibration=calibration
            )

    verdict, _ = await _screen(_user("hi"), Stage.REQUEST, Short(), policy())
    assert not verdict.read


@pytest.mark.parametrize(("sample", "share"), [("1.0", 1.0), ("0.5", 0.5), ("0.01", 0.01)])
async def test_a_sample_of_shadows_is_taken_by_the_text(sample: str, share: float) -> None:
    shadow = policy(READS.replace("block: {at: 0.5}", "shadow: true"), sample=sample)
    reader = ScriptedReader()
    for number in range(300):
        await _screen(_user(f"text {number}"), Stage.REQUEST, reader, shadow)
    assert abs(len(reader.states) / 300 - share) < 0.1
    assert len(reader.states) == len(set(reader.states))
