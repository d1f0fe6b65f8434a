"""Reads in memory: exact, bounded by bytes, and never a value that is not the plan's."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from canvas import CanvasPlan, CanvasRead, Slot
from deployments.cache import MemoryCache, cache_key, pack_read, unpack_read

LOGPROBS = st.floats(max_value=0, allow_nan=False)


@st.composite
def plans_with_reads(draw: st.DrawFn) -> tuple[CanvasPlan, CanvasRead]:
    sizes = draw(st.lists(st.lists(st.integers(1, 2), min_size=2, max_size=4), min_size=1, max_size=4))
    slots = tuple(Slot(place, tuple((1,) * size for size in groups)) for place, groups in enumerate(sizes))
    read = tuple(tuple(draw(LOGPROBS) for group in slot.label_ids for _ in group) for slot in slots)
    return CanvasPlan((1,), (0,) * 16, slots, b"s"), read


@given(plans_with_reads())
def test_a_read_comes_back_exactly(case: tuple[CanvasPlan, CanvasRead]) -> None:
    plan, read = case
    assert unpack_read(pack_read(read), plan) == read


@given(plans_with_reads(), st.binary(max_size=64))
def test_a_foreign_value_is_a_miss_or_a_read_of_the_plans_shape(
    case: tuple[CanvasPlan, CanvasRead], value: bytes
) -> None:
    found = unpack_read(value, case[0])
    assert found is None or [len(slot) for slot in found] == [len(slot) for slot in case[1]]


@pytest.mark.parametrize("bad", [math.nan, 0.5])
def test_a_value_that_is_no_log_probability_is_a_miss(bad: float) -> None:
    plan = CanvasPlan((1,), (0,) * 16, (Slot(0, ((1,), (2,))),), b"s")
    assert unpack_read(pack_read(((bad, -1.0),)), plan) is None


async def test_the_least_recently_used_leaves_first() -> None:
    cache = MemoryCache(2 * (300 + 2 + 8))
    await cache.put(b"k", {b"a": b"12345678", b"b": b"12345678"})
    await cache.get(b"k", [b"a"])
    await cache.put(b"k", {b"c": b"12345678"})
    assert await cache.get(b"k", [b"a", b"b", b"c"]) == [b"12345678", None, b"12345678"]


@given(st.lists(st.tuples(st.binary(min_size=1, max_size=2), st.binary(max_size=400)), max_size=20))
async def test_it_never_holds_more_than_its_bound(puts: list[tuple[bytes, bytes]]) -> None:
    cache = MemoryCache(1000)
    for field, value in puts:
        await cache.put(b"", {field: value})
        assert 0 <= cache.used_bytes <= 1000


async def test_a_bound_of_zero_keeps_nothing_and_says_off() -> None:
    cache = MemoryCache(0)
    await cache.put(b"k", {b"a": b"1"})
    assert (await cache.get(b"k", [b"a"]), cache.kind) == ([None], "off")


def test_keys_differ_by_fingerprint_tenant_and_state_wherever_the_border_lies() -> None:
    keys = {
        cache_key("ab", "c", b"d"),
        cache_key("a", "bc", b"d"),
        cache_key("ab", "cd", b""),
        cache_key("ab", "c", b"e"),
    }
    assert len(keys) == 4
