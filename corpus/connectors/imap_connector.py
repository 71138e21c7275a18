"""A folder of mail on an IMAP server as a source: each message is a document, read like an `.eml` file.

A message never changes under its number, so it is fetched once; its labels may change, and are part of its stamp. When
the server renumbers the folder (`UIDVALIDITY`), messages are recognised by their content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from functools import partial
from urllib.parse import quote, unquote, urlsplit

from argot.corpus.connectors.imap_session import ImapSession, Mailbox, decode_folder_name
from argot.corpus.connectors.listing import ListedDocument, Patterns, SourceDown
from argot.corpus.ingestion.source import Source, SourceMetadata
from argot.corpus.readers.file_fields import list_mail_authors
from argot.files import NotAFile

FETCH_BATCH_MESSAGES = 400
"""Messages per command: it lists them all in a line, which servers limit."""
_MAX_NAME_CHARS = 80
_UID = re.compile(rb"\bUID (\d+)")
_SIZE = re.compile(rb"\bRFC822\.SIZE (\d+)")
_FLAGS = re.compile(rb"\bFLAGS \(([^)]*)\)")
_GMAIL_LABELS = re.compile(rb'\bX-GM-LABELS \(((?:"(?:[^"\\]|\\.)*"|[^()"])*)\)')
_LABEL = re.compile(rb'"((?:[^"\\]|\\.)*)"|([^\s"]+)')
_PROGRAM_KEYWORDS = frozenset({"junk", "nonjunk", "notjunk"})
"""Keywords that mail programs set for themselves, beside those that begin with `$`."""


def parse_mailbox(address: str, user: str, password: str, *, encrypted: bool, private: bool) -> Mailbox:
    """`imaps://mail.example.org/INBOX`, or `imap://`: encrypted by STARTTLS on the port of plain IMAP."""
    parts = urlsplit(address)
    tls_first = parts.scheme == "imaps"
    port = parts.port or (993 if tls_first else 143)
    folder = unquote(parts.path.strip("/")) or "INBOX"
    return Mailbox(parts.hostname or "", port, folder, user, password, tls_first, encrypted, private)


@dataclass(frozen=True, slots=True)
class _Message:
    """Number, bytes and labels."""

    uid: str
    size: int
    labels: tuple[str, ...]

    @property
    def stamp(self) -> str:
        return ",".join(self.labels) or "-"


class ImapConnector:
    """The messages of one folder, except those that are marked as deleted."""

    def __init__(self, mailbox: Mailbox, patterns: Patterns) -> None:
        self._mailbox = mailbox
        self._patterns = patterns
        self._session: ImapSession | None = None
        self._validity = ""
        scheme, port = ("imaps", 993) if mailbox.tls_first else ("imap", 143)
        place = mailbox.host if mailbox.port == port else f"{mailbox.host}:{mailbox.port}"
        self._base = f"{scheme}://{quote(mailbox.user, safe='')}@{place}/{quote(mailbox.folder)}"

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def mark(self) -> str:
        state = self._open_session().state
        # Without a counter of changes the labels may have changed unnoticed.
        return f"{state.validity}.{state.changes}.{state.next_uid}.{state.messages}" if state.changes else ""

    def list_documents(self, known: Mapping[str, str]) -> Iterator[ListedDocument | None]:
        session = self._open_session()
        self._validity = session.state.validity
        prefix = f"{self._base};UIDVALIDITY={self._validity}/"
        uris = {uri.removeprefix(prefix).partition("/")[0]: uri for uri in known if uri.startswith(prefix)}
        uids = session.list_uids()
        for start in range(0, len(uids), FETCH_BATCH_MESSAGES):
            some = uids[start : start + FETCH_BATCH_MESSAGES]
            found = {one.uid: one for one in self._list_messages(session, f"{some[0]}:{some[-1]}")}
            new = [uid for uid, one in found.items() if known.get(uris.get(uid, "")) != one.stamp]
            heads = self._fetch_heads(session, new)
            for uid, one in found.items():
                source = self._make_source(one, uris.get(uid, ""), heads.get(uid), prefix)
                if self._patterns.accept(source.name):
                    yield ListedDocument(source, one.stamp)
            yield None

    def _list_messages(self, session: ImapSession, uids: str) -> Iterator[_Message]:
        more = " X-GM-LABELS" if session.has_gmail_labels else ""
        for line, _ in session.fetch(uids, f"(UID FLAGS RFC822.SIZE{more})"):
            uid, size, flags = _UID.search(line), _SIZE.search(line), _FLAGS.search(line)
            # A line without a number is unsolicited: another program is changing the folder.
            if uid is None or flags is None or b"\\deleted" in flags[1].lower().split():
                continue
            gmail = _GMAIL_LABELS.search(line)
            labels = _parse_labels(flags[1], gmail[1] if gmail else b"")
            yield _Message(uid[1].decode(), int(size[1]) if size else -1, labels)

    def _fetch_heads(self, session: ImapSession, uids: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Return subject and sender of messages that are new or have other labels."""
        if not uids:
            return {}
        heads: dict[str, tuple[str, str]] = {}
        for line, head in session.fetch(",".join(uids), "(UID BODY.PEEK[HEADER.FIELDS (SUBJECT FROM)])"):
            if uid := _UID.search(line):
                message = message_from_bytes(head, policy=policy.default)
                heads[uid[1].decode()] = _read_header(message, "Subject"), _read_header(message, "From")
        return heads

    def _make_source(self, found: _Message, uri: str, head: tuple[str, str] | None, prefix: str) -> Source:
        """Named by its subject, for people; a known message keeps its name."""
        load = partial(self._load_message, found.uid)
        if head is None and uri:
            return Source(uri, unquote(uri.rpartition("/")[2]), load, found.size)
        subject, author = head or ("", "")
        name = f"{_clean_name(subject) or f'message {found.uid}'}.eml"
        metadata = SourceMetadata(author="; ".join(list_mail_authors(author)), labels=found.labels)
        return Source(uri or f"{prefix}{found.uid}/{quote(name, safe='')}", name, load, found.size, metadata=metadata)

    def _load_message(self, uid: str) -> bytes:
        try:
            return self._fetch_message(uid)
        except SourceDown:
            # Servers close a connection that was silent while long documents were read.
            self.close()
        try:
            return self._fetch_message(uid)
        except SourceDown as error:
            raise NotAFile(str(error)) from error

    def _fetch_message(self, uid: str) -> bytes:
        session = self._open_session()
        # Renumbered since it was listed: the number now belongs to another message.
        same = session.state.validity == self._validity
        data = b"".join(whole for _, whole in session.fetch(uid, "(UID BODY.PEEK[])")) if same else b""
        if not data:
            raise NotAFile("it is not in the folder any more")
        return data

    def _open_session(self) -> ImapSession:
        if self._session is None:
            self._session = ImapSession(self._mailbox)
        return self._session


def _parse_labels(flags: bytes, gmail: bytes) -> tuple[str, ...]:
    found = [one.decode("utf-8", "replace") for one in flags.split()]
    found += [decode_folder_name(re.sub(rb"\\(.)", rb"\1", a or b)) for a, b in _LABEL.findall(gmail)]
    kept = (one for one in found if one and one[0] not in "\\$" and one.casefold() not in _PROGRAM_KEYWORDS)
    return tuple(sorted(set(kept)))


def _read_header(message: EmailMessage, field: str) -> str:
    try:
        value = message.get(field)
    except Exception:  # a broken header can make the parser raise any error; the message is then read without it
        return ""
    return " ".join(str(value or "").split())


def _clean_name(subject: str) -> str:
    """Return the subject as a file name, without characters that have a meaning in paths."""
    return re.sub(r'[\x00-\x20\x7f/\\:*?"<>|]+', " ", subject).strip(" .")[:_MAX_NAME_CHARS].strip()
