"""Files with the name of an Office file or an e-book but another content: the actual kind, and the remedy."""

from __future__ import annotations

import re

_OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLD_OFFICE_STREAMS = {
    "WordDocument": ("Word", ".docx"),
    "PowerPoint Document": ("PowerPoint", ".pptx"),
    "Workbook": ("Excel", ".xlsx"),
    "Book": ("Excel", ".xlsx"),
}
"""Streams of the files that Office wrote before 2007, to the program and the suffix of today."""
_OPEN_DOCUMENT = re.compile(rb"mimetypeapplication/vnd\.(?:oasis\.opendocument|sun\.xml)\.")
BINARY_WORKBOOK_KIND = "binary workbook"
OPEN_DOCUMENT_KIND = "OpenDocument file"
"""Kinds that readers of other archives expect."""
_ZIP_MAGIC = b"PK"
_WEB_PAGE_REFUSAL = ("a web page", "Give it a name that ends in .html.")
_KINDS_BY_BEGINNING = {
    b"{\\rtf": ("rich text (RTF)", "Give it a name that ends in .rtf."),
    b"<!doctype html": _WEB_PAGE_REFUSAL,
    b"<html": _WEB_PAGE_REFUSAL,
    b"<?xml": ("a single XML file, as Office 2003 wrote", "Save it as .docx or .xlsx."),
}
"""First letters of other files, with their kind and the remedy."""


def name_other_kind(data: bytes, kind: str) -> tuple[str, str] | None:
    """Return the reason for a refusal and its remedy if the first bytes show another kind of file; else None."""
    if data.startswith(_OLE_MAGIC):
        return _name_old_file(data)
    if not data.strip(b"\0 \t\r\n"):
        return ("empty: it holds no bytes that say anything", "Get a complete copy of it.")
    if data.startswith(_ZIP_MAGIC):
        return _name_other_archive(data, kind)
    if b"%PDF-" in data[:1024]:
        return (f"no {kind} but a PDF", "Give it a name that ends in .pdf.")
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    found = (said for first, said in _KINDS_BY_BEGINNING.items() if start.startswith(first))
    return next(((f"no {kind} but {other}", remedy) for other, remedy in found), None)


def _name_other_archive(data: bytes, kind: str) -> tuple[str, str] | None:
    if kind != OPEN_DOCUMENT_KIND and _OPEN_DOCUMENT.search(data[30:120]):
        return (f"no {kind} but an OpenDocument file", "Give it a name that ends in .odt, .ods or .odp.")
    if kind != BINARY_WORKBOOK_KIND and b"xl/workbook.bin" in data:
        return ("a binary workbook", "Give it a name that ends in .xlsb.")
    return None


def _name_old_file(data: bytes) -> tuple[str, str]:
    if "EncryptedPackage".encode("utf-16-le") in data or "DRMEncryptedTransform".encode("utf-16-le") in data:
        return ("encrypted: it is protected by a password or by rights management", "Save it without protection.")
    for stream, (program, suffix) in _OLD_OFFICE_STREAMS.items():
        if stream.encode("utf-16-le") + b"\0\0" in data:
            return (f"in the format of {program} before 2007", f"Save it as {suffix}.")
    return ("encrypted, or in a format of Office before 2007", "Save it without a password as .docx, .pptx or .xlsx.")
