"""All parts of a sheet except its cells: text boxes, charts, SmartArt, notes and comments, headers and footers."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from typing import Any

from argot.corpus.readers.drawing_text import (
    EMU_PER_POINT,
    MIN_PICTURE_EMU,
    read_alternative,
    read_paragraphs,
    read_user_shapes,
    unwrap_alternatives,
)
from argot.corpus.readers.office_charts import read_chart
from argot.corpus.readers.office_diagrams import read_diagram
from argot.corpus.readers.office_package import OfficePackage, Relationship, parse_part
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.pictures import shelve_picture

_TRUE_VALUES = ("1", "true")
_HEADER_CODE = re.compile(r'&(?:"[^"]*"|\d+|K[0-9A-Fa-f+-]{5,6}|[A-Z&])')
_CONTROL_TYPES = ("Checkbox", "Radio", "Button", "Label", "GBox")
_THREAD_COMMENT = "[Threaded comment]"
"""Begins the copy of a thread that Excel writes as a note for older programs."""


class SheetParts:
    """The parts that one sheet refers to, as blocks of Markdown."""

    def __init__(
        self, package: OfficePackage, path: str, omissions: Omissions, hides: Callable[[str], bool] | None = None
    ) -> None:
        """Keep what is read.

        Args:
            hides: returns True for a cell, such as "B7", in a hidden row or column: its notes are left out.
        """
        self._package, self._path, self._omissions = package, path, omissions
        self._hides = hides or (lambda cell: False)

    def read_blocks(self) -> Iterator[str]:
        """Yield the text of drawings, then notes and comments; a part that cannot be read is counted."""
        for kind, noun, read in (
            ("drawing", "drawing", self._read_drawing),
            ("vmlDrawing", "drawing", self._read_controls),
            ("comments", "list of notes", self._read_notes),
            ("threadedComment", "thread of comments", self._read_threads),
        ):
            for part in self._package.find_related(self._path, kind):
                if part.endswith(".bin"):
                    continue  # the notes of a binary workbook: `xlsb` reads them
                try:
                    yield from list(read(part))
                except (KeyError, ValueError, AttributeError, TypeError):
                    self._omissions.add(noun)

    def _parse(self, part: str) -> Any:
        root = parse_part(self._package.read(part))
        if root is None:
            raise ValueError(f"no XML: {part}")
        return root

    # -- drawings -----------------------------------------------------------------------------------------------------

    def _read_drawing(self, part: str) -> Iterator[str]:
        root = self._parse(part)
        unwrap_alternatives(root)
        related = self._package.read_relationships(part)
        for shape in root.iter("{*}sp", "{*}pic", "{*}graphicFrame", "{*}cxnSp"):
            properties = next(shape.iter("{*}cNvPr"), None)
            if properties is not None and properties.get("hidden") in _TRUE_VALUES:
                continue
            words = read_alternative(properties)
            kind = shape.tag.rpartition("}")[2]
            if kind == "graphicFrame":
                yield from self._read_frame(shape, related)
            if (body := shape.find("{*}txBody")) is not None:
                yield "\n\n".join(read_paragraphs(body, self._omissions))
            else:
                yield from self._read_picture(shape, words, related)

    def _read_picture(self, shape: Any, words: str, related: dict[str, Relationship]) -> Iterator[str]:
        """Yield the description of a picture, with its mark if it is kept; count it if there are no words of it."""
        is_picture = shape.tag.rpartition("}")[2] == "pic"
        mark, has_words = "", False
        for blip in shape.iterfind(".//{*}blip") if is_picture else ():
            target = related.get(next((value for name, value in blip.attrib.items() if name.endswith("}embed")), ""))
            data = self._package.read(target.target) if target and self._package.has_part(target.target) else None
            added, read = shelve_picture(data, alternative=words, shown=_read_shown_size(shape))
            mark, has_words = mark + added, has_words or read
        if words or mark:
            yield f"Picture: {words} {mark}".strip() if words else mark
        if is_picture and not words and not has_words and _is_large(shape):
            self._omissions.add("picture")

    def _read_frame(self, frame: Any, related: dict[str, Relationship]) -> Iterator[str]:
        for kind, path, attribute in (("chart", "{*}chart", "id"), ("diagram", "{*}relIds", "dm")):
            for element in frame.iterfind(f".//{{*}}graphicData/{path}"):
                try:
                    target = related[_find_reference(element, attribute)].target
                    xml = self._package.read(target)
                    yield read_chart(xml) if kind == "chart" else read_diagram(xml)
                    for one in self._package.find_related(target, "chartUserShapes"):
                        yield "\n\n".join(read_user_shapes(self._package.read(one), self._omissions))
                except (KeyError, ValueError):
                    self._omissions.add(kind)

    def _read_controls(self, part: str) -> Iterator[str]:
        """Yield the labels of check boxes and buttons upon a sheet, ticked or not."""
        for shape in parse_part(self._package.read(part), recover=True).iter("{*}shape"):
            data = shape.find("{*}ClientData")
            if data is None or data.get("ObjectType") not in _CONTROL_TYPES:
                continue
            text = " ".join(" ".join(one.strip() for one in box.itertext()) for box in shape.iter("{*}textbox"))
            if text := " ".join(text.split()):
                is_box = data.get("ObjectType") in ("Checkbox", "Radio")
                ticked = "[x] " if data.findtext("{*}Checked") not in (None, "0") else "[ ] "
                yield f"{ticked if is_box else ''}{text}"

    # -- notes --------------------------------------------------------------------------------------------------------

    def _read_notes(self, part: str) -> Iterator[str]:
        root = self._parse(part)
        authors = [_clean(one.text) for one in root.iterfind("{*}authors/{*}author")]
        for note in root.iter("{*}comment"):
            number = str(note.get("authorId") or "")
            author = (
                authors[int(number)] if number.isascii() and number.isdigit() and int(number) < len(authors) else ""
            )
            text = _clean("".join(one.text or "" for one in note.iterfind("{*}text//{*}t") if not _is_phonetic(one)))
            # Excel begins a note with its author's name, and copies threads into notes.
            text = text.removeprefix(f"{author}:").strip() if author else text
            if self._hides(str(note.get("ref"))):
                continue
            if text and not text.startswith(_THREAD_COMMENT) and not author.startswith("tc={"):
                yield _write_note(str(note.get("ref") or ""), author, text)

    def _read_threads(self, part: str) -> Iterator[str]:
        people = {
            str(one.get("id")): _clean(one.get("displayName"))
            for persons in self._package.find_related(self._package.find_main_part(), "person")
            for one in self._parse(persons).iter("{*}person")
        }
        for comment in self._parse(part).iter("{*}threadedComment"):
            if (text := _clean(comment.findtext("{*}text"))) and not self._hides(str(comment.get("ref"))):
                yield _write_note(str(comment.get("ref") or ""), people.get(str(comment.get("personId")), ""), text)


def read_header_texts(sheet_xml: bytes) -> list[str]:
    """Return the headers and footers of a printed sheet, without codes for pages, dates and fonts.

    Args:
        sheet_xml: the piece of a sheet's part that holds them.
    """
    found = re.findall(rb"<(?:\w+:)?(?:odd|even|first)(?:Header|Footer)[^>]{0,99}>([^<]{1,2000})<", sheet_xml)
    texts = (html.unescape(one.decode("utf-8", "replace")) for one in found)
    sections = (_clean(_HEADER_CODE.sub("", one)) for text in texts for one in re.split(r"&[LCR](?![a-z])", text))
    return list(dict.fromkeys(one for one in sections if any(map(str.isalpha, one))))


def _write_note(cell: str, author: str, text: str) -> str:
    return f"Note on {cell} ({author}): {text}" if author else f"Note on {cell}: {text}"


def _is_large(picture: Any) -> bool:
    size = next(picture.iterfind(".//{*}xfrm/{*}ext"), None)
    try:
        return size is None or min(int(size.get("cx")), int(size.get("cy"))) >= MIN_PICTURE_EMU
    except (TypeError, ValueError):
        return True


def _read_shown_size(picture: Any) -> tuple[float, float]:
    """Return width and height in points; 0 where the file does not say."""
    size = next(picture.iterfind(".//{*}xfrm/{*}ext"), None)
    try:
        return (
            (int(size.get("cx")) / EMU_PER_POINT, int(size.get("cy")) / EMU_PER_POINT) if size is not None else (0, 0)
        )
    except (TypeError, ValueError):
        return 0, 0


def _is_phonetic(element: Any) -> bool:
    above = element.getparent()
    return above is not None and above.tag.endswith("}rPh")


def _find_reference(element: Any, name: str) -> str:
    """Return the id of a relationship, whichever version of the format names it."""
    for attribute, value in element.attrib.items():
        if attribute.startswith("{") and attribute.endswith(f"}}{name}"):
            return str(value)
    raise KeyError(name)


def _clean(text: str | None) -> str:
    return " ".join((text or "").split())
