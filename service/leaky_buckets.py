"""Counters that leak away with time, one for each key: rate limits in bounded memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

MOST_COUNTED = 20_000
"""Maximum number of keys; the least recently counted is removed."""

K = TypeVar("K", bound=Hashable)


class LeakyBuckets(Generic[K]):
    """A full bucket empties within the window. Not thread-safe: callers hold a lock.

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
        """Return the seconds until there is room for one more; 0 or less: there is."""
        return (self._compute_level(key, limit, self._clock()) - (limit - 1)) * self._window / limit

    def add(self, key: K, limit: int, amount: float = 1.0) -> None:
        """Count one more, whether or not there is room; a negative number takes back."""
        now = self._clock()
        self._levels[key] = (max(0.0, self._compute_level(key, limit, now) + amount), now)
        # The most recently counted key is removed last.
        self._levels.move_to_end(key)
        while len(self._levels) > MOST_COUNTED:
            self._levels.popitem(last=False)

    def empty(self, key: K) -> None:
        self._levels.pop(key, None)

    def _compute_level(self, key: K, limit: int, now: float) -> float:
        level, at = self._levels.get(key, (0.0, now))
        # `limit` a window leak away, so that a full bucket is empty after one.
        return max(0.0, level - (now - at) * limit / self._window)
