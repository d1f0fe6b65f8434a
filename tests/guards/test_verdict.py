import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canvas import Distribution
from guards.checks import Stage
from guards.policy import OnError, Policy
from guards.rules.span import Span
from guards.verdict import Action, Empty, Found, Measured, Outcome, Unread, Verdict, judge, strictest
from tests.guards.policies import FULL, policy

SPAN = Span("messages[0].content", 0, 3, "codename")


def _measured(*windows: tuple[float, ...]) -> Measured:
    return Measured(tuple(Distribution(probs, 1.0) for probs in windows))


def _request(injection: Outcome, loaded: Policy | None = None, **others: Outcome) -> Verdict:
    outcomes: dict[str, Outcome] = {"injection": injection, "topic": _measured((1.0, 0.0, 0.0)), "codename": Found(())}
    return judge(loaded or policy(), Stage.REQUEST, {**outcomes, **others})


@pytest.mark.parametrize(
    ("yes", "action", "threshold"),
    [
        (0.0, Action.PASS, 0.5),
        (0.49, Action.PASS, 0.5),
        (0.5, Action.FLAG, 0.5),
        (0.85, Action.BLOCK, 0.85),
        (1.0, Action.BLOCK, 0.85),
    ],
)
def test_the_strictest_threshold_reached_is_the_action(yes: float, action: Action, threshold: float) -> None:
    verdict = _request(_measured((yes, 1 - yes)))
    assert verdict.action is action
    assert verdict.findings[0].threshold == threshold
    assert verdict.findings[0].value == yes


def test_the_worst_window_decides() -> None:
    assert _request(_measured((0.1, 0.9), (0.9, 0.1), (0.2, 0.8))).action is Action.BLOCK


def test_an_inverted_predicate_acts_on_no() -> None:
    inverted = policy(
        FULL.replace("    block: {at: 0.85}\n    flag", "    invert: true\n    block: {at: 0.85}\n    flag")
    )
    assert _request(_measured((0.1, 0.9)), inverted).action is Action.BLOCK
    assert _request(_measured((0.9, 0.1)), inverted).action is Action.PASS


def test_a_choice_acts_on_all_that_is_not_allowed_and_says_its_own_message() -> None:
    verdict = _request(_measured((0.0, 1.0)), topic=_measured((0.1, 0.1, 0.8)))
    assert verdict.action is Action.BLOCK
    assert verdict.message == "Only billing and technical questions."


def test_a_score_acts_on_the_expected_level() -> None:
    rules = {"codename": Found(()), "secrets": Found(())}
    blocked = judge(policy(), Stage.RESPONSE, {"harm": _measured((0.0, 0.5, 0.5)), **rules})
    assert blocked.action is Action.BLOCK
    assert blocked.findings[0].value == 1.5
    assert judge(policy(), Stage.RESPONSE, {"harm": _measured((0.5, 0.5, 0.0)), **rules}).action is Action.PASS


def test_an_exact_rule_acts_where_it_found_something() -> None:
    assert _request(_measured((0.0, 1.0)), codename=Found((SPAN,))).action is Action.BLOCK
    secrets: dict[str, Outcome] = {"harm": _measured((1.0, 0.0, 0.0)), "codename": Found(()), "secrets": Found((SPAN,))}
    assert judge(policy(), Stage.RESPONSE, secrets).action is Action.FLAG


def test_a_shadow_is_recorded_and_never_acts() -> None:
    shadow = policy(FULL.replace("    block: {}\n", "    block: {}\n    shadow: true\n"))
    verdict = _request(_measured((0.0, 1.0)), shadow, codename=Found((SPAN,)))
    assert verdict.action is Action.PASS
    assert verdict.findings[2].action is Action.BLOCK
    unread = _request(_measured((0.0, 1.0)), shadow, codename=Unread("no"))
    assert unread.read
    assert unread.action is Action.PASS
    recorded = policy(FULL.replace("    block: {}\n", "    shadow: true\n"))
    assert _request(_measured((0.0, 1.0)), recorded, codename=Found((SPAN,))).findings[2].action is Action.PASS


def test_a_shadow_without_an_outcome_was_not_sampled() -> None:
    shadow = policy(FULL.replace("    block: {}\n", "    block: {}\n    shadow: true\n"))
    verdict = judge(shadow, Stage.REQUEST, {"injection": _measured((0.0, 1.0)), "topic": _measured((1.0, 0.0, 0.0))})
    assert [finding.check.id for finding in verdict.findings] == ["injection", "topic"]
    assert verdict.read


def test_a_check_that_could_not_run_is_never_passed() -> None:
    verdict = _request(Unread("the engine is gone"))
    assert verdict.action is Action.BLOCK
    assert not verdict.read
    assert verdict.blocking == ()
    assert verdict.message == policy().blocked.message


def test_an_acting_check_without_an_outcome_could_not_run() -> None:
    verdict = judge(policy(), Stage.REQUEST, {})
    assert verdict.action is Action.BLOCK
    assert {finding.unread for finding in verdict.findings} == {"it has no outcome"}


def test_a_check_without_text_makes_no_finding() -> None:
    verdict = _request(Empty())
    assert [finding.check.id for finding in verdict.findings] == ["topic", "codename"]
    assert verdict.action is Action.PASS


def test_on_error_allow_lets_go_and_says_that_it_was_not_read() -> None:
    allowing = policy(FULL, on_error="allow")
    assert allowing.on_error is OnError.ALLOW
    verdict = _request(Unread("gone"), allowing)
    assert verdict.action is Action.PASS
    assert not verdict.read


def test_on_error_allow_does_not_undo_another_checks_block() -> None:
    verdict = _request(Unread("gone"), policy(FULL, on_error="allow"), codename=Found((SPAN,)))
    assert verdict.action is Action.BLOCK


@pytest.mark.parametrize(
    "windows",
    [
        (),
        ((math.nan, math.nan),),
        ((0.0, 1.0), (math.nan, 1.0)),
        ((0.2, 0.2),),
        ((-0.5, 1.5),),
        ((0.2, 0.3, 0.5),),
        ((1.0,),),
    ],
)
def test_what_is_no_distribution_is_not_read(windows: tuple[tuple[float, ...], ...]) -> None:
    assert not _request(_measured(*windows)).read


def test_probabilities_for_a_rule_are_not_a_finding_of_it() -> None:
    assert not _request(_measured((0.0, 1.0)), codename=_measured((0.0, 1.0))).read


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_higher_probability_is_never_treated_more_mildly(one: float, other: float) -> None:
    low, high = sorted((one, other))
    mild, strict = (_request(_measured((p, 1 - p))).action for p in (low, high))
    assert mild.severity <= strict.severity


def test_the_order_of_actions_is_fixed() -> None:
    assert [action.value for action in sorted(Action, key=lambda a: a.severity)] == [
        "pass", "flag", "redact", "rewrite", "regenerate", "escalate", "block",
    ]  # fmt: skip


def test_the_strictest_verdict_decides_and_unread_comes_before_read() -> None:
    passed, blocked = _request(_measured((0.0, 1.0))), _request(_measured((1.0, 0.0)))
    unread = _request(Unread("gone"), policy(FULL, on_error="allow"))
    assert strictest([passed, blocked, unread]) is blocked
    assert strictest([passed, unread]) is unread
