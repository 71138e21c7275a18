"""The text of a message: sender and recipients, body, invitations, and forwarded messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage, Message, MIMEPart
from typing import cast
from urllib.parse import unquote

from argot.corpus.readers.calendar_events import render_calendar
from argot.corpus.readers.html import convert_tree, decode_html, parse_body
from argot.corpus.readers.html_media import LoadPicture, decode_data_address
from argot.corpus.readers.mail_headers import read_file_name, read_header
from argot.corpus.readers.mail_parts import MAX_NESTED_MESSAGES, MailParts, decode_payload, sort_parts
from argot.corpus.readers.mail_quotations import is_reply, remove_quotation
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.plain_text import decode_text
from argot.errors import UnreadableDocument

_SHOWN_HEADERS = ("From", "To", "Cc", "Date")
# In plain text a line that begins so is no heading.
_LEADING_HASH = re.compile(r"^(\s{0,3})(?=#{1,6}\s)", re.MULTILINE)
_ENCRYPTED_BLOCK = re.compile(
    r"^-----BEGIN PGP MESSAGE-----.*?(?:^-----END PGP MESSAGE-----|\Z)", re.DOTALL | re.MULTILINE
)
_SIGNED_HEAD = re.compile(r"^-----BEGIN PGP SIGNED MESSAGE-----\s*\n(?:\w[^\n]*\n)*\s*\n?", re.MULTILINE)
_SIGNATURE_BLOCK = re.compile(
    r"^-----BEGIN PGP SIGNATURE-----.*?(?:^-----END PGP SIGNATURE-----|\Z)", re.DOTALL | re.MULTILINE
)
_QUOTE_PREFIX = re.compile(r"(>*) ?(.*)", re.DOTALL)
_TEXT_NAME = "the text of a mail"


@dataclass(slots=True)
class MessageText:
    """`head` and `body` in Markdown. `files`: the attachments of it and of messages that it forwards."""

    head: str
    body: str
    files: list[MIMEPart] = field(default_factory=list)


def read_message_text(message: EmailMessage, omissions: Omissions, depth: int = 0) -> MessageText:
    """Return the text of a message; visible parts that cannot be read are added to `omissions`.

    A reply is read without the earlier message that it quotes at its end.
    """
    parts = sort_parts(message)
    for kind in parts.unread:
        omissions.add(kind)
    found = MessageText(_write_head(message, parts), "", list(parts.files))
    answers = bool(read_header(message, "In-Reply-To") or read_header(message, "References"))
    reply = is_reply(read_header(message, "Subject"), answers=answers)
    load = _make_loader(parts.files, found.files)
    blocks = [remove_quotation(_read_text(part, omissions, load), reply=reply) for part in parts.texts]
    blocks += _read_calendars(parts.calendars, omissions)
    blocks += map(_read_report, parts.reports)
    for inner in parts.messages:
        if depth >= MAX_NESTED_MESSAGES:
            omissions.add("message")
            continue
        passed_on = read_message_text(inner, omissions, depth + 1)
        blocks.append(f"Passed on: {read_header(inner, 'Subject')}\n\n{passed_on.head}\n\n{passed_on.body}")
        found.files += passed_on.files
    found.body = "\n\n".join(filter(None, blocks))
    return found


def _write_head(message: EmailMessage, parts: MailParts) -> str:
    fields = ((field, read_header(message, field)) for field in _SHOWN_HEADERS)
    lines = [f"- {field}: {value}" for field, value in fields if value]
    if names := ", ".join(filter(None, map(read_file_name, parts.files))):
        lines.append(f"- Attachments: {names}")
    return "\n".join(lines)


def _make_loader(files: Sequence[MIMEPart], unread: list[MIMEPart]) -> LoadPicture:
    """Return a function that loads a picture that the text shows; it is then no longer among those `unread`."""
    by_id = {str(one.get("Content-ID") or "").strip("<> "): one for one in files}

    def load(address: str) -> bytes | None:
        part = by_id.get(unquote(address[4:])) if address.lower().startswith("cid:") else None
        if part is None:
            return decode_data_address(address)
        unread[:] = [one for one in unread if one is not part]
        return decode_payload(part)

    return load


def _read_text(part: MIMEPart, omissions: Omissions, load: LoadPicture) -> str:
    try:
        return _convert_text(part, omissions, load)
    except (UnreadableDocument, RecursionError):  # binary, or HTML that is nested without end
        omissions.add("text")
        return ""


def _convert_text(part: MIMEPart, omissions: Omissions, load: LoadPicture) -> str:
    data, charset = decode_payload(part), part.get_content_charset()
    if not data:
        return ""
    if part.get_content_type() == "text/html":
        return convert_tree(parse_body(decode_html(data, _TEXT_NAME, charset)), omissions, load)
    text = decode_text(data, _TEXT_NAME, charset)
    if str(part.get_param("format") or "").lower() == "flowed":
        text = _join_flowed_lines(text, delete_space=str(part.get_param("delsp") or "").lower() == "yes")
    text, encrypted = _ENCRYPTED_BLOCK.subn("", text)
    omissions.add("encrypted text", encrypted)
    if _SIGNED_HEAD.search(text):
        text = _SIGNATURE_BLOCK.sub("", _SIGNED_HEAD.sub("", text))
    return _LEADING_HASH.sub(r"\1\\", text).strip()


def _join_flowed_lines(text: str, *, delete_space: bool) -> str:
    """Return the paragraphs whole that a program has broken into lines (RFC 3676)."""
    lines: list[str] = []
    flows, above = False, ""
    for line in text.split("\n"):
        quotes, said = cast("re.Match[str]", _QUOTE_PREFIX.fullmatch(line)).groups()
        signature = said == "-- "
        if flows and quotes == above and not signature:
            lines[-1] = (lines[-1][:-1] if delete_space else lines[-1]) + said
        else:
            lines.append(f"{quotes} {said}" if quotes else said)
        flows, above = said.endswith(" ") and not signature, quotes
    return "\n".join(lines)


def _read_calendars(parts: Sequence[MIMEPart], omissions: Omissions) -> Iterator[str]:
    """Yield each calendar once: most invitations contain theirs as a part and as an attached file."""
    seen: set[str] = set()
    for part in parts:
        try:
            calendar = render_calendar(decode_text(decode_payload(part), _TEXT_NAME, part.get_content_charset()))
        except (ValueError, UnreadableDocument):
            omissions.add("calendar")
            continue
        if calendar not in seen:
            seen.add(calendar)
            yield calendar


def _read_report(part: MIMEPart) -> str:
    """Return a mail server's report about a message that it could not deliver."""
    payload = part.get_payload()
    blocks = payload if isinstance(payload, list) else [part]
    lines = [
        f"- {name}: {' '.join(str(value).split())}"
        for one in blocks
        if isinstance(one, Message)
        for name, value in one.items()
    ]
    return "\n".join(lines)
