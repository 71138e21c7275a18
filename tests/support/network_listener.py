"""A local port to which nothing should connect."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Listener:
    """Counts connections by IPv4 or IPv6."""

    port: int = 0
    hits: list[Any] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/x"


@contextmanager
def listening() -> Iterator[Listener]:
    made, ended = Listener(), threading.Event()
    with ExitStack() as opened:
        servers = [opened.enter_context(one) for one in _servers()]
        made.port = servers[0].getsockname()[1]
        for one in servers:
            one.settimeout(0.1)

        def listen() -> None:
            while not ended.is_set():
                for one in servers:
                    try:
                        connection, address = one.accept()
                    except TimeoutError:
                        continue
                    made.hits.append(address)
                    connection.close()

        thread = threading.Thread(target=listen)
        thread.start()
        yield made
        ended.set()
        thread.join()


def _servers() -> list[socket.socket]:
    """Return one server per IP version, all at the same port."""
    if not socket.has_dualstack_ipv6():
        return [socket.create_server(("127.0.0.1", 0))]
    while True:
        six = socket.create_server(("::1", 0), family=socket.AF_INET6)
        try:
            return [six, socket.create_server(("127.0.0.1", six.getsockname()[1]))]
        except OSError:  # a port that is free for the one may be taken for the other
            six.close()
