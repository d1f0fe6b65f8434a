"""Encoded prefixes are kept up to a bound, the least recently used leaving first."""

import numpy as np

from deployments.embedded.prefix_cache import KeysValues, PrefixCache


def values(tokens: int) -> KeysValues:
    return np.zeros((1, 2, 1, tokens, 4), np.float32)  # 32 bytes a token


def test_what_was_put_is_found_and_what_was_not_is_none() -> None:
    cache = PrefixCache(1000)
    kept = values(2)
    cache.put((1, 2), kept)
    assert cache.get((1, 2)) is kept
    assert cache.get((1,)) is None


def test_the_least_recently_used_leaves_when_the_bytes_run_out() -> None:
    cache = PrefixCache(200)
    for prefix in ((1,), (2,), (3,)):
        cache.put(prefix, values(2))
    assert cache.get((1,)) is not None
    cache.put((4,), values(2))
    assert [cache.get(prefix) is not None for prefix in ((1,), (2,), (3,), (4,))] == [True, False, True, True]
    assert cache.stored_bytes == 192


def test_a_value_above_the_bound_is_not_kept_and_pushes_nothing_out() -> None:
    cache = PrefixCache(100)
    cache.put((1,), values(2))
    cache.put((2,), values(4))
    assert cache.get((1,)) is not None
    assert cache.get((2,)) is None


def test_a_prefix_put_twice_counts_once_and_clearing_leaves_nothing() -> None:
    cache = PrefixCache(100)
    cache.put((1,), values(2))
    cache.put((1,), values(2))
    assert cache.stored_bytes == 64
    cache.clear()
    assert (cache.stored_bytes, cache.get((1,))) == (0, None)
