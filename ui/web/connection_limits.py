"""How many connections there may be, from one address and in all: each takes a file handle from everybody else.

When an address has as many as it may, the connection that has kept the service waiting longest (it sends nothing, half
a request, or does not read its answer) makes room for the new one. So whoever opens thousands of connections loses
their own, and somebody else at the same address still gets in. Where none keeps the service waiting (all are being
answered, or are open windows), the new one is turned away.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import time
from collections.abc import Callable
from typing import TypeAlias

from argot.ui.web.authentication import Network, is_within

logger = logging.getLogger(__name__)

WARN_SECONDS = 60.0
"""Seconds between two lines in the log about this."""
FULL_RESPONSE = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n"
Address: TypeAlias = str
Waited: TypeAlias = Callable[[], float | None]
"""For how many seconds the other side has kept us waiting; None: it does not."""


class ConnectionLimits:
    """Counts the connections of a service.

    Args:
        total, per_address: how many there may be; 0: any number.
        proxies: who passes on the connections of many; each of these may have as many as there may be in all.
        clock: in seconds, for the log.
    """

    def __init__(
        self,
        total: int = 0,
        per_address: int = 0,
        proxies: tuple[Network, ...] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total = total
        self._per_address = per_address
        self._proxies = proxies
        self._clock = clock
        self._open: dict[Address, dict[asyncio.Transport, Waited]] = {}
        self._count = 0
        # So that the first line is logged: the clock may start at 0.
        self._told = -WARN_SECONDS

    def enter(self, connection: asyncio.Transport, waited: Waited) -> bool:
        """Count a new connection in; another may have to make room for it. False if there is no room."""
        peer = get_peer(connection)
        address, many = get_counted_address(peer), is_within(peer, self._proxies)
        # Twice where both limits are reached, that of the address and that of all.
        while full := self._find_full_address(address, 0 if many else self._per_address):
            self._tell(full, address)
            if not self._make_room(full):
                return False
        self._open.setdefault(address, {})[connection] = waited
        self._count += 1
        return True

    def leave(self, connection: asyncio.Transport) -> None:
        """Count out a connection that has ended, unless it never got in or has made room already."""
        address = get_counted_address(get_peer(connection))
        there = self._open.get(address, {})
        if connection in there:
            del there[connection]
            self._count -= 1
            if not there:
                del self._open[address]

    def _find_full_address(self, address: Address, most: int) -> Address:
        """The address that has to give a connection up; empty: there is room. `most`: for this one; 0: any number."""
        if most and len(self._open.get(address, ())) >= most:
            return address
        if self._total and self._count >= self._total:
            # Whoever has the most gives one up, not whoever comes: else one address could keep all others out.
            return max(self._open, key=lambda one: len(self._open[one]))
        return ""

    def _make_room(self, address: Address) -> bool:
        """End the connection of this address that has kept us waiting longest, whatever is still to be sent to it."""
        waiting = [(seconds, one) for one, waited in self._open[address].items() if (seconds := waited()) is not None]
        if not waiting:
            return False
        _, longest = max(waiting, key=lambda pair: pair[0])
        # At once: `connection_lost`, which counts out as well, is called only in the next round of the loop.
        self.leave(longest)
        longest.abort()
        return True

    def _tell(self, full: Address, newcomer: Address) -> None:
        now = self._clock()
        if now - self._told < WARN_SECONDS:
            return
        self._told = now
        logger.warning(
            "%d connections are open, %d of them from %s: whoever keeps the service waiting longest makes room for one"
            " from %s (settings 'connections', 'connections_per_address')",
            self._count,
            len(self._open[full]),
            full,
            newcomer,
        )


def get_peer(connection: asyncio.Transport) -> str:
    """The address at the other end; empty if it has hung up already."""
    name = connection.get_extra_info("peername")
    return str(name[0]) if name else ""


def get_counted_address(peer: str) -> Address:
    """The address by which a connection is counted: of IPv6 its /64 network, all of which one machine may have."""
    try:
        address = ipaddress.ip_address(peer.partition("%")[0])
    except ValueError:
        return peer
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    # A socket of IPv6 shows a peer of IPv4 as ::ffff:192.0.2.1; by its network all of IPv4 would be one address.
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, 64), strict=False))
