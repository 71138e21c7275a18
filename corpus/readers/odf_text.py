"""The text of OpenDocument files as HTML, which `html` turns into Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

from argot.corpus.readers.odf_lists import ListNumbers, read_outline_numbers
from argot.corpus.readers.odf_package import DRAW, OFFICE, SVG, TABLE, TEXT, XLINK, OpenDocument, StyleLooks
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.picture_captions import choose_alternative

_MAX_SPACES = 100
_MAX_MARKED_CHARS = 100
_MAX_OBJECTS = 200
_MAX_OBJECT_DEPTH = 2
_MAX_OPEN_COMMENTS = 50
_MAX_REPEATED_CELLS = 500
_SKIPPED = frozenset({
    f"{TEXT}tracked-changes", f"{TEXT}sequence-decls", f"{TEXT}variable-decls", f"{TEXT}user-field-decls",
    f"{OFFICE}forms", f"{TEXT}table-of-content-source", f"{TEXT}alphabetical-index-source", f"{SVG}title",
    f"{SVG}desc", f"{TEXT}hidden-paragraph", f"{TEXT}meta-field-source", f"{TEXT}ruby-text",
    f"{TEXT}bibliography-source", f"{TEXT}illustration-index-source", f"{TEXT}table-index-source",
    f"{TEXT}object-index-source", f"{TEXT}user-index-source", f"{TABLE}table-source",
    f"{OFFICE}event-listeners", f"{TEXT}note-citation",
})  # fmt: skip
"""Elements without text of the document."""
_HEADING_ITEM = re.compile(r'<li(?: value="\d+")?><h\d>')
_SPACES = frozenset({f"{TEXT}s", f"{TEXT}tab", f"{TEXT}line-break"})
_PAGE_FIELDS = frozenset({f"{TEXT}page-number", f"{TEXT}page-count"})


class TextRenderer:
    """The blocks of one document as HTML. Notes and comments follow the paragraph, list or table with their mark."""

    def __init__(self, document: OpenDocument, omissions: Omissions) -> None:
        self._document, self._omissions = document, omissions
        self.looks = StyleLooks(document)
        self._lists = ListNumbers(document)
        self._outline = read_outline_numbers(document)
        self._after: list[str] = []
        self._notes = self._objects = self._object_depth = self._depth = 0
        self._marked: dict[str, list[str]] = {}
        self.has_hidden = False
        self._inline_writers: dict[str, Callable[[Any], str]] = {
            f"{TEXT}note": self._keep_note,
            f"{TEXT}ruby": self._write_ruby,
            f"{OFFICE}annotation": self._keep_comment,
            f"{OFFICE}annotation-end": self._finish_comment,
            f"{DRAW}frame": self._write_frame,
            f"{TABLE}table": self._write_table,
        }
        self._writers: dict[str, Callable[[Any], str]] = {
            f"{TEXT}h": self._write_heading,
            f"{TEXT}p": self._write_paragraph,
            f"{TEXT}list": self._write_list,
            f"{TEXT}numbered-paragraph": self._write_blocks,
            f"{TABLE}table": self._write_table,
            f"{TEXT}section": self._write_section,
            f"{DRAW}frame": self._write_frame,
            f"{OFFICE}annotation": self._keep_comment,
        }

    def write_blocks(self, parent: Any) -> str:
        """Return the blocks below an element as HTML, each followed by its notes."""
        return "".join(self._iter_top_blocks(parent))

    def _iter_top_blocks(self, parent: Any) -> Iterator[str]:
        for child in parent:
            # Sections and indexes only group blocks.
            if child.tag in self._writers and child.tag != f"{TEXT}section":
                yield self._write_block(child)
                yield from self._after
                self._after.clear()
            elif child.tag not in _SKIPPED and not self._is_hidden_section(child):
                yield from self._iter_top_blocks(child)

    def _write_blocks(self, parent: Any) -> str:
        return "".join(self._write_block(child) for child in parent)

    def _write_block(self, element: Any) -> str:
        if element.tag in _SKIPPED or not isinstance(element.tag, str):
            return ""
        return self._writers.get(element.tag, self._write_blocks)(element)

    # -- blocks -------------------------------------------------------------------------------------------------------

    def _write_heading(self, element: Any) -> str:
        level = _parse_number(element.get(f"{TEXT}outline-level"), 1)
        number = "" if element.get(f"{TEXT}is-list-header") == "true" else self._outline.count(level)
        text = self._write_inline(element).strip()
        return f"<h{min(level, 6)}>{escape(number)}{text}</h{min(level, 6)}>\n" if text else ""

    def _write_paragraph(self, element: Any) -> str:
        look = self.looks.find(element.get(f"{TEXT}style-name"))
        concealed = element.find(f"{TEXT}hidden-paragraph[@{TEXT}is-hidden='true']")
        if look.is_hidden or concealed is not None:
            self._note_hidden(element)
            return ""
        text = self._write_inline(element)
        return f"<h1>{text}</h1>\n" if look.outline and text.strip() else f"<p>{text}</p>\n"

    def _write_section(self, element: Any) -> str:
        return "" if self._is_hidden_section(element) else self._write_blocks(element)

    def _is_hidden_section(self, element: Any) -> bool:
        is_hidden: bool = element.tag == f"{TEXT}section" and element.get(f"{TEXT}display") == "none"
        if is_hidden:
            self._note_hidden(element)
        return is_hidden

    def _note_hidden(self, element: Any) -> None:
        self.has_hidden = self.has_hidden or any(text.strip() for text in element.itertext())

    def _write_list(self, element: Any) -> str:
        self._depth += 1
        numbering = self._lists.enter(element, self._depth)
        items = []
        for item in element:
            if item.tag not in (f"{TEXT}list-item", f"{TEXT}list-header"):
                continue
            value = numbering.count(item) if item.tag == f"{TEXT}list-item" else ""
            blocks = self._write_blocks(item)
            if blocks.count("<p>") == 1 and blocks.startswith("<p>"):
                blocks = blocks.replace("<p>", "", 1).replace("</p>", "", 1)
            items.append(f"<li{value}>{blocks}</li>" if item.tag == f"{TEXT}list-item" else blocks)
        self._depth -= 1
        if items and all(_HEADING_ITEM.match(item) for item in items):
            # A list around headings gives them their numbers, and is no list to a reader.
            return "".join(item.partition(">")[2].removesuffix("</li>") for item in items)
        return f"{numbering.opening}{''.join(items)}{numbering.closing}\n"

    # -- tables -------------------------------------------------------------------------------------------------------

    def _write_table(self, element: Any) -> str:
        head = [row for part in element.iter(f"{TABLE}table-header-rows") for row in self._find_rows(part, element)]
        rows = [row for row in self._find_rows(element, element) if row not in set(head)]
        written = "".join(self._write_row(row, "td") for row in rows)
        top = f"<thead>{''.join(self._write_row(row, 'th') for row in head)}</thead>" if head else ""
        title = element.findtext(f"{TABLE}title") or ""
        above = f"<caption>{escape(title)}</caption>" if title.strip() else ""
        return f"<table>{above}{top}{written}</table>\n"

    def _find_rows(self, part: Any, table: Any) -> Iterator[Any]:
        for row in part.iter(f"{TABLE}table-row"):
            if next(row.iterancestors(f"{TABLE}table")) is table:
                yield row

    def _write_row(self, row: Any, tag: str) -> str:
        cells = []
        for cell in row:
            if cell.tag != f"{TABLE}table-cell":
                continue
            spans = "".join(
                f' {name}="{_parse_number(cell.get(f"{TABLE}number-{given}-spanned"), 1)}"'
                for name, given in (("colspan", "columns"), ("rowspan", "rows"))
            )
            times = min(_parse_number(cell.get(f"{TABLE}number-columns-repeated"), 1), _MAX_REPEATED_CELLS)
            cells.append(f"<{tag}{spans}>{self._write_blocks(cell)}</{tag}>" * times)
        return f"<tr>{''.join(cells)}</tr>"

    # -- inline text --------------------------------------------------------------------------------------------------

    def _write_inline(self, element: Any) -> str:
        pieces = [self._keep_text(element.text)]
        for child in element:
            pieces += [self._write_inline_element(child), self._keep_text(child.tail)]
        return "".join(pieces)

    def _keep_text(self, text: str | None) -> str:
        if not text:
            return ""
        for words in self._marked.values():
            if len(words) < _MAX_MARKED_CHARS:
                words.append(text[: 2 * _MAX_MARKED_CHARS])
        return escape(text, quote=False)

    def _write_inline_element(self, element: Any) -> str:
        tag = element.tag
        if tag in _SKIPPED or tag in _PAGE_FIELDS:
            return ""
        if tag in _SPACES:
            return self._write_space(element)
        if tag in self._inline_writers:
            return self._inline_writers[tag](element)
        if tag.startswith(DRAW) and tag != f"{DRAW}a":
            # A shape: its text stands apart from the line that holds its anchor.
            self._after.append(self._write_blocks(element))
            return ""
        return self._write_marked_text(element)

    def _write_space(self, element: Any) -> str:
        count = min(_parse_number(element.get(f"{TEXT}c"), 1), _MAX_SPACES)
        spaces = self._keep_text(" " * count)
        return "<br/>" if element.tag == f"{TEXT}line-break" else spaces

    def _write_ruby(self, element: Any) -> str:
        reading = element.findtext(f"{TEXT}ruby-text") or ""
        return f"{self._write_inline(element)}{f' ({escape(reading)})' if reading.strip() else ''}"

    def _write_marked_text(self, element: Any) -> str:
        look = self.looks.find(element.get(f"{TEXT}style-name"))
        if look.is_hidden or element.get(f"{TEXT}display") == "none" or element.get(f"{TEXT}is-hidden") == "true":
            self._note_hidden(element)
            return ""
        text = self._write_inline(element)
        if look.raised and text.strip():
            text = f"<{look.raised}>{text}</{look.raised}>"
        address = str(element.get(f"{XLINK}href") or "") if element.tag == f"{TEXT}a" else ""
        return f'<a href="{escape(address)}">{text}</a>' if address.startswith(("http://", "https://")) else text

    # -- notes and comments -------------------------------------------------------------------------------------------

    def _keep_note(self, note: Any) -> str:
        self._notes += 1
        number, outer = self._notes, self._after
        self._after = []
        body = note.find(f"{TEXT}note-body")
        text = self._write_blocks(body) if body is not None else ""
        outer.append(f"<p>^{number} {text.replace('<p>', '').replace('</p>', ' ')}</p>\n")
        outer += self._after
        self._after = outer
        return f"^{number}"

    def _keep_comment(self, comment: Any) -> str:
        name = str(comment.get(f"{OFFICE}name") or "")
        author = " ".join((comment.findtext("{*}creator") or "").split())
        paragraphs = [" ".join("".join(one.itertext()).split()) for one in comment.iter(f"{TEXT}p", f"{TEXT}h")]
        text = " ".join(filter(None, paragraphs))
        resolved = any(key.endswith("}resolved") and value == "true" for key, value in comment.attrib.items())
        if text:
            by = f" by {author}" if author else ""
            self._after.append(
                f"<p>Comment{escape(by)}\0{escape(name)}\0: {escape(text)}{' (resolved)' * resolved}</p>\n"
            )
            if name and len(self._marked) < _MAX_OPEN_COMMENTS:
                self._marked[name] = []
        return ""

    def _finish_comment(self, end: Any) -> str:
        name = str(end.get(f"{OFFICE}name") or "")
        words = " ".join("".join(self._marked.pop(name, [])).split())
        words = words if len(words) <= _MAX_MARKED_CHARS else f"{words[:_MAX_MARKED_CHARS].rstrip()} ..."
        on = f' on "{escape(words)}"' if words else ""
        self._after = [block.replace(f"\0{escape(name)}\0", on) for block in self._after]
        return ""

    # -- frames -------------------------------------------------------------------------------------------------------

    def _write_frame(self, frame: Any) -> str:
        """Keep text boxes, formulas and charts as blocks of their own; return pictures where they stand."""
        described = (frame.findtext(f"{SVG}title"), frame.findtext(f"{SVG}desc"))
        words = "; ".join(dict.fromkeys(filter(None, map(choose_alternative, described))))
        for child in frame:
            if child.tag == f"{DRAW}object":
                written = self._write_object(child)
                if written.startswith("<math"):
                    return written
                self._after.append(f"<p>{escape(words)}</p>\n{written}" if words else written)
                return ""
            if child.tag == f"{DRAW}image":
                return self._write_picture(child, words)
            if child.tag in (f"{DRAW}text-box", f"{TABLE}table"):
                self._after.append(self._write_block(child))
            elif child.tag in (f"{DRAW}object-ole", f"{DRAW}plugin", f"{DRAW}applet", f"{DRAW}floating-frame"):
                self._omissions.add("embedded file")
                return f"<p>{escape(words)}</p>" if words else ""
        return ""

    def _write_picture(self, image: Any, words: str) -> str:
        address = str(image.get(f"{XLINK}href") or "")
        if self._document.read(address) is None and not words:
            self._omissions.add("picture")
        return f'<img src="{escape(address)}" alt="{escape(words)}"/>'

    def _write_object(self, element: Any) -> str:
        """Return a formula as MathML, and a chart as the table of its numbers."""
        self._objects += 1
        self._object_depth += 1
        try:
            return self._read_object(element) if self._object_depth <= _MAX_OBJECT_DEPTH else ""
        finally:
            self._object_depth -= 1

    def _read_object(self, element: Any) -> str:
        address = str(element.get(f"{XLINK}href") or "").rstrip("/")
        inner = element[0] if len(element) else None
        root = inner if inner is not None else self._document.parse(f"{address}/content.xml" if address else "")
        if root is None or self._objects > _MAX_OBJECTS:
            self._omissions.add("embedded file")
            return ""
        if root.tag.endswith("}math"):
            return _write_mathml(root)
        titles = [
            " ".join("".join(one.itertext()).split())
            for one in root.iter("{*}title")
            if one.tag.endswith("chart:1.0}title")
        ]
        tables = "".join(self._write_table(table) for table in root.iter(f"{TABLE}table"))
        text = "" if tables else "".join(self._write_block(one) for one in root.iter(f"{OFFICE}text"))
        return "".join(f"<p>{escape(title)}</p>\n" for title in titles if title) + tables + text


def _write_mathml(root: Any) -> str:
    """Return a formula without namespaces, as a web page holds it."""
    pieces = []
    for element in root.iter():
        if isinstance(element.tag, str):
            element.tag = element.tag.rpartition("}")[2]
            element.attrib.clear()
    from lxml import etree  # type: ignore[import-untyped]

    for annotation in list(root.iter("annotation")):
        annotation.getparent().remove(annotation)
    etree.cleanup_namespaces(root)
    root.tail = None
    pieces.append(etree.tostring(root, encoding="unicode"))
    return "".join(pieces)


def _parse_number(value: str | None, otherwise: int) -> int:
    text = value or ""
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < 8 else otherwise
