"""A small IMAP server for tests (RFC 3501, as far as it is needed; RFC 7162's counter of changes), on 127.0.0.1."""

from __future__ import annotations

import base64
import re
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Folder:
    """A mail folder: messages by number, each with its flags; `asked` holds the commands."""

    name: str = "INBOX"
    user: str = "ann"
    password: str = "sesame é"
    validity: int = 7
    changes: int = 1
    counts_changes: bool = True
    next_uid: int = 1
    messages: dict[int, tuple[bytes, set[str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    fetched: list[int] = field(default_factory=list)
    hides: int = 0
    """How many of its messages it does not name."""
    drops_at: str = ""
    """The connection is closed in the midst of the answer to a command that holds this, once."""
    gmail: str = ""
    says: bytes = b""
    """Instead of the answer to FETCH."""
    port: int = 0
    context: ssl.SSLContext | None = None
    offers_tls: bool = False

    def add(self, data: bytes | str, *flags: str) -> int:
        uid, self.next_uid = self.next_uid, self.next_uid + 1
        self.messages[uid] = (data.encode() if isinstance(data, str) else data, set(flags))
        self.changes += 1
        return uid

    def remove(self, uid: int) -> None:
        del self.messages[uid]
        self.changes += 1

    def flag(self, uid: int, *flags: str) -> None:
        self.messages[uid] = (self.messages[uid][0], set(flags))
        self.changes += 1


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    folder: Folder

    def get_request(self) -> Any:
        connection, address = super().get_request()
        if self.folder.context is not None and not self.folder.offers_tls:
            connection = self.folder.context.wrap_socket(connection, server_side=True)
        return connection, address

    def handle_error(self, request: Any, client_address: Any) -> None: ...


class _Conversation(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        folder: Folder = self.server.folder  # type: ignore[attr-defined]
        self._say(b"* OK ready")
        while line := self.rfile.readline():
            tag, _, command = line.decode().rstrip("\r\n").partition(" ")
            folder.asked.append(command if "LOGIN" not in command else "LOGIN")
            if folder.drops_at and folder.drops_at in command:
                folder.drops_at = ""
                self.wfile.write(b"* 1 FETCH (UID 1 BODY[] {9999}\r\nhalf of it")
                return
            verb = command.split(" ", 1)[0].upper()
            if verb == "STARTTLS":
                self._say(f"{tag} OK begin".encode())
                assert folder.context
                self.request = folder.context.wrap_socket(self.request, server_side=True)
                self.setup()
                continue
            self._say(f"{tag} {self._answer(folder, verb, command)}".encode())
            if verb == "LOGOUT":
                return

    def _answer(self, folder: Folder, verb: str, command: str) -> str:
        if verb == "CAPABILITY":
            more = " STARTTLS" if folder.offers_tls else ""
            self._say(f"* CAPABILITY IMAP4rev1 AUTH=PLAIN{more}{' X-GM-EXT-1' if folder.gmail else ''}".encode())
            return "OK done"
        if verb == "AUTHENTICATE":
            self._say(b"+ ")
            said = base64.b64decode(self.rfile.readline()).decode().split("\0")
            right = said[1:] == [folder.user, folder.password]
            return "OK done" if right else "NO [AUTHENTICATIONFAILED] Invalid credentials"
        if verb in ("EXAMINE", "SELECT"):
            return self._opened(folder, command)
        if verb == "UID":
            return self._by_uid(folder, command)
        if verb == "LOGOUT":
            self._say(b"* BYE")
        return "OK done" if verb in ("LOGOUT", "NOOP") else "BAD unknown"

    def _opened(self, folder: Folder, command: str) -> str:
        assert command.startswith("EXAMINE"), "a folder is only looked at"
        if command != f'EXAMINE "{folder.name}"':
            return "NO there is no such folder"
        self._say(f"* {len(folder.messages)} EXISTS".encode())
        self._say(f"* OK [UIDVALIDITY {folder.validity}] valid".encode())
        self._say(f"* OK [UIDNEXT {folder.next_uid}] next".encode())
        if folder.counts_changes:
            self._say(f"* OK [HIGHESTMODSEQ {folder.changes}] changes".encode())
        return "OK [READ-ONLY] opened"

    def _by_uid(self, folder: Folder, command: str) -> str:
        _, verb, rest = command.split(" ", 2)
        if verb == "SEARCH":
            named = sorted(folder.messages)[: len(folder.messages) - folder.hides]
            self._say(f"* SEARCH {' '.join(map(str, named))}".encode())
            return "OK done"
        numbers, parts = rest.split(" ", 1)
        if folder.says:
            self.wfile.write(folder.says)
            return "OK done"
        for sequence, (uid, (data, flags)) in enumerate(sorted(folder.messages.items()), start=1):
            if _within(uid, numbers):
                self._fetch(folder, sequence, uid, data, flags, parts)
        # Sent unrequested, as servers do when another program changes the folder.
        self._say(b"* 1 FETCH (FLAGS (\\Seen))")
        return "OK done"

    def _fetch(self, folder: Folder, sequence: int, uid: int, data: bytes, flags: set[str], parts: str) -> None:
        said = f"* {sequence} FETCH (".encode()
        if "RFC822.SIZE" in parts:
            gmail = f" X-GM-LABELS ({folder.gmail})" if "X-GM-LABELS" in parts else ""
            self._say(said + f"UID {uid} FLAGS ({' '.join(sorted(flags))}) RFC822.SIZE {len(data)}{gmail})".encode())
            return
        if "HEADER.FIELDS" in parts:
            head = data.replace(b"\r\n", b"\n").partition(b"\n\n")[0]
            fields = re.findall(rb"(?im)^(?:subject|from):.*(?:\n[ \t].*)*", head)
            data = b"\r\n".join(fields) + b"\r\n\r\n"
            said += b"BODY[HEADER.FIELDS (SUBJECT FROM)] "
        else:
            folder.fetched.append(uid)
            said += b"BODY[] "
        # The number after the bytes, which is also a valid place.
        self._say(said + f"{{{len(data)}}}\r\n".encode() + data + f" UID {uid})".encode())

    def _say(self, line: bytes) -> None:
        self.wfile.write(line + b"\r\n")
        self.wfile.flush()


def _within(uid: int, numbers: str) -> bool:
    for some in numbers.split(","):
        first, _, last = some.partition(":")
        if int(first) <= uid <= int(last or first):
            return True
    return False


@contextmanager
def serving(folder: Folder) -> Iterator[Folder]:
    with _Server(("127.0.0.1", 0), _Conversation) as server:
        server.folder = folder
        folder.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield folder
        server.shutdown()
        thread.join()
