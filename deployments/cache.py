"""Reads by canvas. A protocol, the in-process LRU, and the bytes a read is stored as. Knows no engine and no wire."""

import math
import struct
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Final, Protocol

from canvas import CanvasPlan, CanvasRead

CACHE_VERSION: Final = 1  # of key and value layout; a new number makes every old entry a miss
ENTRY_OVERHEAD_BYTES: Final = 300  # dict slot, link, two bytes objects: sys.getsizeof summed on CPython 3.11


class Cache(Protocol):
    """One key per state, one field per canvas. Values are immutable per key and field; a fault is a miss."""

    @property
    def kind(self) -> str:
        """What `/readyz` calls it."""
        ...

    async def get(self, key: bytes, fields: Sequence[bytes]) -> list[bytes | None]: ...

    async def put(self, key: bytes, values: Mapping[bytes, bytes]) -> None: ...


class MemoryCache:
    """Least recently used entries leave when `max_bytes` would be exceeded; 0 keeps nothing."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[bytes, bytes] = OrderedDict()
        self.used_bytes = 0

    @property
    def kind(self) -> str:
        return "memory" if self._max_bytes else "off"

    async def get(self, key: bytes, fields: Sequence[bytes]) -> list[bytes | None]:
        return [self._touch(key + field) for field in fields]

    async def put(self, key: bytes, values: Mapping[bytes, bytes]) -> None:
        for field, value in values.items():
            self._store(key + field, value)

    def _touch(self, name: bytes) -> bytes | None:
        value = self._entries.get(name)
        if value is not None:
            self._entries.move_to_end(name)
        return value

    def _store(self, name: bytes, value: bytes) -> None:
        old = self._entries.pop(name, None)
        if old is not None:
            self.used_bytes -= _cost(name, old)
        if _cost(name, value) > self._max_bytes:
            return
        self._entries[name] = value
        self.used_bytes += _cost(name, value)
        while self.used_bytes > self._max_bytes:
            evicted, lost = self._entries.popitem(last=False)
            self.used_bytes -= _cost(evicted, lost)


def _cost(name: bytes, value: bytes) -> int:
    return len(name) + len(value) + ENTRY_OVERHEAD_BYTES


def cache_key(fingerprint: str, tenant: str, state_digest: bytes) -> bytes:
    """`rg:{version}:` and 16 bytes over what moves the probabilities, who asks, and about which state."""
    digest = blake2b(digest_size=16)
    for part in (fingerprint.encode(), tenant.encode(), state_digest):
        digest.update(struct.pack("<I", len(part)))
        digest.update(part)
    return b"rg:%d:" % CACHE_VERSION + digest.digest()


def pack_read(read: CanvasRead) -> bytes:
    """Log-probabilities as little-endian doubles, slot after slot: exact, and its length is the plan's."""
    numbers = [number for slot in read for number in slot]
    return struct.pack(f"<{len(numbers)}d", *numbers)


def unpack_read(value: bytes, plan: CanvasPlan) -> CanvasRead | None:
    """The read, or None for a value that is not this plan's: a foreign or damaged entry is a miss."""
    sizes = [sum(map(len, slot.label_ids)) for slot in plan.slots]
    if len(value) != 8 * sum(sizes):
        return None
    numbers = struct.unpack(f"<{len(value) // 8}d", value)
    if any(math.isnan(number) or number > MAX_LOGPROB for number in numbers):
        return None
    read: list[tuple[float, ...]] = []
    start = 0
    for size in sizes:
        read.append(numbers[start : start + size])
        start += size
    return tuple(read)


MAX_LOGPROB: Final = 1e-3  # what deployments.engines.limits accepts from an engine
