"""Encoded prefixes, least recently used out first, bounded by bytes. Knows arrays, no model. Safe between threads."""

import threading
from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

KeysValues = NDArray[np.float32]
"""[layer, key or value, head, token, channel]"""


Prefix = tuple[int, ...]
"""The first ids of a prompt: equal ids have equal keys and values."""


class PrefixCache:
    """A value larger than `max_bytes` is not kept; one that is kept may push others out."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._entries: OrderedDict[Prefix, KeysValues] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def stored_bytes(self) -> int:
        return self._bytes

    def get(self, prefix: Prefix) -> KeysValues | None:
        with self._lock:
            found = self._entries.get(prefix)
            if found is not None:
                self._entries.move_to_end(prefix)
            return found

    def put(self, prefix: Prefix, keys_values: KeysValues) -> None:
        """The first of two threads that encoded one prefix wins; their values are equal."""
        with self._lock:
            if prefix in self._entries or keys_values.nbytes > self._max_bytes:
                return
            self._entries[prefix] = keys_values
            self._bytes += keys_values.nbytes
            while self._bytes > self._max_bytes:
                _, dropped = self._entries.popitem(last=False)
                self._bytes -= dropped.nbytes

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._bytes = 0
