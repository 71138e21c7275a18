"""The Host and Origin headers that are the service's own: others come of foreign names or pages."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from argot.service.sign_in.embedding import LOCAL_HOSTS


class HostNames:
    """The names and addresses under which the service answers.

    Args:
        host, port: the address it listens on.
        secluded: only this machine can reach it. Otherwise every numeric address is accepted: rebinding needs a name.
        public_url: the address that people open, if a proxy stands before it.
    """

    def __init__(self, host: str, port: int, *, secluded: bool = True, public_url: str = "") -> None:
        self.port = port
        self.secluded = secluded
        self.hosts = frozenset(list_own_hosts(host, port))
        origins = {f"http://{name}" for name in self.hosts}
        if public_url:
            scheme, _, rest = public_url.rstrip("/").casefold().partition("://")
            self.hosts |= {rest}
            origins.add(f"{scheme}://{rest}")
        self.origins = frozenset(origins)

    def is_own(self, host: str) -> bool:
        host = host.casefold()
        return host in self.hosts or (not self.secluded and self._is_address(host))

    def is_own_origin(self, origin: str, host: str) -> bool:
        origin = origin.casefold()
        return origin in self.origins or (origin == f"http://{host.casefold()}" and self.is_own(host))

    def _is_address(self, host: str) -> bool:
        # "[::1]" ends in a bracket and has no port, despite its colons.
        name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        if not name:
            name, port = host, "80"
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return (port or "80") == str(self.port)


def list_own_hosts(host: str, port: int) -> Iterable[str]:
    """List the Host headers under which the window answers; a browser leaves the standard port out."""
    named = f"[{host}]" if ":" in host else host
    for name in (*LOCAL_HOSTS, named.casefold()):
        yield f"{name}:{port}"
        if port == 80:
            yield name
