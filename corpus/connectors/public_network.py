"""Network addresses from which a source may be fetched: none of this machine, and none of its own network.

A person who adds a source must not make the service fetch data that only the service can reach.
"""

from __future__ import annotations

import ipaddress
import re
import socket

import idna

from argot.corpus.connectors.listing import SourceDown


class PrivateHost(SourceDown):
    """A name resolves to an address that only this machine or its network reaches."""

    def __init__(self, host: str, address: str) -> None:
        self.host = host
        self.address = address
        super().__init__(
            f"The host '{host}' lies in a private network. An administrator can allow that: --with private=yes"
        )


def normalize_host(host: str) -> str:
    """Return the one spelling of a host on which name servers, libraries and programs agree: small letters of ASCII
    (IDNA 2008), without a dot at the end. An IP address keeps its form.

    Raises:
        SourceDown: it is no valid host.
    """
    plain = host.strip("[]").rstrip(".").lower()
    try:
        found = plain if plain.isascii() else idna.encode(plain, uts46=True, transitional=False).decode("ascii")
    except UnicodeError as error:
        raise SourceDown(f"'{host}' is not a host name: {error}. Write its ASCII form (xn--...).") from error
    # A zone (fe80::1%eth0) names an interface of this machine, and programs differ in how they read an escape (%31).
    found = found.rstrip(".")
    if not _HOST_NAME.fullmatch(found):
        raise SourceDown(f"'{host}' is not a host name. Write it as wiki.example.org.")
    return found


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def resolve_public_addresses(host: str, port: int) -> list[str]:
    """Return the IP addresses to which a name resolves now, all of them public.

    Raises:
        SourceDown: it does not resolve. PrivateHost: it resolves to a private one.
    """
    try:
        found = socket.getaddrinfo(normalize_host(host), port, type=socket.SOCK_STREAM)
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
        # An IPv4 address embedded in an IPv6 address.
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is not None:
            found = inner
        elif found in _NAT64_NETWORK:
            found = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        elif found not in _UNICAST_NETWORK:
            return False  # also other forms of embedded IPv4 addresses
    return found.is_global and not found.is_multicast


_HOST_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*|[0-9a-f:.]*:[0-9a-f:.]*")
_UNICAST_NETWORK = ipaddress.IPv6Network("2000::/3")
"""The addresses that are assigned to networks of the internet (RFC 4291, 2.4)."""
_NAT64_NETWORK = ipaddress.IPv6Network("64:ff9b::/96")
