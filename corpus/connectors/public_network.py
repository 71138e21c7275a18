"""Addresses of the network that a source may be fetched from: none of this machine, and none of its own network.

Who names a source must not be able to make the service ask what only the service can reach.
"""

from __future__ import annotations

import ipaddress
import socket

from argot.corpus.connectors.listing import SourceDown


class PrivateHost(SourceDown):
    """A name stands for an address that only this machine or its network reaches."""

    def __init__(self, host: str, address: str) -> None:
        self.host = host
        self.address = address
        super().__init__(
            f"The host '{host}' lies in a private network. An administrator can allow that: --with private=yes"
        )


def checked_addresses(host: str, port: int) -> list[str]:
    """The IP addresses that a name stands for now, all of them public.

    Raises:
        SourceDown: it stands for none. PrivateHost: or for a private one.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise SourceDown(f"There is no host '{host}': {getattr(error, 'strerror', None) or error}.") from error
    addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
    if private := [one for one in addresses if not _is_public(one)]:
        raise PrivateHost(host, private[0])
    return addresses


def _is_public(address: str) -> bool:
    # An address of IPv6 may name its interface: fe80::1%eth0.
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        # The same as an address of IPv4, in the clothes of one of IPv6.
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is not None:
            found = inner
        elif found in _NAT64:
            found = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
    return found.is_global and not found.is_multicast


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
