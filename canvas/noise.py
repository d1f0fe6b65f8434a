"""Seeds to uniform token ids and orders. The only source of chance, and it is none: equal seeds give equal noise."""

from hashlib import shake_128
from struct import unpack


def words(seed: bytes, count: int) -> tuple[int, ...]:
    """`count` independent uniform 64-bit integers from the extendable hash of `seed`."""
    return unpack(f"<{count}Q", shake_128(seed).digest(8 * count))


def noise(seed: bytes, count: int, vocab_size: int) -> tuple[int, ...]:
    """`count` ids uniform over 0..vocab_size-1: multiply-shift, whose bias is below vocab_size / 2^64."""
    return tuple([word * vocab_size >> 64 for word in words(seed, count)])


def shuffled(seed: bytes, count: int) -> tuple[int, ...]:
    """A permutation of 0..count-1, uniform but for ties of 64-bit keys."""
    keys = words(seed, count)
    return tuple(sorted(range(count), key=keys.__getitem__))
