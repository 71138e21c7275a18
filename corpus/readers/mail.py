"""Mail: a message (`.eml`) or a mailbox of many (`.mbox`), as text with sender, recipients and date."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.message import EmailMessage

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.attached_files import warn_of_attachments
from argot.corpus.readers.file_fields import build_fields, list_mail_authors
from argot.corpus.readers.mail_attachments import read_attachments
from argot.corpus.readers.mail_headers import parse_message, read_header, read_sent_date
from argot.corpus.readers.mail_text import read_message_text
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.plain_text import decode_text, is_utf16, name_without_suffix
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

PARTS_PER_SECOND = 1_000
"""Maximum messages, and parts of a message, that are read."""
# "From ann@example.org Thu Mar 5 10:12:00 2026" begins a message; such a line of a body begins with ">From".
_ENVELOPE = re.compile(rb"^From [^\r\n]{1,300}\d{4}[^\r\n]{0,40}\r?\n", re.MULTILINE)
_ESCAPED_FROM_LINE = re.compile(rb"^>(>*From )", re.MULTILINE)
_HEADERS_END = re.compile(rb"\r?\n\r?\n")
_CONTENT_LENGTH = re.compile(rb"^Content-Length:[ \t]*(\d{1,12})[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_UTF8_MARK = b"\xef\xbb\xbf"


def read_mail(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read a message. The title is the subject, else the file name. Each readable attachment is a section.

    Raises:
        UnreadableDocument: it has neither sender, date nor subject, so it is no message.
    """
    message = _parse_checked_message(data, name, limits)
    if not any(read_header(message, field) for field in ("From", "Date", "Subject")):
        raise UnreadableDocument(name, "no mail: it names neither sender, date nor subject")
    omissions = Omissions()
    text = read_message_text(message, omissions)
    (attached,) = read_attachments([text.files], limits, 2, omissions)
    markdown = "\n\n".join([text.head, text.body, *attached.sections]) + "\n"
    title = read_header(message, "Subject") or name_without_suffix(name)
    fields = [
        *(("From", one) for one in list_mail_authors(read_header(message, "From"))),
        ("Keywords", read_header(message, "Keywords")),
    ]
    return ParsedDocument(
        title,
        markdown,
        "message/rfc822",
        date=read_sent_date(message),
        warnings=(*warn_of_attachments([attached]), *omissions.warnings()),
        fields=build_fields(fields),
    )


def read_mailbox(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read a mailbox. The title is the file name. Each message is a section titled by its subject.

    Raises:
        UnreadableDocument: no line in it begins a message.
    """
    raw = list(_split_messages(_normalize_bytes(data, name)))
    if not raw:
        raise UnreadableDocument(name, "no mailbox: no line in it begins a message ('From ann@example.org ...')")
    limits.check_elements(len(raw), PARTS_PER_SECOND, "mail", name)
    omissions = Omissions()
    messages = [_parse_checked_message(one, name, limits) for one in raw]
    texts = [read_message_text(message, omissions) for message in messages]
    attached = read_attachments([one.files for one in texts], limits, 3, omissions)
    sections = [
        "\n\n".join(
            [f"## {read_header(message, 'Subject') or f'Message {number}'}", text.head, text.body, *one.sections]
        )
        for number, (message, text, one) in enumerate(zip(messages, texts, attached, strict=True), start=1)
    ]
    return ParsedDocument(
        name_without_suffix(name),
        "\n\n".join(sections) + "\n",
        "application/mbox",
        warnings=(*warn_of_attachments(attached), *omissions.warnings()),
    )


def _split_messages(data: bytes) -> Iterator[bytes]:
    starts = [
        found for found in _ENVELOPE.finditer(data)
        # Only after an empty line: "From 2019 on ..." may begin a line of a text.
        if found.start() == 0 or data.endswith((b"\n\n", b"\r\n\r\n"), 0, found.start())
    ]  # fmt: skip
    told_end = 0
    for number, found in enumerate(starts):
        if found.start() < told_end:
            continue
        end = starts[number + 1].start() if number + 1 < len(starts) else len(data)
        told_end = _find_declared_end(data, found.end(), end)
        yield _ESCAPED_FROM_LINE.sub(rb"\1", data[found.end() : max(end, told_end)])


def _find_declared_end(data: bytes, start: int, end: int) -> int:
    """Return where a message ends by its own Content-Length, if the next one begins there; else 0."""
    headers = _HEADERS_END.search(data, start, end)
    length = _CONTENT_LENGTH.search(data, start, headers.start() + 1) if headers else None
    if headers is None or length is None:
        return 0
    declared_end = headers.end() + int(length[1])
    begins = data[declared_end : declared_end + 10].lstrip(b"\r\n")
    return declared_end if declared_end <= len(data) and (begins.startswith(b"From ") or not begins) else 0


def _normalize_bytes(data: bytes, name: str) -> bytes:
    """Return the file in the form that the mail parser needs: UTF-8 instead of UTF-16, and without a leading mark."""
    if is_utf16(data):
        data = decode_text(data, name).encode("utf-8", "replace")
    return data.removeprefix(_UTF8_MARK).lstrip(b"\r\n")


def _parse_checked_message(data: bytes, name: str, limits: ReadLimits) -> EmailMessage:
    message = parse_message(_normalize_bytes(data, name))
    limits.check_elements(sum(1 for _ in message.walk()), PARTS_PER_SECOND, "mail", name)
    return message
