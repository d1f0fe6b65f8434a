"""Who is let in, and how much they may ask."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments.auth import ANONYMOUS, Caller, Keyring
from deployments.errors import MissingKey, RateLimited, Unauthenticated
from deployments.loopback import is_loopback
from deployments.rates import Rates

ACME = Caller("acme", frozenset({"strict"}))


def keyring(now: list[float] | None = None, **per_minute: int) -> Keyring:
    times = now or [0.0]
    return Keyring({ACME: "right", Caller("other"): "second"}, {"acme": Rates(per_minute)}, clock=lambda: times[-1])


@pytest.mark.parametrize("given_key", ["Bearer right", "bearer right", "Bearer  right "])
def test_a_right_key_names_its_tenant_and_policies(given_key: str) -> None:
    assert keyring().caller(given_key, "10.0.0.1") == ACME


def test_each_key_is_its_own_tenant() -> None:
    assert keyring().caller("Bearer second", None).tenant == "other"


@pytest.mark.parametrize("given_key", ["Bearer wrong", "Bearer righ", "Bearer right2", "Bearer \udcff"])
def test_a_wrong_key_is_unauthenticated(given_key: str) -> None:
    with pytest.raises(Unauthenticated):
        keyring().caller(given_key, "127.0.0.1")


@pytest.mark.parametrize("given_key", [None, "", "Bearer", "Bearer ", "Basic right", "right"])
def test_no_key_is_missing_even_on_this_machine(given_key: str | None) -> None:
    with pytest.raises(MissingKey):
        keyring().caller(given_key, "127.0.0.1")


@pytest.mark.parametrize("peer", [None, "127.0.0.1", "::1"])
def test_without_keys_this_machine_is_let_in_whatever_it_sends(peer: str | None) -> None:
    assert Keyring({}, {}, clock=lambda: 0.0).caller("Bearer anything", peer) == ANONYMOUS


def test_without_keys_another_machine_is_refused_unless_allowed() -> None:
    with pytest.raises(MissingKey, match="its own machine only"):
        Keyring({}, {}, clock=lambda: 0.0).caller(None, "10.0.0.1")
    assert Keyring({}, {}, clock=lambda: 0.0, allow_anonymous=True).caller(None, "10.0.0.1") == ANONYMOUS


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_is_what_only_this_machine_reaches(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org"])  # noqa: S104 - what is refused
def test_any_other_address_is_reachable(host: str) -> None:
    assert not is_loopback(host)


def test_requests_above_the_limit_wait_for_their_share_of_the_minute() -> None:
    now = [0.0]
    ring = keyring(now, requests=2)
    ring.admit(ACME)
    ring.admit(ACME)
    with pytest.raises(RateLimited, match="2 requests a minute") as caught:
        ring.admit(ACME)
    assert caught.value.retry_after_s == pytest.approx(30)
    now.append(30.0)
    ring.admit(ACME)


def test_tokens_are_taken_after_the_read_and_may_go_into_debt() -> None:
    now = [0.0]
    ring = keyring(now, tokens=60)
    ring.admit(ACME)
    ring.spend_tokens(ACME, 100)
    with pytest.raises(RateLimited, match="60 tokens a minute"):
        ring.admit(ACME)
    now.append(41.0)
    ring.admit(ACME)


def test_a_tenant_without_limits_has_none() -> None:
    ring = keyring(requests=1)
    for _ in range(5):
        ring.admit(Caller("other"), questions=1000)


@given(st.lists(st.tuples(st.floats(0, 100), st.integers(0, 20)), max_size=50))
def test_over_any_time_no_more_than_the_limit_and_one_burst_is_admitted(steps: list[tuple[float, int]]) -> None:
    rates, now_s, admitted = Rates({"requests": 10}), 0.0, 0
    for wait_s, tries in steps:
        now_s += wait_s
        for _ in range(tries):
            if rates.refusal(now_s=now_s) is None:
                rates.spend("requests", 1)
                admitted += 1
    assert admitted <= 10 + 10 * now_s / 60 + 1
