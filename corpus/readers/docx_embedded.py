"""Files within a Word file: parts that are shown as text of its own (`w:altChunk`), and embedded Office files."""

from __future__ import annotations

import posixpath
from contextvars import ContextVar
from email import message_from_bytes, policy
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.docx_insertions import Insertions, make_paragraph
from argot.corpus.readers.docx_package import R, W, WordPackage
from argot.corpus.readers.heading_levels import lower_headings
from argot.corpus.readers.html import convert_html
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.plain_text import decode_text
from argot.errors import UnreadableDocument

_BUTTON_CLASS = b"{D7053240-CE69-11CD-A777-00DD01143C57}"
"""The class of a button, which has no content."""
_OLE_OBJECT = "{urn:schemas-microsoft-com:office:office}OLEObject"
_OFFICE_SUFFIXES = (
    ".docx",
    ".docm",
    ".doc",
    ".odt",
    ".xlsx",
    ".xlsm",
    ".xlsb",
    ".xls",
    ".ods",
    ".pptx",
    ".pptm",
    ".odp",
)
_PAGE_SUFFIXES = (".html", ".htm", ".xhtml")
_MAX_NESTED_FILES = 2
_MAX_FILES = 50
_depth: ContextVar[int] = ContextVar("_depth", default=0)
"""Nesting depth of the Word file that is being read."""


def insert_text_parts(
    package: WordPackage, root: Any, limits: ReadLimits, insertions: Insertions, omissions: Omissions
) -> None:
    """Insert the text of each part that the document includes as a whole at its place in the text."""
    for number, chunk in enumerate(list(root.iter(f"{W}altChunk")), start=1):
        text = _read_related(package, chunk.get(f"{R}id"), limits, omissions) if number <= _MAX_FILES else ""
        if text:
            chunk.addnext(make_paragraph(insertions.make_run(text)))
        else:
            omissions.add("embedded part")


def read_embedded_files(package: WordPackage, root: Any, limits: ReadLimits, omissions: Omissions) -> str:
    """Return the embedded Office files as sections, each under its name; count what cannot be read."""
    sections = []
    for number, embedded in enumerate(root.iter(_OLE_OBJECT), start=1):
        relation = package.read_relations(package.document).get(str(embedded.get(f"{R}id")))
        if str(embedded.get("ProgID") or "").startswith("Equation"):
            omissions.add("equation")
            continue
        name = posixpath.basename(relation.part) if relation else ""
        is_office = name.lower().endswith(_OFFICE_SUFFIXES) and number <= _MAX_FILES
        text = _read_related(package, embedded.get(f"{R}id"), limits, omissions) if is_office else ""
        if text:
            sections.append(f"## Embedded: {name}\n\n{lower_headings(text, 2)}")
        else:
            omissions.add("embedded file")
    return "".join(f"\n{section.strip()}\n" for section in sections)


def count_form_controls(package: WordPackage, root: Any, omissions: Omissions) -> None:
    """Count the ActiveX controls that a person fills in: their content is in a form of each program's own."""
    related = package.read_relations(package.document)
    for control in root.iter(f"{W}control"):
        found = related.get(str(control.get(f"{R}id")))
        if not (found and _BUTTON_CLASS in (package.read_content(found.part) or b"").upper()):
            omissions.add("form control")


def _read_related(package: WordPackage, relation: str | None, limits: ReadLimits, omissions: Omissions) -> str:
    found = package.read_relations(package.document).get(relation or "")
    content = package.read_content(found.part) if found else None
    if not content or found is None:
        return ""
    try:
        return _read_part(content, posixpath.basename(found.part), limits, omissions).strip()
    except UnreadableDocument:
        return ""


def _read_part(content: bytes, name: str, limits: ReadLimits, omissions: Omissions) -> str:
    """Return the part as Markdown, by its first bytes if its name does not show the kind."""
    lowered, beginning = name.lower(), content[:1000].lstrip()
    if lowered.endswith((".mht", ".mhtml")) or beginning[:13].lower() == b"mime-version:":
        return _read_web_archive(content)
    if lowered.endswith(".rtf") or beginning.startswith(b"{\\rtf"):
        return _read_rich_text(content)
    if content.startswith(b"PK") and not lowered.endswith(_OFFICE_SUFFIXES):
        name = "part.docx"
    elif beginning.startswith(b"<") and not lowered.endswith((*_PAGE_SUFFIXES, ".txt")):
        name = "part.html"
    if _depth.get() >= _MAX_NESTED_FILES:
        return ""
    from argot.corpus.readers import read_document

    token = _depth.set(_depth.get() + 1)
    try:
        parsed = read_document(content, name, limits)
        omissions.warn(f"{name}: {warning}" for warning in parsed.warnings)
        return parsed.markdown
    finally:
        _depth.reset(token)


def _read_web_archive(content: bytes) -> str:
    part = message_from_bytes(content, policy=policy.default).get_body(("html", "plain"))
    data = part.get_payload(decode=True) if part is not None else None
    if part is None or not isinstance(data, bytes):
        return ""
    text = decode_text(data, "an embedded page", part.get_content_charset())
    return convert_html(text) if part.get_content_type() == "text/html" else text


def _read_rich_text(content: bytes) -> str:
    from argot.corpus.readers.rtf import read_rich_text_part

    return read_rich_text_part(content).strip()
