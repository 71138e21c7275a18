"""Counts that leak away with time, one for each key: how often somebody may do something, in bounded memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

MOST_COUNTED = 20_000
"""Keys counted; the one that was counted longest ago makes room."""

K = TypeVar("K", bound=Hashable)


class LeakyBuckets(Generic[K]):
    """A full bucket leaks away within the window. Not safe from several threads at once: callers hold a lock.

    Args:
        clock: monotonic seconds, which nobody can set.
    """

    def __init__(self, window_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._window = window_seconds
        self._clock = clock
        self._levels: OrderedDict[K, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._levels)

    def wait(self, key: K, limit: int) -> float:
        """Seconds until there is room for one more; 0 or less: there is."""
        return (self._compute_level(key, limit, self._clock()) - (limit - 1)) * self._window / limit

    def add(self, key: K, limit: int, amount: float = 1.0) -> None:
        """Count one more, whether there is room or not; less than 0 takes back."""
        now = self._clock()
        self._levels[key] = (max(0.0, self._compute_level(key, limit, now) + amount), now)
        # The one counted last makes room last.
        self._levels.move_to_end(key)
        while len(self._levels) > MOST_COUNTED:
            self._levels.popitem(last=False)

    def empty(self, key: K) -> None:
        self._levels.pop(key, None)

    def _compute_level(self, key: K, limit: int, now: float) -> float:
        level, at = self._levels.get(key, (0.0, now))
        # `limit` a window leak away, so that a full bucket is empty after one.
        return max(0.0, level - (now - at) * limit / self._window)
