"""What is attached to a mail: files of the kinds that Argot reads become sections of it, the others are named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage, MIMEPart
from typing import cast

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.heading_levels import lower_headings
from argot.errors import UnreadableDocument

_NAMED = 5


@dataclass(slots=True)
class Attached:
    """`sections` in Markdown, each under its name; `warnings` of what could not be read of them."""

    sections: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def read_attachments(messages: Sequence[EmailMessage], limits: ReadLimits, level: int) -> list[Attached]:
    """Of each message its attachments, under headings of this level."""
    return [_read(message, limits, level) for message in messages]


def attachment_warnings(attached: Sequence[Attached]) -> tuple[str, ...]:
    """What the reader of the mail says of them."""
    warnings = [warning for one in attached for warning in one.warnings]
    unread = [name for one in attached for name in one.unread]
    if unread:
        more = f" and {len(unread) - _NAMED} more" if len(unread) > _NAMED else ""
        warnings.append(f"attachments are not read: {', '.join(unread[:_NAMED])}{more}")
    return tuple(warnings)


def attachment_names(message: EmailMessage) -> list[str]:
    names = (" ".join((one.get_filename() or "").split()) for one in message.iter_attachments())
    return [name for name in names if name]


def _read(message: EmailMessage, limits: ReadLimits, level: int) -> Attached:
    from argot.corpus.readers import read_document

    attached = Attached()
    length = 0
    for part in _parts(message):
        name = " ".join((part.get_filename() or "").split())
        if not name:
            continue
        data = part.get_payload(decode=True)
        # Pictures are mostly logos below signatures, which cost a second each.
        if not isinstance(data, bytes) or part.get_content_maintype() == "image":
            attached.unread.append(name)
            continue
        try:
            found = read_document(data, name, limits)
        except UnreadableDocument as error:
            attached.unread.append(f"{name} ({error.reason})")
            continue
        length += len(found.markdown)
        limits.check_chars(length, name)
        attached.sections.append(f"{'#' * level} Attachment: {name}\n\n{lower_headings(found.markdown, level)}")
        attached.warnings += [f"{name}: {warning}" for warning in found.warnings]
    return attached


def _parts(message: EmailMessage) -> Iterator[MIMEPart]:
    """What is attached to the message, and to messages that it passes on: their own text stands in its text already."""
    for part in message.iter_attachments():
        if part.get_content_type() != "message/rfc822":
            yield part
            continue
        for inner in cast(list[EmailMessage], part.get_payload()):
            yield from _parts(inner)
