"""Attachments of a mail: files of the kinds that Argot reads become sections of it, the others are named."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator, Sequence
from email.message import MIMEPart

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.attached_files import AttachedFiles, read_attached_files
from argot.corpus.readers.mail_headers import read_file_name
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.pictures import shelve_picture

_OUTLOOK_MEDIA_TYPES = ("application/ms-tnef", "application/vnd.ms-tnef")


def read_attachments(
    messages: Sequence[Sequence[MIMEPart]], limits: ReadLimits, level: int, omissions: Omissions
) -> list[AttachedFiles]:
    """Read the files attached to each message, under headings of this level."""
    found = []
    for parts in messages:
        sections, others = _shelve_pictures(parts, level)
        attached = read_attached_files(_list_files(others, omissions), limits, level)
        attached.sections[:0] = sections
        found.append(attached)
    return found


def _shelve_pictures(parts: Sequence[MIMEPart], level: int) -> tuple[list[str], list[MIMEPart]]:
    """Keep the attached pictures, each a section; return these, and the parts that are still to be read."""
    sections, others = [], []
    for part in parts:
        data = part.get_payload(decode=True) if part.get_content_maintype() == "image" else None
        mark, has_words = shelve_picture(data if isinstance(data, bytes) else None)
        if mark:
            name = read_file_name(part)
            sections.append(f"{'#' * level} Attachment: {name}\n\n{mark}" if name else mark)
        if not (mark and has_words):
            others.append(part)
    return sections, others


def _list_files(parts: Sequence[MIMEPart], omissions: Omissions) -> Iterator[tuple[str, bytes | None]]:
    """Yield the name of each attachment, and its bytes unless it is not to be read."""
    for part in parts:
        name = read_file_name(part)
        if not name and part.get_content_maintype() == "image":
            omissions.add("picture")
            continue
        name = name or _name_by_kind(part)
        if part.get_content_type() in _OUTLOOK_MEDIA_TYPES or name.casefold() == "winmail.dat":
            yield f"{name} (Outlook's own format, which no other program reads)", None
            continue
        data = part.get_payload(decode=True)
        # Pictures come here only if no words were read in them.
        is_read = isinstance(data, bytes) and part.get_content_maintype() != "image"
        yield name, data if is_read and isinstance(data, bytes) else None


def _name_by_kind(part: MIMEPart) -> str:
    """Return a name for an unnamed part, by which its reader is found."""
    kind = part.get_content_type()
    suffix = mimetypes.guess_extension(kind) or (".txt" if part.get_content_maintype() == "text" else "")
    return f"unnamed{suffix}"
