"""A port of this machine at which nobody should knock."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Listener:
    """Counts whoever connects, by IPv4 or IPv6."""

    port: int = 0
    hits: list[Any] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/x"


@contextmanager
def listening() -> Iterator[Listener]:
    both = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if both else socket.AF_INET
    made, ended = Listener(), threading.Event()
    with socket.create_server(("::1" if both else "127.0.0.1", 0), family=family) as server, socket.socket() as other:
        made.port = server.getsockname()[1]
        other.bind(("127.0.0.1", made.port)) if both else None
        servers = [server, other] if both else [server]
        for one in servers:
            one.listen()
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
