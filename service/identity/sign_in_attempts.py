"""Limits on attempts to sign in, against guessing, in bounded memory.

Counted are attempts by name and address together, by address, and by name. Each count leaks away with time. A name
that exists and one that does not are counted alike. A person who signed in from an address before is held only to the
first limit, so that nobody can lock others out by failing under their names.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

from cachetools import LRUCache

from argot.service.leaky_buckets import MOST_COUNTED, LeakyBuckets

WINDOW_SECONDS = 15 * 60
"""Time in which a full count leaks away."""
LIMITS: dict[Literal["both", "address", "name"], int] = {"both": 5, "address": 60, "name": 30}

Key: TypeAlias = tuple[Literal["both", "address", "name"], str, str]


class CountedAttempts(Protocol):
    """Attempts of the last minutes, in this process or in all that share the stores."""

    def begin(self, name: str, address: str) -> float: ...

    def note_success(self, name: str, address: str) -> None: ...


class Attempts:
    """Attempts of the last minutes. Safe from any thread; filling its memory takes as many hashed attempts."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._guard = threading.Lock()
        # Both are bounded: names and addresses that never sign in cannot fill the memory.
        self._counts: LeakyBuckets[Key] = LeakyBuckets(WINDOW_SECONDS, clock)
        self._friends: LRUCache[tuple[str, str], bool] = LRUCache(MOST_COUNTED)
        """The people who signed in there; the most recent is last."""

    def begin(self, name: str, address: str) -> float:
        """Count an attempt; return 0, or the seconds to wait, in which case it is not counted.

        It is counted before its password is checked, so that concurrent attempts cannot evade the limit.
        """
        with self._guard:
            keys = self._list_keys(name, address)
            # All limits at once: if one of them is exhausted the attempt counts nowhere.
            wait = max(self._counts.wait(key, LIMITS[key[0]]) for key in keys)
            if wait <= 0:
                for key in keys:
                    self._counts.add(key, LIMITS[key[0]])
            return max(wait, 0.0)

    def note_success(self, name: str, address: str) -> None:
        """Remove a successful attempt from the counts."""
        with self._guard:
            for key in self._list_keys(name, address):
                if key[0] == "both":
                    self._counts.empty(key)
                else:
                    # The other two counts lose only this attempt: a guesser with one valid password cannot clear them.
                    self._counts.add(key, LIMITS[key[0]], -1.0)
            self._friends[name, find_network(address)] = True

    def __len__(self) -> int:
        return len(self._counts)

    def _list_keys(self, name: str, address: str) -> list[Key]:
        network = find_network(address)
        both: Key = ("both", name, network)
        if (name, network) in self._friends:
            # At addresses where they signed in before, others' failures do not block them.
            return [both]
        return [both, ("address", "", network), ("name", name, "")]


def find_network(address: str) -> str:
    """Return the address, or for IPv6 its /64, which belongs to one household."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        # No address, as from a Unix socket or a test: the text itself is counted.
        return address[:64]
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    # An IPv4 address in IPv6's form is still one host's.
    return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False).network_address)
