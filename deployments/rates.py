"""Token buckets of one tenant. Pure but for its own counts; time comes in as an argument."""

from collections.abc import Mapping
from typing import Final

_MINUTE_S: Final = 60.0


class Rates:
    """Per-minute limits by unit; a bucket holds one minute's worth, so bursts up to the limit pass.

    `per_minute` maps requests, questions or tokens to a limit.
    """

    def __init__(self, per_minute: Mapping[str, int]) -> None:
        self._per_minute = dict(per_minute)
        self._left: dict[str, float] = {unit: float(limit) for unit, limit in per_minute.items()}
        self._then_s: float | None = None

    def refusal(self, *, now_s: float) -> tuple[str, float] | None:
        """The limit that is used up, and the seconds until there is room; None while every bucket holds one unit."""
        self._refill(now_s)
        for unit, left in self._left.items():
            if left < 1:
                limit = self._per_minute[unit]
                return f"{limit} {unit} a minute", (1 - left) * _MINUTE_S / limit
        return None

    def spend(self, unit: str, amount: int) -> None:
        """Take it, into debt if need be: what a request costs is known only once it has been let in."""
        if unit in self._left:
            self._left[unit] -= amount

    def _refill(self, now_s: float) -> None:
        elapsed_s = 0.0 if self._then_s is None else max(0.0, now_s - self._then_s)
        self._then_s = now_s
        for unit, limit in self._per_minute.items():
            self._left[unit] = min(float(limit), self._left[unit] + limit * elapsed_s / _MINUTE_S)
