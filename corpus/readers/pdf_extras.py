"""The parts of a PDF beside the text of its pages: attached files, data of an XFA form, pictures, sounds and films."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.attached_files import MAX_ATTACHED_FILES, read_attached_files, warn_of_attachments
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.pdf_pages import PageText

_MAX_PACKETS = 50
_MAX_FORM_BYTES = 10_000_000
_MAX_FORM_VALUES = 5_000


@dataclass(slots=True)
class Extras:
    """`sections` in Markdown, to follow the pages; `warnings` about unread parts."""

    sections: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def has_extras(document: Any) -> bool:
    """Return whether the document has content even if its pages have no text."""
    return document.count_attachments() > 0 or bool(_read_xfa_values(document))


def read_extras(document: Any, texts: Sequence[PageText], limits: ReadLimits, unread_pictures: int) -> Extras:
    """Return the content beside the text of the pages, which were read before.

    Args:
        unread_pictures: the number of pictures in which no words were read.
    """
    extras = Extras()
    if values := _read_xfa_values(document):
        if not any(text.annotations.has_content for text in texts):
            extras.sections.append("\n\n".join(["## Form fields", *values]))
        extras.warnings.append("it is an XFA form: what was filled in was read, its printed words may be missing")
    files = dict.fromkeys(
        [*_iter_attached_files(document), *(file for text in texts for file in text.annotations.files)]
    )
    attached = read_attached_files(files, limits, 2)
    extras.sections += attached.sections
    extras.warnings += warn_of_attachments([attached])
    omissions = Omissions()
    omissions.add("picture", unread_pictures)
    omissions.add("sound or film", sum(text.annotations.media for text in texts))
    extras.warnings += omissions.warnings()
    return extras


def _iter_attached_files(document: Any) -> Iterator[tuple[str, bytes]]:
    import pypdfium2

    for number in range(min(document.count_attachments(), MAX_ATTACHED_FILES)):
        # A failure to extract one does not affect the others.
        with suppress(pypdfium2.PdfiumError):
            file = document.get_attachment(number)
            yield " ".join(file.get_name().split()), bytes(file.get_data())


def _read_xfa_values(document: Any) -> list[str]:
    """Return "name: value" for every value filled into an XFA form, whose pages may only say "Please wait"."""
    import pypdfium2.raw as pdfium
    from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped]
    from defusedxml.ElementTree import ParseError, fromstring  # type: ignore[import-untyped]

    if document.get_formtype() not in (pdfium.FORMTYPE_XFA_FULL, pdfium.FORMTYPE_XFA_FOREGROUND):
        return []
    for number in range(min(pdfium.FPDF_GetXFAPacketCount(document.raw), _MAX_PACKETS)):
        if _read_packet_name(pdfium, document, number) != "datasets":
            continue
        with suppress(ParseError, DefusedXmlException):
            root = fromstring(_read_packet(pdfium, document, number), forbid_dtd=True)
            leaves = [one for one in root.iter() if not len(one) and (one.text or "").strip()]
            return [
                f"{one.tag.rpartition('}')[2]}: {' '.join((one.text or '').split())}"
                for one in leaves[:_MAX_FORM_VALUES]
            ]
    return []


def _read_packet_name(pdfium: Any, document: Any, number: int) -> str:
    buffer = ctypes.create_string_buffer(64)
    pdfium.FPDF_GetXFAPacketName(document.raw, number, buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace")


def _read_packet(pdfium: Any, document: Any, number: int) -> bytes:
    size = ctypes.c_ulong()
    pdfium.FPDF_GetXFAPacketContent(document.raw, number, None, 0, ctypes.byref(size))
    if not 0 < size.value <= _MAX_FORM_BYTES:
        return b""
    buffer = ctypes.create_string_buffer(size.value)
    pdfium.FPDF_GetXFAPacketContent(document.raw, number, buffer, size.value, ctypes.byref(size))
    return buffer.raw[: size.value]
