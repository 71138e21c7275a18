"""What is attached to a mail: files of the kinds that Argot reads become sections of it, the others are named."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.message import MIMEPart

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.heading_levels import lower_headings
from argot.corpus.readers.mail_headers import file_name_of
from argot.corpus.readers.omissions import Omissions
from argot.errors import UnreadableDocument

_NAMED = 5
_OUTLOOK = ("application/ms-tnef", "application/vnd.ms-tnef")


@dataclass(slots=True)
class Attached:
    """`sections` in Markdown, each under its name; `warnings` of what could not be read of them."""

    sections: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def read_attachments(
    messages: Sequence[Sequence[MIMEPart]], limits: ReadLimits, level: int, omissions: Omissions
) -> list[Attached]:
    """Read the files attached to each message, under headings of this level."""
    return [_read(files, limits, level, omissions) for files in messages]


def attachment_warnings(attached: Sequence[Attached]) -> tuple[str, ...]:
    """What the reader of the mail says of them."""
    warnings = [warning for one in attached for warning in one.warnings]
    unread = [name for one in attached for name in one.unread]
    if unread:
        more = f" and {len(unread) - _NAMED} more" if len(unread) > _NAMED else ""
        warnings.append(f"attachments are not read: {', '.join(unread[:_NAMED])}{more}")
    return tuple(warnings)


def _read(files: Sequence[MIMEPart], limits: ReadLimits, level: int, omissions: Omissions) -> Attached:
    from argot.corpus.readers import read_document

    attached = Attached()
    length = 0
    for part in files:
        name = file_name_of(part)
        if not name and part.get_content_maintype() == "image":
            omissions.add("picture")
            continue
        name = name or _name_by_kind(part)
        if part.get_content_type() in _OUTLOOK or name.casefold() == "winmail.dat":
            attached.unread.append(f"{name} (Outlook's own format, which no other program reads)")
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


def _name_by_kind(part: MIMEPart) -> str:
    """Return a name for what has none, by which its reader is found."""
    kind = part.get_content_type()
    suffix = mimetypes.guess_extension(kind) or (".txt" if part.get_content_maintype() == "text" else "")
    return f"unnamed{suffix}"
