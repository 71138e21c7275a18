"""How often somebody may try to sign in: limits against guessing, in bounded memory.

Counted are attempts by name and address together, by address, and by name. Each count leaks away with time. A name
that exists and one that does not are counted alike. Who signed in from an address before is held to the first limit
alone, so that nobody can lock others out by failing under their names.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Literal, TypeAlias, TypeVar

WINDOW_SECONDS = 15 * 60
"""In this time a full count leaks away."""
LIMITS: dict[Literal["both", "address", "name"], int] = {"both": 5, "address": 60, "name": 30}
MOST_COUNTED = 20_000
"""Counts kept of each sort; the oldest makes room. Filling them takes that many hashed attempts."""

K = TypeVar("K")
V = TypeVar("V")
Key: TypeAlias = tuple[Literal["both", "address", "name"], str, str]


class Attempts:
    """Attempts of the last minutes. Safe from any thread; counts by a clock that nobody can set."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._guard = threading.Lock()
        self._levels: OrderedDict[Key, tuple[float, float]] = OrderedDict()
        self._friends: OrderedDict[tuple[str, str], None] = OrderedDict()

    def begin(self, name: str, address: str) -> float:
        """Count an attempt; 0, or the seconds to wait, and then it was not one.

        It is counted before its password is looked at: many at once are no way around the limit.
        """
        with self._guard:
            now = self._clock()
            keys = self._keys(name, address)
            wait = max(self._wait(key, now) for key in keys)
            if wait <= 0:
                for key in keys:
                    self._add(key, now, 1.0)
            return max(wait, 0.0)

    def succeeded(self, name: str, address: str) -> None:
        """It was no guess: take it out of the counts."""
        with self._guard:
            now = self._clock()
            for key in self._keys(name, address):
                if key[0] == "both":
                    self._levels.pop(key, None)
                else:
                    self._add(key, now, -1.0)
            _keep(self._friends, (name, network_of(address)), None)

    def __len__(self) -> int:
        return len(self._levels)

    def _keys(self, name: str, address: str) -> list[Key]:
        network = network_of(address)
        both: Key = ("both", name, network)
        if (name, network) in self._friends:
            return [both]
        return [both, ("address", "", network), ("name", name, "")]

    def _level(self, key: Key, now: float) -> float:
        level, at = self._levels.get(key, (0.0, now))
        return max(0.0, level - (now - at) * LIMITS[key[0]] / WINDOW_SECONDS)

    def _wait(self, key: Key, now: float) -> float:
        """Seconds until there is room for one more."""
        limit = LIMITS[key[0]]
        return (self._level(key, now) - (limit - 1)) * WINDOW_SECONDS / limit

    def _add(self, key: Key, now: float, amount: float) -> None:
        _keep(self._levels, key, (max(0.0, self._level(key, now) + amount), now))


def network_of(address: str) -> str:
    """The address, or for IPv6 its /64: that much belongs to one household."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False).network_address)


def _keep(kept: OrderedDict[K, V], key: K, value: V) -> None:
    """Put it in as the newest, and drop the oldest of too many."""
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > MOST_COUNTED:
        kept.popitem(last=False)
