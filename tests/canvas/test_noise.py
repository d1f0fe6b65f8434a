from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from canvas.noise import noise, shuffled, words


@given(st.binary(max_size=40), st.integers(0, 300), st.integers(1, 300_000))
def test_noise_is_reproducible_and_inside_the_vocabulary(seed: bytes, number: int, vocab_size: int) -> None:
    ids = noise(seed, number, vocab_size)
    assert ids == noise(seed, number, vocab_size)
    assert len(ids) == number
    assert all(0 <= token < vocab_size for token in ids)


def test_noise_is_uniform_over_the_vocabulary() -> None:
    seen = Counter(noise(b"seed", 160_000, 16))
    # Chi-square of 15 degrees of freedom: 37.7 is its 99.9th percentile; the seed is fixed, so this never flakes.
    assert sum((seen[token] - 10_000) ** 2 / 10_000 for token in range(16)) < 37.7


def test_different_seeds_give_different_noise() -> None:
    assert noise(b"a", 8, 262_144) != noise(b"b", 8, 262_144)


def test_a_longer_noise_begins_as_the_shorter() -> None:
    assert words(b"a", 9)[:4] == words(b"a", 4)


@given(st.binary(max_size=20), st.integers(0, 60))
def test_a_shuffle_is_a_permutation(seed: bytes, number: int) -> None:
    assert sorted(shuffled(seed, number)) == list(range(number))
