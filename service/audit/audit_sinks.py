"""Destinations of events: a file, a syslog server, an address over HTTP.

The file is written at once. The other two are written by one thread each, from a bounded queue, so that a server that
is slow or down delays nobody; what does not fit, or cannot be sent in time, is lost, counted, and logged.
"""

from __future__ import annotations

import itertools
import logging
import os
import queue
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from logging.handlers import SysLogHandler
from pathlib import Path
from urllib.parse import urlsplit

from argot.errors import InvalidSettings
from argot.shown_addresses import hide_secrets

logger = logging.getLogger(__name__)

MAX_WAITING_EVENTS = 10_000
"""Events that wait until a destination takes them; beyond that the oldest are lost."""
SEND_SECONDS = 5.0
RETRY_SECONDS = (1.0, 5.0, 15.0, 30.0, 60.0)
"""Waits between attempts to send one event; the last is repeated."""
CLOSE_SECONDS = 5.0
"""Time for what still waits when the service stops."""


class FileSink:
    """A file to which each event is appended as a line.

    It is opened anew for each event, so a program such as logrotate may rename it at any time. Events that could not be
    written wait in memory, and go first when the file can be written again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()
        self.lost = 0
        self._waiting: deque[str] = deque()
        self._guard = threading.Lock()

    def write(self, line: str) -> None:
        """Append this line. If that fails, the line waits, and the failure is logged."""
        with self._guard:
            self._waiting.append(line)
            while len(self._waiting) > MAX_WAITING_EVENTS:
                self._waiting.popleft()
                self.lost += 1
        if error := self.flush():
            logger.error("an audit event could not be written to %s: %s; it waits in memory", self.path, error)

    def flush(self) -> OSError | None:
        """Write the waiting events, and check that the file can be written; return the error if it cannot."""
        with self._guard:
            try:
                self._append()
            except OSError as error:
                return error
        return None

    def _append(self) -> None:
        opened = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            while self._waiting:
                data = f"{self._waiting[0]}\n".encode()
                # In one call, so that lines of several processes do not mix; a partial line is completed by nothing.
                if os.write(opened, data) != len(data):
                    os.write(opened, b"\n")
                    raise OSError("the disk took only a part of a line")
                self._waiting.popleft()
        finally:
            os.close(opened)

    def close(self) -> None:
        error = self.flush()
        if self._waiting:
            logger.error("%d audit events are lost: %s: %s", len(self._waiting), self.path, error)


class QueueSink:
    """A destination that a thread writes to, from a bounded queue.

    Args:
        name: how the log names it.
        send: sends one line, or raises OSError.
        waits: seconds between attempts to send one line.
    """

    def __init__(self, name: str, send: Callable[[str], None], waits: tuple[float, ...] = RETRY_SECONDS) -> None:
        self.name, self._send, self._waits = name, send, waits
        self.lost = 0
        self._queue: queue.Queue[str | None] = queue.Queue(MAX_WAITING_EVENTS)
        self._ending = threading.Event()
        self._deadline = float("inf")
        self._thread = threading.Thread(target=self._send_lines, name=f"audit-{name}", daemon=True)
        self._thread.start()

    def write(self, line: str) -> None:
        try:
            self._queue.put_nowait(line)
        except queue.Full:
            self.lost += 1
            # Once for each thousand, because a server that is down meets every event.
            if self.lost % 1000 == 1:
                logger.error("%d audit events for %s are lost so far: too many wait for it", self.lost, self.name)

    def close(self) -> None:
        """Send the waiting events, for `CLOSE_SECONDS` at most; count the rest as lost."""
        self._deadline = time.monotonic() + CLOSE_SECONDS
        self._ending.set()
        with suppress(queue.Full):  # then the thread ends at the deadline
            self._queue.put_nowait(None)
        self._thread.join(CLOSE_SECONDS + SEND_SECONDS)
        if left := sum(line is not None for line in self._queue.queue):
            self.lost += left
        if self.lost:
            logger.error("%d audit events for %s are lost", self.lost, self.name)

    def _send_lines(self) -> None:
        while (line := self._queue.get()) is not None:
            if not self._deliver(line):
                self.lost += 1
                return

    def _deliver(self, line: str) -> bool:
        """Send this line, again and again; return False when the time for it is over."""
        for attempt in itertools.count():
            try:
                self._send(line)
                if attempt:
                    logger.warning("%s takes audit events again", self.name)
                return True
            except OSError as error:
                if not attempt:
                    logger.error("%s does not take audit events: %s; they wait", self.name, error)
            wait = self._waits[min(attempt, len(self._waits) - 1)]
            if self._ending.wait(wait):
                time.sleep(min(wait, 0.2))
            if time.monotonic() > self._deadline:
                return False
        raise AssertionError("the attempts have no end")


class _RaisingHandler(SysLogHandler):
    """The handler of the standard library, which raises what it cannot send instead of printing it."""

    def handleError(self, record: logging.LogRecord) -> None:
        raise  # noqa: PLE0704  called within its `except`


class SyslogSender:
    """A syslog server, or the socket of the local one; connected with the first event, and again after a failure."""

    def __init__(self, address: str) -> None:
        self._where, self._kind = parse_syslog(address)
        self._handler: _RaisingHandler | None = None

    def __call__(self, line: str) -> None:
        record = logging.LogRecord("argot", logging.INFO, "", 0, line, None, None)
        try:
            if self._handler is None:
                self._handler = _RaisingHandler(self._where, SysLogHandler.LOG_AUTHPRIV, self._kind)
                self._handler.ident = "argot: "
                # Datagrams end with themselves; in a stream a line break ends each message (RFC 6587, 3.4.2).
                self._handler.append_nul = False
                if self._kind == socket.SOCK_STREAM:
                    self._handler.setFormatter(logging.Formatter("%(message)s\n"))
            self._handler.emit(record)
        except OSError:
            if self._handler is not None:
                self._handler.close()
            self._handler = None
            raise


def parse_syslog(address: str) -> tuple[str | tuple[str, int], socket.SocketKind | None]:
    """Return the address of a syslog server for SysLogHandler, and the kind of its socket.

    Raises:
        InvalidSettings: it is neither udp://HOST:PORT, tcp://HOST:PORT, nor the path of a socket.
    """
    if address.startswith("/"):
        return address, None
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or 514
    except ValueError:
        host, port = None, 0
    if not host or parts.scheme not in ("udp", "tcp"):
        raise InvalidSettings(
            f"The setting 'audit_syslog' cannot be {hide_secrets(address)!r:.80}:"
            " give udp://HOST:PORT, tcp://HOST:PORT or /dev/log."
        )
    return (host, port), socket.SOCK_STREAM if parts.scheme == "tcp" else socket.SOCK_DGRAM


class HttpSender:
    """An address that receives each event as the JSON body of a POST request."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})

    def __call__(self, line: str) -> None:
        import httpx

        try:
            answer = httpx.post(self._url, content=line.encode(), headers=self._headers, timeout=SEND_SECONDS)
        except httpx.HTTPError as error:
            raise OSError(type(error).__name__) from error
        if not answer.is_success:
            raise OSError(f"it answers {answer.status_code}")
