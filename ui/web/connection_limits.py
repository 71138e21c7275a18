"""How many connections there may be, from one address and in all: each takes a file handle from everybody else.

When an address has as many as it may, its oldest connection that keeps the service waiting (it sends nothing, half a
request, or does not read its answer) makes room for the new one. So whoever opens thousands of connections loses their
own, and somebody else at the same address still gets in. Where none keeps the service waiting (all are being answered,
or are open windows), the new one is turned away. Timeouts for slow clients are the proxy's (docs/operations.md).
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.auto import AutoWebSocketsProtocol

from argot.ui.web.authentication import Network, is_within

logger = logging.getLogger(__name__)

WARN_SECONDS = 60.0
"""Seconds between two lines in the log about this."""
FULL_RESPONSE = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n"
MAX_HEAD_BYTES = 64 * 1024
"""Of a request before its body: browsers and proxies end at 8 to 32 KiB."""
Address: TypeAlias = str
IsWaiting: TypeAlias = Callable[[], bool]
"""Return whether the other side keeps the service waiting."""


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
        self._open: dict[Address, dict[asyncio.Transport, IsWaiting]] = {}
        self._count = 0
        # So that the first line is logged: the clock may start at 0.
        self._told = -WARN_SECONDS

    def enter(self, connection: asyncio.Transport, is_waiting: IsWaiting) -> bool:
        """Count a new connection in; another may have to make room for it. False if there is no room."""
        peer = get_peer(connection)
        address, many = get_counted_address(peer), is_within(peer, self._proxies)
        # Twice where both limits are reached, that of the address and that of all.
        while full := self._find_full_address(address, 0 if many else self._per_address):
            self._tell(full, address)
            if not self._make_room(full):
                return False
        self._open.setdefault(address, {})[connection] = is_waiting
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
        """End this address's oldest connection that keeps us waiting, whatever is still to be sent to it."""
        oldest = next((one for one, is_waiting in self._open[address].items() if is_waiting()), None)
        if oldest is None:
            return False
        # At once: `connection_lost`, which counts out as well, is called only in the next round of the loop.
        self.leave(oldest)
        oldest.abort()
        return True

    def _tell(self, full: Address, newcomer: Address) -> None:
        now = self._clock()
        if now - self._told < WARN_SECONDS:
            return
        self._told = now
        logger.warning(
            "%d connections are open, %d of them from %s: the oldest that keeps the service waiting makes room for one"
            " from %s (settings 'connections', 'connections_per_address')",
            self._count,
            len(self._open[full]),
            full,
            newcomer,
        )


class CountedProtocol(H11Protocol):
    """uvicorn's HTTP protocol, whose connections are counted."""

    def __init__(self, *args: Any, limits: ConnectionLimits, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limits = limits

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        # After uvicorn has set the connection up: it tears it down in `connection_lost`, refused or not.
        if not self._limits.enter(transport, self._is_waiting):
            transport.write(FULL_RESPONSE)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._limits.leave(self.transport)
        super().connection_lost(exc)

    def _is_waiting(self) -> bool:
        """Return whether the other side has more to send, or does not read what was sent."""
        # uvicorn hands the transport of a websocket over to another protocol, and this one hears no more of it.
        if self.transport.get_protocol() is not self:
            return False
        if self.cycle is None or self.cycle.response_complete or self.transport.is_closing():
            return True
        return self.cycle.more_body or self.transport.get_write_buffer_size() > 0


class CountedWebSocket(AutoWebSocketsProtocol):  # type: ignore[valid-type, misc]
    """uvicorn's websockets. Each began as a connection that was counted, and is counted out when it ends."""

    def __init__(self, *args: Any, limits: ConnectionLimits, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._limits = limits

    def connection_lost(self, exc: Exception | None) -> None:
        self._limits.leave(self.transport)
        super().connection_lost(exc)


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
