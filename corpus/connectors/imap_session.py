"""IMAP sessions with untrusted servers: bounded in bytes and time, encrypted, and never in a private network."""

from __future__ import annotations

import base64
import imaplib
import re
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from argot.corpus.connectors.listing import SourceDown
from argot.corpus.connectors.public_network import normalize_host, resolve_public_addresses

CONNECT_SECONDS = 10.0
READ_SECONDS = 30.0
COMMAND_SECONDS = 120.0
"""The limit of one command, from the question to the end of the answer."""
MAX_ANSWER_BYTES = 120_000_000
"""The limit of the answer to one command."""
_MAX_LINE_BYTES = 1_000_000
_RECEIVE_BYTES = 1 << 16
_MESSAGE_START = re.compile(rb"\d+ \(")


@dataclass(frozen=True, slots=True)
class Mailbox:
    """One folder on one server. `encrypted`: by TLS from the start or, on the port of plain IMAP, from STARTTLS on."""

    host: str
    port: int
    folder: str
    user: str
    password: str
    tls_first: bool = True
    encrypted: bool = True
    private: bool = False
    """True if it may be at an address of a private network."""


@dataclass(frozen=True, slots=True)
class FolderState:
    """The state of a folder when it is opened. `changes`: its counter of changes, empty if it has none."""

    validity: str
    messages: int
    next_uid: str
    changes: str


class ImapSession:
    """One folder, opened read-only: nothing in it is marked as seen."""

    def __init__(self, mailbox: Mailbox) -> None:
        """
        Raises:
            SourceDown: it does not answer, is in a private network, or rejects the login.
        """
        self._mailbox = mailbox
        host = normalize_host(mailbox.host)
        addresses = [host] if mailbox.private else resolve_public_addresses(host, mailbox.port)
        try:
            self._client = _Client(mailbox, addresses[0])
        except (OSError, imaplib.IMAP4.error) as error:
            raise self._explain_error(error) from error
        try:
            self.state = self._open_folder()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        with suppress(OSError, imaplib.IMAP4.error):
            self._client.begin()
            self._client.logout()

    @property
    def has_gmail_labels(self) -> bool:
        return "X-GM-EXT-1" in self._client.capabilities

    def list_uids(self) -> list[int]:
        """Return the numbers of the messages, in order.

        Raises:
            SourceDown: also when it lists fewer messages than it announced.
        """
        reply = self._ask("SEARCH", "ALL")
        found = sorted({int(one) for line in reply if isinstance(line, bytes) for one in line.split() if one.isdigit()})
        if len(found) < self.state.messages - self._client.count_expunged():
            raise SourceDown(
                f"{self._place} named only {len(found)} of its {self.state.messages} messages; it is asked again later."
            )
        return found

    def fetch(self, uids: str, parts: str) -> Iterator[tuple[bytes, bytes]]:
        """Yield the requested parts of each message: its lines, and the literal bytes.

        Raises:
            SourceDown
        """
        yield from _split_records(self._ask("FETCH", uids, parts))

    def _open_folder(self) -> FolderState:
        box = self._mailbox
        try:
            self._client.begin()
            if box.encrypted and not box.tls_first:
                self._client.start_encryption()
            # Not `login`: its quoting drops non-ASCII characters.
            self._client.sign_in(box.user, box.password)
        except (OSError, imaplib.IMAP4.error) as error:
            raise self._explain_error(error) from error
        try:
            self._client.begin()
            status, found = self._client.select(_quote(_encode_folder_name(box.folder)), readonly=True)
        except (OSError, imaplib.IMAP4.error) as error:
            raise self._explain_error(error) from error
        if status != "OK":
            raise SourceDown(f"{box.host} has no folder '{box.folder}' for {box.user}: {_join_texts(found)}")
        validity = self._read_response("UIDVALIDITY")
        if not validity:
            raise SourceDown(f"{self._place} does not number its messages for good, so that none is known again.")
        count = int(found[0]) if found and found[0] and found[0].isdigit() else 0
        return FolderState(validity, count, self._read_response("UIDNEXT"), self._read_response("HIGHESTMODSEQ"))

    def _read_response(self, code: str) -> str:
        _, data = self._client.response(code)
        return data[-1].decode("ascii", "replace") if data and data[-1] else ""

    def _ask(self, command: str, *arguments: str) -> Sequence[Any]:
        try:
            self._client.begin()
            status, data = self._client.uid(command, *arguments)
        except (OSError, imaplib.IMAP4.error) as error:
            raise self._explain_error(error) from error
        if status != "OK":
            raise SourceDown(f"{self._place} cannot be read: {_join_texts(data)}")
        return [one for one in data if one is not None]

    @property
    def _place(self) -> str:
        return f"The folder '{self._mailbox.folder}' of {self._mailbox.host}"

    def _explain_error(self, error: Exception) -> SourceDown:
        reason = str(error) or type(error).__name__
        if isinstance(error, imaplib.IMAP4.error) and reason.startswith("b'"):
            reason = reason[2:-1]  # what imaplib makes of an answer
        if isinstance(error, OSError) and not isinstance(error, ssl.SSLError):
            return SourceDown(f"{self._mailbox.host} cannot be reached: {(error.strerror or reason).lower()}")
        return SourceDown(f"{self._mailbox.host} does not let its mail be read: {reason}")


class _Client(imaplib.IMAP4):
    """imaplib's client, with limits on answers. `open`, `read`, `readline` and `shutdown` are documented as
    overridable.
    """

    def __init__(self, mailbox: Mailbox, address: str) -> None:
        self._mailbox = mailbox
        # The checked address is the one that is used: a name may resolve differently a moment later.
        self._address = address
        self.begin()
        super().__init__(normalize_host(mailbox.host), mailbox.port)

    def begin(self) -> None:
        """Begin a command, with a full allowance of time and bytes."""
        self._end = time.monotonic() + COMMAND_SECONDS
        self._left = MAX_ANSWER_BYTES

    def open(self, host: str = "", port: int = 143, timeout: float | None = None) -> None:
        self._buffer = bytearray()
        self.host, self.port = host, port
        self.sock = socket.create_connection((self._address, port), CONNECT_SECONDS)
        self.sock.settimeout(READ_SECONDS)
        if self._mailbox.encrypted and self._mailbox.tls_first:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=host)

    def start_encryption(self) -> None:
        if "STARTTLS" not in self.capabilities:
            raise self.abort("it offers no encryption; write imaps:// if it has that on another port")
        self._simple_command("STARTTLS")
        # Data that an attacker on the network appended to the answer are not read as the server's.
        self._buffer.clear()
        self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)
        self._get_capabilities()

    def sign_in(self, user: str, password: str) -> None:
        if "AUTH=PLAIN" in self.capabilities:
            self.authenticate("PLAIN", lambda _: f"\0{user}\0{password}".encode())
        else:
            self.login(user, password)

    def count_expunged(self) -> int:
        """Return the number of messages that were removed since they were counted."""
        _, data = self.response("EXPUNGE")
        return sum(one is not None for one in data or ())

    def read(self, size: int) -> bytes:
        if size > self._left:
            raise self.abort(f"it sends more than {MAX_ANSWER_BYTES // 1_000_000} MB at once")
        while len(self._buffer) < size:
            self._receive()
        return self._take_bytes(size)

    def readline(self) -> bytes:
        looked = 0
        while (end := self._buffer.find(b"\n", looked)) < 0:
            looked = len(self._buffer)
            if looked > _MAX_LINE_BYTES:
                raise self.abort(f"it sends a line of more than {_MAX_LINE_BYTES:,} bytes")
            self._receive()
        return self._take_bytes(end + 1)

    def shutdown(self) -> None:
        with suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()

    def _receive(self) -> None:
        if time.monotonic() > self._end:
            raise self.abort(f"it took longer than {COMMAND_SECONDS:g} seconds to answer")
        data = self.sock.recv(_RECEIVE_BYTES)
        if not data:
            raise self.abort("it closed the connection")
        self._left -= len(data)
        if self._left < 0:
            raise self.abort(f"it sends more than {MAX_ANSWER_BYTES // 1_000_000} MB at once")
        self._buffer += data

    def _take_bytes(self, size: int) -> bytes:
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data


def _split_records(data: Sequence[Any]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the lines and the literal bytes of each message; imaplib gives those of all messages in one list."""
    lines, whole = b"", b""
    for one in data:
        line, came = one if isinstance(one, tuple) else (one, b"")
        if _MESSAGE_START.match(line) and lines:
            yield lines, whole
            lines, whole = b"", b""
        lines, whole = lines + line, whole + came
    if lines:
        yield lines, whole


def _join_texts(data: Sequence[Any]) -> str:
    return b" ".join(one for one in data if isinstance(one, bytes)).decode("utf-8", "replace") or "no reason given"


def _quote(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _encode_folder_name(name: str) -> str:
    """Return the name of a folder as IMAP writes it (RFC 3501, 5.1.3)."""

    def encode_run(found: re.Match[str]) -> str:
        if found[0] == "&":
            return "&-"
        packed = base64.b64encode(found[0].encode("utf-16-be")).decode().rstrip("=")
        return f"&{packed.replace('/', ',')}-"

    return re.sub(r"&|[^\x20-\x7e]+", encode_run, name)


def decode_folder_name(raw: bytes) -> str:
    """Return a folder's name as people write it; a name without IMAP's encoding is unchanged."""

    def decode_run(found: re.Match[str]) -> str:
        if not found[1]:
            return "&"
        packed = found[1].replace(",", "/")
        try:
            return base64.b64decode(packed + "=" * (-len(packed) % 4)).decode("utf-16-be")
        except ValueError:
            return found[0]

    return re.sub("&([^-]*)-", decode_run, raw.decode("utf-8", "replace"))
