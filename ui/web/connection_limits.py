"""Limits on connections, from one address and in all: each takes a file handle from everybody else.

When an address reaches its limit, its oldest connection that keeps the service waiting (it sends nothing, half a
request, or does not read its answer) is closed for the new one. So a client that opens thousands of connections loses
its own, and somebody else at the same address still gets in. Where no connection keeps the service waiting (all are
being answered, or are open windows), the new one is refused. Timeouts for slow clients are set in the proxy
(docs/operations.md).
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
"""Seconds between two log entries about a full address."""
FULL_RESPONSE = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n"
MAX_HEAD_BYTES = 64 * 1024
"""Of a request before its body: browsers and proxies end at 8 to 32 KiB."""
Address: TypeAlias = str
IsWaiting: TypeAlias = Callable[[], bool]
"""Returns whether the other side keeps the service waiting."""


class ConnectionLimits:
    """The counts and limits of a service's connections.

    Args:
        total, per_address: the limits; 0 for any number.
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
        """Count a new connection, for which another may have to be closed. False if there is no room."""
        peer = get_peer(connection)
        address, many = get_counted_address(peer), is_within(peer, self._proxies)
        # Twice where both limits are reached, the address's and the total.
        while full := self._find_full_address(address, 0 if many else self._per_address):
            self._tell(full, address)
            if not self._make_room(full):
                return False
        self._open.setdefault(address, {})[connection] = is_waiting
        self._count += 1
        return True

    def leave(self, connection: asyncio.Transport) -> None:
        """Stop counting a connection that has ended, unless it was refused or has been closed for another."""
        address = get_counted_address(get_peer(connection))
        there = self._open.get(address, {})
        if connection in there:
            del there[connection]
            self._count -= 1
            if not there:
                del self._open[address]

    def _find_full_address(self, address: Address, most: int) -> Address:
        """Find the address that has to give up a connection; empty if there is room. `most`: the new address's limit; 0
        for any number.
        """
        if most and len(self._open.get(address, ())) >= most:
            return address
        if self._total and self._count >= self._total:
            # The address with the most connections gives one up, not the new one: else one could keep all others out.
            return max(self._open, key=lambda one: len(self._open[one]))
        return ""

    def _make_room(self, address: Address) -> bool:
        """Close the oldest connection of this address that keeps the service waiting, without sending the rest."""
        oldest = next((one for one, is_waiting in self._open[address].items() if is_waiting()), None)
        if oldest is None:
            return False
        # Now: `connection_lost`, which would do it as well, is called only in the next round of the loop.
        self.leave(oldest)
        oldest.abort()
        return True

    def _tell(self, full: Address, newcomer: Address) -> None:
        now = self._clock()
        if now - self._told < WARN_SECONDS:
            return
        self._told = now
        logger.warning(
            "%d connections are open, %d of them from %s: the oldest that keeps the service waiting is closed for one"
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
        """Return whether the other side has more to send, or leaves sent data unread."""
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
    """Return the address at the other end; empty if it has hung up already."""
    name = connection.get_extra_info("peername")
    return str(name[0]) if name else ""


def get_counted_address(peer: str) -> Address:
    """Return the address to count a connection by: of IPv6 its /64 network, all of which one machine may have."""
    try:
        address = ipaddress.ip_address(peer.partition("%")[0])
    except ValueError:
        return peer
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    # An IPv6 socket shows an IPv4 peer as ::ffff:192.0.2.1, and the /64 network of that would hold all of IPv4.
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((address, 64), strict=False))
