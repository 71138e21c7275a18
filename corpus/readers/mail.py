"""Mail: a message (`.eml`) or a mailbox of many (`.mbox`), as text with who wrote it, to whom and when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from typing import cast

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.attached_files import attachment_warnings
from argot.corpus.readers.file_fields import mail_authors, said_fields
from argot.corpus.readers.html import html_to_markdown
from argot.corpus.readers.mail_attachments import attachment_names, read_attachments
from argot.corpus.readers.mail_quotations import is_reply, without_quotation
from argot.corpus.readers.plain_text import decode_text, file_stem
from argot.errors import UnreadableDocument
from argot.types import ParsedDocument

PARTS_A_SECOND = 1_000
"""Messages, and parts of a message, that are read."""
_SHOWN = ("From", "To", "Cc", "Date")
# "From ann@example.org Thu Mar  5 10:12:00 2026" begins a message; a body's own line of that kind begins with ">From".
_ENVELOPE = re.compile(rb"^From [^\r\n]{1,300}\d{4}[^\r\n]{0,40}\r?\n", re.MULTILINE)
_HELD_BACK = re.compile(rb"^>(>*From )", re.MULTILINE)
# In plain text a line that begins so is no heading.
_HASH = re.compile(r"^(\s{0,3})(?=#{1,6}\s)", re.MULTILINE)


def read_mail(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Title: the subject, else the file name. Each attachment that can be read is a section.

    Raises:
        UnreadableDocument: it has neither sender, date nor subject, so it is no message.
    """
    message = _message(data, name, limits)
    if not any(_header(message, field) for field in ("From", "Date", "Subject")):
        raise UnreadableDocument(name, "no mail: it names neither sender, date nor subject")
    (attached,) = read_attachments([message], limits, 2)
    markdown = "\n\n".join([_head(message), _body(message), *attached.sections]) + "\n"
    title = _header(message, "Subject") or file_stem(name)
    said = [
        *(("From", one) for one in mail_authors(_header(message, "From"))),
        ("Keywords", _header(message, "Keywords")),
    ]
    warnings = attachment_warnings([attached])
    return ParsedDocument(
        title, markdown, "message/rfc822", date=_date(message), warnings=warnings, fields=said_fields(said)
    )


def read_mailbox(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Title: the file name. Each message is a section that bears its subject.

    Raises:
        UnreadableDocument: no line in it begins a message.
    """
    raw = list(_messages_of(data))
    if not raw:
        raise UnreadableDocument(name, "no mailbox: no line in it begins a message ('From ann@example.org ...')")
    limits.check_elements(len(raw), PARTS_A_SECOND, "mail", name)
    messages = [_message(one, name, limits) for one in raw]
    attached = read_attachments(messages, limits, 3)
    sections = [
        "\n\n".join(
            [f"## {_header(message, 'Subject') or f'Message {number}'}", _head(message), _body(message), *one.sections]
        )
        for number, (message, one) in enumerate(zip(messages, attached, strict=True), start=1)
    ]
    markdown = "\n\n".join(sections) + "\n"
    return ParsedDocument(file_stem(name), markdown, "application/mbox", warnings=attachment_warnings(attached))


def _messages_of(data: bytes) -> Iterator[bytes]:
    starts = [
        found for found in _ENVELOPE.finditer(data)
        # Behind an empty line only: "From 2019 on ..." may begin a line of a text.
        if found.start() == 0 or data.endswith((b"\n\n", b"\r\n\r\n"), 0, found.start())
    ]  # fmt: skip
    for number, found in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(data)
        yield _HELD_BACK.sub(rb"\1", data[found.end() : end])


def _message(data: bytes, name: str, limits: ReadLimits) -> EmailMessage:
    message = message_from_bytes(data, policy=policy.default)
    limits.check_elements(sum(1 for _ in message.walk()), PARTS_A_SECOND, "mail", name)
    return message


def _header(message: EmailMessage, field: str) -> str:
    try:
        value = message.get(field)
    except Exception:  # a broken header can make the parser raise anything; the message is read without it
        return ""
    return " ".join(str(value or "").split())


def _head(message: EmailMessage) -> str:
    fields = ((field, _header(message, field)) for field in _SHOWN)
    lines = [f"- {field}: {value}" for field, value in fields if value]
    if names := attachment_names(message):
        lines.append(f"- Attachments: {', '.join(names)}")
    return "\n".join(lines)


def _body(message: EmailMessage) -> str:
    """The text as it was written, else its HTML as Markdown; of a message passed on whole, that one's too.

    A reply is read without the earlier message that it quotes at its end.
    """
    part = message.get_body(("plain", "html"))
    answers = bool(_header(message, "In-Reply-To") or _header(message, "References"))
    reply = is_reply(_header(message, "Subject"), answers=answers)
    text = without_quotation(_text(part), reply=reply) if part is not None else ""
    passed_on = [
        inner
        for one in message.iter_attachments()
        if one.get_content_type() == "message/rfc822"
        for inner in cast(list[EmailMessage], one.get_payload())
    ]
    inner = [f"Passed on: {_header(one, 'Subject')}\n\n{_head(one)}\n\n{_body(one)}" for one in passed_on]
    return "\n\n".join(filter(None, [text, *inner]))


def _text(part: MIMEPart) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    text = decode_text(data, "the text of a mail", part.get_content_charset()) if data else ""
    return html_to_markdown(text) if part.get_content_type() == "text/html" else _HASH.sub(r"\1\\", text).strip()


def _date(message: EmailMessage) -> str | None:
    try:
        sent = message["Date"].datetime
    except Exception:  # none, or one that is no date
        return None
    return sent.date().isoformat() if sent else None
