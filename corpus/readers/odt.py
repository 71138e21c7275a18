"""OpenDocument texts (.odt) and slides (.odp), as LibreOffice and Google Docs save them."""

from __future__ import annotations

import re
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.html import convert_tree, parse_body
from argot.corpus.readers.odf_package import (
    DRAW,
    PRESENTATION,
    TEXT,
    OpenDocument,
    open_document,
    read_properties,
    read_running_fields,
)
from argot.corpus.readers.odf_text import TextRenderer
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.plain_text import name_without_suffix
from argot.corpus.readers.titles import find_first_heading
from argot.types import PageMark, ParsedDocument

TEXT_TYPE = "application/vnd.oasis.opendocument.text"
SLIDES_TYPE = "application/vnd.oasis.opendocument.presentation"
_ELEMENTS_PER_SECOND = 8_000
"""The speed of turning HTML into Markdown."""
_MAX_NAMED_SLIDES = 10
_TITLE_CLASSES = ("title",)
_FURNITURE_CLASSES = ("header", "footer", "date-time", "page-number", "handout", "page")


def read_odt(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read a text. The title comes from the properties, else the first top heading, else the file name.

    Deleted text of tracked changes and hidden text are left out.
    """
    document = open_document(data, name, limits, "text", _ELEMENTS_PER_SECOND)
    omissions = Omissions()
    renderer = TextRenderer(document, omissions)
    markdown = _convert(renderer.write_blocks(document.body), document, omissions)
    core = read_properties(document)
    return ParsedDocument(
        core.title or find_first_heading(markdown) or name_without_suffix(name),
        markdown,
        TEXT_TYPE,
        date=core.date,
        warnings=(*document.warnings, *_warn(renderer, document.body), *omissions.warnings()),
        fields=tuple(dict.fromkeys([*core.fields, *read_running_fields(document)])),
    )


def _warn(renderer: TextRenderer, body: Any) -> tuple[str, ...]:
    hidden = ("hidden text was left out",) if renderer.has_hidden else ()
    has_changes = next(body.iter(f"{TEXT}deletion"), None) is not None
    return (*hidden, *(("text deleted by tracked changes was left out",) if has_changes else ()))


def _convert(html: str, document: OpenDocument, omissions: Omissions) -> str:
    # The place of a comment that marks no words.
    cleaned = re.sub("\0[^\0]*\0", "", html)
    return convert_tree(parse_body(f"<html><body>{cleaned}</body></html>"), omissions, document.read)


def read_odp(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Read slides: the title as heading, its text, tables, charts and notes. Every slide is one page mark.

    Hidden slides are left out: their author did not mean them for everyone.
    """
    document = open_document(data, name, limits, "presentation", _ELEMENTS_PER_SECOND)
    omissions = Omissions()
    renderer = TextRenderer(document, omissions)
    parts: list[str] = []
    pages: list[PageMark] = []
    hidden: list[str] = []
    length, first_title, has_text = 0, "", False
    for number, slide in enumerate(document.body.iter(f"{DRAW}page"), start=1):
        if renderer.looks.find_visibility(slide.get(f"{DRAW}style-name"), "drawing-page") == "hidden":
            hidden.append(str(number))
            continue
        title, markdown = _read_slide(slide, renderer, document, omissions)
        first_title = first_title if pages else title
        has_text = has_text or bool(title or markdown.strip())
        text = "\n\n".join(filter(None, [f"# {title or f'Slide {number}'}", markdown.strip()])) + "\n\n"
        pages.append(PageMark(length, number, "slide"))
        parts.append(text)
        length += len(text)
        limits.check_chars(length, name)
    core = read_properties(document)
    more = " ..." if len(hidden) > _MAX_NAMED_SLIDES else ""
    left_out = (f"hidden slides were left out: {', '.join(hidden[:_MAX_NAMED_SLIDES])}{more}",) if hidden else ()
    return ParsedDocument(
        core.title or first_title or name_without_suffix(name),
        "".join(parts) if has_text else "",
        SLIDES_TYPE,
        pages=tuple(pages),
        date=core.date,
        warnings=(*document.warnings, *left_out, *omissions.warnings()),
        fields=core.fields,
    )


def _read_slide(slide: Any, renderer: TextRenderer, document: OpenDocument, omissions: Omissions) -> tuple[str, str]:
    """Return the title of a slide, and its other text as Markdown."""
    title, notes = "", slide.find(f"{PRESENTATION}notes")
    for frame in list(slide.iter(f"{DRAW}frame", f"{DRAW}custom-shape")):
        kind = frame.get(f"{PRESENTATION}class")
        in_notes = notes is not None and notes in frame.iterancestors()
        is_empty = frame.get(f"{PRESENTATION}placeholder") == "true"
        if kind in _TITLE_CLASSES and not title and not in_notes and not is_empty:
            title = " ".join(" ".join(frame.itertext()).split())
        elif not (is_empty or kind in _FURNITURE_CLASSES):
            continue
        frame.getparent().remove(frame)
    if notes is not None:
        slide.remove(notes)
    body = _convert(renderer.write_blocks(slide), document, omissions)
    notes_text = _convert(renderer.write_blocks(notes), document, omissions).strip() if notes is not None else ""
    return title, f"{body}\n\n**Notes:** {notes_text}" if notes_text else body
