"""What is attached to a mail: files of the kinds that Argot reads become sections of it, the others are named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from email.message import EmailMessage, MIMEPart
from typing import cast

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.attached_files import Attached, read_attached_files


def read_attachments(messages: Sequence[EmailMessage], limits: ReadLimits, level: int) -> list[Attached]:
    """Of each message its attachments, under headings of this level."""
    return [_read(message, limits, level) for message in messages]


def attachment_names(message: EmailMessage) -> list[str]:
    names = (" ".join((one.get_filename() or "").split()) for one in message.iter_attachments())
    return [name for name in names if name]


def _read(message: EmailMessage, limits: ReadLimits, level: int) -> Attached:
    return read_attached_files(_files(message), limits, level)


def _files(message: EmailMessage) -> Iterator[tuple[str, bytes | None]]:
    """Yield the name of each attachment, and its bytes unless it is not to be read."""
    for part in _parts(message):
        if name := " ".join((part.get_filename() or "").split()):
            data = part.get_payload(decode=True)
            # Pictures are mostly logos below signatures, which cost a second each.
            is_read = isinstance(data, bytes) and part.get_content_maintype() != "image"
            yield name, cast(bytes, data) if is_read else None


def _parts(message: EmailMessage) -> Iterator[MIMEPart]:
    """What is attached to the message, and to messages that it passes on: their own text stands in its text already."""
    for part in message.iter_attachments():
        if part.get_content_type() != "message/rfc822":
            yield part
            continue
        for inner in cast(list[EmailMessage], part.get_payload()):
            yield from _parts(inner)
