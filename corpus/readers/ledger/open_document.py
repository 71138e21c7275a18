"""All text of an OpenDocument file: its content, formulas and charts within it, headers and footers, properties."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from argot.corpus.readers.ledger import source_text as rules
from argot.corpus.readers.ledger.budget import Budget
from argot.corpus.readers.ledger.ledger import EQUATION
from argot.corpus.readers.ledger.source_text import SourceText
from argot.corpus.readers.ledger.xml_walk import read_local_name, read_unknown_part
from argot.corpus.readers.picture_captions import is_file_name

_EVENTS_PER_CHECK = 2_000
_RULES = {
    "tracked-changes": rules.DELETED,
    "notes-master": rules.LAYOUT,
    "master-styles": rules.LAYOUT,
    "tracked-change": rules.DELETED,
    "forms": rules.CLICKABLE,
    "scripts": rules.CODE,
    "page-number": rules.PLACEHOLDER,
    "page-count": rules.PLACEHOLDER,
    "note-citation": rules.LAYOUT,
    "label-ranges": rules.TECHNICAL,
}
_KINDS = {
    "note": "footnote", "annotation": "comment", "text-box": "text box", "notes": "note", "table-cell": "cell",
}  # fmt: skip
_RUNNING = ("header", "footer", "header-first", "footer-first", "header-left", "footer-left")
_FURNITURE_CLASSES = ("header", "footer", "date-time", "page-number", "handout", "page")
_HIDDEN_VALUES = ("collapse", "filter")
_MAX_COLUMNS = 16_384


def read_open_document_texts(data: bytes, budget: Budget) -> Iterator[SourceText]:
    """Give all text of the file, one part after the other."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            budget.check()
            if name == "meta.xml":
                for text in read_unknown_part(archive.open(name), budget):
                    yield SourceText(name, "property", text, rules.PROPERTIES)
            elif name == "content.xml" or (name.endswith("/content.xml") and not name.startswith("META-INF")):
                kind = "text" if name == "content.xml" else "chart"
                yield from _Walk(name, kind, budget).read(archive.open(name))
            elif name == "styles.xml":
                yield from _Walk(name, "header", budget, rules.RUNNING).read(archive.open(name))


@dataclass(slots=True)
class _Frame:
    name: str
    kind: str
    rule: str
    is_block: bool = False
    pieces: list[str] = field(default_factory=list)


class _Walk:
    """A walk through one part, with the role of the text at each place."""

    def __init__(self, place: str, kind: str, budget: Budget, rule: str = "") -> None:
        self._place, self._budget = place, budget
        self._frames = [_Frame("", kind, rule)]
        self._hidden: dict[str, str] = {}
        self._style = ""
        self._columns: list[set[int]] = []
        self._column = 1
        self._done: list[SourceText] = []

    def read(self, part: Any) -> Iterator[SourceText]:
        from lxml import etree  # type: ignore[import-untyped]

        events = etree.iterparse(
            part, events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True,
            recover=True, remove_comments=True, remove_pis=True,
        )  # fmt: skip
        for number, (event, element) in enumerate(events):
            if number % _EVENTS_PER_CHECK == 0:
                self._budget.check()
            if event == "start":
                self._start(read_local_name(element.tag), element)
                continue
            self._end(read_local_name(element.tag), element)
            yield from self._done
            self._done.clear()
            tail = element.tail
            element.clear()
            element.tail = tail
            if tail and self._frames[-1].is_block:
                self._frames[-1].pieces.append(tail)

    def _start(self, name: str, element: Any) -> None:
        top = self._frames[-1]
        attributes = {read_local_name(key): str(value) for key, value in element.attrib.items()}
        self._note_style(name, attributes)
        rule = top.rule or _RULES.get(name, "") or self._find_hidden(name, attributes)
        kind = EQUATION if name == "math" else _KINDS.get(name, top.kind)
        is_block = name in ("p", "h", "math", "title", "desc") or (
            top.is_block and kind == top.kind and name != "object"
        )
        if name in ("annotation",) and top.kind == EQUATION:
            rule = rules.TECHNICAL
        elif name in ("creator", "date", "date-string", "initials", "creator-initials", "sender-initials"):
            rule = rule or rules.TECHNICAL
        if name in ("table-cell", "covered-table-cell"):
            rule = rule or self._find_hidden_column(attributes)
        self._frames.append(_Frame(name, kind, rule, is_block))
        if name in ("s", "tab", "line-break"):
            top.pieces.append(" ")

    def _end(self, name: str, element: Any) -> None:
        frame = self._frames.pop()
        if frame.is_block and element.text:
            frame.pieces.insert(0, element.text)
        top = self._frames[-1]
        text = "".join(frame.pieces)
        if not text.strip():
            return
        if name in ("title", "desc") and is_file_name(text):
            self._done.append(SourceText(self._place, frame.kind, text, rules.TECHNICAL))
            return
        # Text within a line, such as a link, is part of its paragraph.
        if frame.is_block and top.is_block and (frame.kind, frame.rule) == (top.kind, top.rule):
            top.pieces.append(text)
        else:
            self._done.append(SourceText(self._place, frame.kind, text, frame.rule))

    # -- what is hidden -----------------------------------------------------------------------------------------------

    def _note_style(self, name: str, attributes: dict[str, str]) -> None:
        if name == "style":
            self._style = attributes.get("name", "")
        elif name.endswith("-properties"):
            if name == "text-properties" and attributes.get("display") == "none":
                self._hidden[self._style] = rules.HIDDEN
            elif name == "table-properties" and attributes.get("display") == "false":
                self._hidden[self._style] = rules.HIDDEN_CELL
            elif attributes.get("visibility") == "hidden":
                self._hidden[self._style] = rules.HIDDEN_SLIDE
        elif name == "table":
            self._columns.append(set())
            self._column = 1
        elif name == "table-row":
            self._column = 1
        elif name == "table-column" and self._columns:
            times = _parse(attributes.get("number-columns-repeated"))
            if attributes.get("visibility") in _HIDDEN_VALUES or self._frames[-1].rule == rules.HIDDEN_CELL:
                self._columns[-1].update(range(self._column, self._column + times))
            self._column += times

    def _find_hidden_column(self, attributes: dict[str, str]) -> str:
        column, self._column = self._column, self._column + _parse(attributes.get("number-columns-repeated"))
        return rules.HIDDEN_CELL if self._columns and column in self._columns[-1] else ""

    def _find_hidden(self, name: str, attributes: dict[str, str]) -> str:
        if name in ("header-rows", "table-column-group", "table-row-group") and attributes.get("display") == "false":
            return rules.HIDDEN_CELL
        if name == "table-row" and attributes.get("visibility") in _HIDDEN_VALUES:
            return rules.HIDDEN_CELL
        if attributes.get("placeholder") == "true" or attributes.get("class") in _FURNITURE_CLASSES:
            return rules.PLACEHOLDER
        is_concealed = name not in ("table", "style") and attributes.get("display") == "none"
        if is_concealed or attributes.get("is-hidden") == "true":
            return rules.HIDDEN
        return (
            self._hidden.get(attributes.get("style-name", ""), "")
            if name in ("p", "span", "table", "page", "h")
            else ""
        )


def _parse(value: str | None) -> int:
    text = value or ""
    return min(int(text), _MAX_COLUMNS) if text.isascii() and text.isdigit() and len(text) < 8 else 1
