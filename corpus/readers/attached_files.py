"""Files inside a file, such as those attached to a mail or a PDF: each becomes a section by its own reader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.heading_levels import lower_headings
from argot.errors import UnreadableDocument

MAX_ATTACHED_DEPTH = 40
"""Maximum nesting of files within files; deeper ones are named and not read."""
MAX_ATTACHED_FILES = 200
_MAX_NAMED_FILES = 5


@dataclass(slots=True)
class AttachedFiles:
    """`sections` in Markdown, each under its name; `warnings` about parts that could not be read."""

    sections: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def read_attached_files(files: Iterable[tuple[str, bytes | None]], limits: ReadLimits, level: int) -> AttachedFiles:
    """Return the named files as sections under headings of this level; those without data are named as not read."""
    from argot.corpus.readers import read_document

    attached = AttachedFiles()
    inner = replace(limits, depth=limits.depth + 1)
    length = size = 0
    for number, (name, data) in enumerate(files):
        size += len(data or b"")
        if (
            data is None
            or inner.depth > MAX_ATTACHED_DEPTH
            or number >= MAX_ATTACHED_FILES
            or size > limits.max_unpacked_bytes
        ):
            attached.unread.append(name)
            continue
        try:
            found = read_document(data, name, inner)
        except UnreadableDocument as error:
            attached.unread.append(f"{name} ({error.reason})")
            continue
        length += len(found.markdown)
        limits.check_chars(length, name)
        attached.sections.append(f"{'#' * level} Attachment: {name}\n\n{lower_headings(found.markdown, level)}")
        attached.warnings += [f"{name}: {warning}" for warning in found.warnings]
    return attached


def warn_of_attachments(attached: Sequence[AttachedFiles]) -> tuple[str, ...]:
    """Return the warnings about the files: those of the files that were read, and the names of the others."""
    warnings = [warning for one in attached for warning in one.warnings]
    unread = [name for one in attached for name in one.unread]
    if unread:
        more = f" and {len(unread) - _MAX_NAMED_FILES} more" if len(unread) > _MAX_NAMED_FILES else ""
        warnings.append(f"attachments are not read: {', '.join(unread[:_MAX_NAMED_FILES])}{more}")
    return tuple(warnings)
