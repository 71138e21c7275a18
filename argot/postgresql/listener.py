"""Messages between the processes that share a PostgreSQL: LISTEN and NOTIFY, on one channel per knowledge base.

A message may be missed: a process that is not listening at that moment never gets it. Each time a process begins to
listen it therefore checks everything again (`on_gap`), and access control never relies on a message.
"""

from __future__ import annotations

import json
import logging
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import sql as pgsql

from argot.postgresql.errors import convert_postgresql_errors
from argot.postgresql.stores import PostgresqlStores

logger = logging.getLogger(__name__)

POLL_SECONDS = 5.0
"""A connection that is silent for this long is probed."""
RETRY_SECONDS = (0.1, 0.3, 1.0, 2.0)
"""Seconds between connection attempts; the last one is repeated."""
RESTART_SECONDS = 3.0
MAX_MESSAGE_BYTES = 7000
"""Maximum bytes of a message; PostgreSQL accepts 8,000."""


class ProcessListener:
    """Sends messages to other processes, and receives theirs in its own thread.

    Args:
        stores: their schema names the channel.
    """

    def __init__(self, stores: PostgresqlStores) -> None:
        self._stores = stores
        self._channel = f"argot_{stores.schema}"
        # This process ignores its own messages.
        self._me = secrets.token_hex(8)
        self._listeners: dict[str, list[Callable[[str], None]]] = {}
        self._gaps: list[Callable[[], None]] = []
        self._closed = threading.Event()
        self._listening = threading.Event()
        self._lost_at: float | None = None
        self._thread = threading.Thread(target=self._listen, name="argot-listener", daemon=True)

    def start(self) -> None:
        """Begin to listen, as soon as the server answers. Callbacks have to be registered before."""
        self._thread.start()

    def listen(self, topic: str, listener: Callable[[str], None]) -> None:
        """Call `listener`, in the listener's thread, with each later message of other processes about the topic."""
        self._listeners.setdefault(topic, []).append(listener)

    def on_gap(self, check_again: Callable[[], None]) -> None:
        """Call this, in the listener's thread, whenever it begins to listen, because messages may have been missed
        before.
        """
        self._gaps.append(check_again)

    def notify(self, topic: str, text: str = "") -> None:
        """Send a message to the other processes. They receive it when this returns, or never.

        Args:
            text: of at most 7,000 bytes.

        Raises:
            StoreUnavailable
        """
        payload = json.dumps({"by": self._me, "topic": topic, "text": text})
        if len(payload) > MAX_MESSAGE_BYTES:
            raise ValueError(f"A message about '{topic}' is too long: {len(payload)} bytes.")
        with convert_postgresql_errors(self._stores.name), self._stores.connection() as connection:
            connection.execute("SELECT pg_notify($1::text, $2::text)", (self._channel, payload))

    @property
    def is_gone(self) -> bool:
        """True if the server has been unavailable for longer than a restart takes."""
        return self._lost_at is not None and time.monotonic() - self._lost_at > RESTART_SECONDS

    def close(self) -> None:
        self._closed.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _listen(self) -> None:
        failed = 0
        while not self._closed.is_set():
            try:
                with psycopg.connect(self._stores.conninfo, **self._stores.options) as connection:
                    connection.execute(pgsql.SQL("LISTEN {}").format(pgsql.Identifier(self._channel)))
                    failed, self._lost_at = 0, None
                    # After LISTEN: changes from here on are received.
                    self._call(self._gaps)
                    self._listening.set()
                    self._hear(connection)
            except psycopg.Error as error:
                # Logged once for each outage: further attempts fail in the same way.
                if not failed:
                    logger.warning(
                        "%s: nothing is heard of other processes (%s)", self._stores.name, _join_lines(error)
                    )
                self._lost_at = self._lost_at or time.monotonic()
                self._closed.wait(RETRY_SECONDS[min(failed, len(RETRY_SECONDS) - 1)])
                failed += 1

    def _hear(self, connection: psycopg.Connection[Any]) -> None:
        quiet = 0.0
        while not self._closed.is_set():
            # In short intervals, so that closing does not wait for a message.
            heard = False
            for message in connection.notifies(timeout=0.5, stop_after=1):
                heard = True
                self._take(message.payload)
            quiet = 0.0 if heard else quiet + 0.5
            if quiet >= POLL_SECONDS:
                quiet = 0.0
                connection.execute("SELECT 1", prepare=False)

    def _take(self, payload: str) -> None:
        said: dict[str, str] = {}
        # Every user of the database may send anything on the channel.
        with suppress(ValueError, AttributeError):
            said = {key: str(value) for key, value in json.loads(payload).items()}
        if said.get("by") != self._me:
            self._call(self._listeners.get(said.get("topic", ""), ()), said.get("text", ""))

    def _call(self, functions: Any, *given: str) -> None:
        for function in functions:
            try:
                function(*given)
            # A failing callback must not prevent the others.
            except Exception:
                logger.exception("what another process said could not be dealt with")


def _join_lines(error: psycopg.Error) -> str:
    return " ".join(str(error).split())
