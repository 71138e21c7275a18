"""OpenDocument files (.odt, .ods, .odp) opened for reading: their parts, properties and the looks of their styles."""

from __future__ import annotations

import io
import posixpath
import zipfile
from dataclasses import dataclass
from typing import Any

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.archives import CoreProperties, check_archive
from argot.corpus.readers.dates import find_date
from argot.corpus.readers.file_fields import build_fields
from argot.corpus.readers.file_kinds import OPEN_DOCUMENT_KIND
from argot.corpus.readers.furniture_fields import read_labelled_fields
from argot.corpus.readers.titles import clean_title
from argot.errors import UnreadableDocument
from argot.types import DocumentField

_NAMESPACES = "urn:oasis:names:tc:opendocument:xmlns:"
OFFICE = f"{{{_NAMESPACES}office:1.0}}"
TEXT = f"{{{_NAMESPACES}text:1.0}}"
TABLE = f"{{{_NAMESPACES}table:1.0}}"
DRAW = f"{{{_NAMESPACES}drawing:1.0}}"
STYLE = f"{{{_NAMESPACES}style:1.0}}"
PRESENTATION = f"{{{_NAMESPACES}presentation:1.0}}"
SVG = f"{{{_NAMESPACES}svg-compatible:1.0}}"
XLINK = "{http://www.w3.org/1999/xlink}"
_MAX_STYLES = 50_000
_MAX_PARENTS = 20


@dataclass(slots=True)
class OpenDocument:
    """An OpenDocument file that is safe to read. `body`: the element that holds its text, sheets or slides."""

    archive: zipfile.ZipFile
    body: Any
    content: Any
    styles: Any
    warnings: tuple[str, ...]

    def read(self, part: str) -> bytes | None:
        """Return the bytes of a part; None if the file has no such part."""
        try:
            return self.archive.read(posixpath.normpath(part))
        except (KeyError, ValueError, OSError, zipfile.BadZipFile):
            return None

    def parse(self, part: str) -> Any:
        """Return the root element of a part; None if it is missing or no XML."""
        return parse_xml(self.read(part))


def parse_xml(data: bytes | None) -> Any:
    """Return the root element, as far as the XML goes; None for no XML. Nothing outside of it is opened."""
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, huge_tree=True, remove_comments=True,
        remove_pis=True,
    )  # fmt: skip
    try:
        return etree.fromstring(data, parser) if data else None
    except (etree.XMLSyntaxError, ValueError):
        return None


def open_document(data: bytes, name: str, limits: ReadLimits, kind: str, elements_a_second: int) -> OpenDocument:
    """Open an OpenDocument file after the check of its archive.

    Args:
        kind: the element below `office:body` that it must hold: "text", "spreadsheet" or "presentation".

    Raises:
        UnreadableDocument: a bomb, encrypted, damaged, or an OpenDocument file of another kind.
    """
    checked = check_archive(data, name, limits, elements_a_second=elements_a_second, kind=OPEN_DOCUMENT_KIND)
    archive = zipfile.ZipFile(io.BytesIO(checked.data))
    names = archive.namelist()
    if "META-INF/manifest.xml" in names and b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise UnreadableDocument(name, "encrypted: it is protected by a password", "Save it without a password.")
    content = parse_xml(archive.read("content.xml") if "content.xml" in names else None)
    body = content.find(f"{OFFICE}body/{OFFICE}{kind}") if content is not None else None
    if body is None:
        raise UnreadableDocument(name, f"damaged: it holds no {kind}", "Open it in its program and save it again.")
    styles = parse_xml(archive.read("styles.xml")) if "styles.xml" in names else None
    return OpenDocument(archive, body, content, styles, checked.warnings)


def read_properties(document: OpenDocument) -> CoreProperties:
    """Return title, date and fields of `meta.xml`; none where it is missing."""
    root = document.parse("meta.xml")
    meta = root.find(f"{OFFICE}meta") if root is not None else None
    properties: dict[str, list[str]] = {}
    for one in meta if meta is not None else ():
        text = " ".join("".join(one.itertext()).split())
        if text:
            properties.setdefault(one.tag.rpartition("}")[2], []).append(text)
    first = {name: texts[0] for name, texts in properties.items()}
    pairs = [("creator", first.get("initial-creator") or first.get("creator", ""))]
    pairs += [("keywords", one) for one in properties.get("keyword", ())]
    for own in meta.iter("{*}user-defined") if meta is not None else ():
        pairs.append((str(own.get(own.tag.replace("user-defined", "name")) or ""), own.text or ""))
    return CoreProperties(
        clean_title(first.get("title", "")),
        find_date(first.get("date"), first.get("creation-date")),
        build_fields(pair for pair in pairs if pair[0]),
    )


def read_running_fields(document: OpenDocument) -> tuple[DocumentField, ...]:
    """Return the properties, such as "Revision: 3", in the headers and footers of pages."""
    if document.styles is None:
        return ()
    tags = [f"{STYLE}{name}" for name in ("header", "footer", "header-first", "footer-first", "header-left")]
    lines = (" ".join("".join(one.itertext()).split()) for part in document.styles.iter(*tags) for one in part)
    return read_labelled_fields(dict.fromkeys(lines))


@dataclass(frozen=True, slots=True)
class StyleLook:
    """The parts of a style that change the meaning of its text. `outline`: the level of a heading, 0 for none."""

    is_hidden: bool = False
    raised: str = ""
    outline: int = 0
    has_break: bool = False


class StyleLooks:
    """The looks of all styles of a document, with those that they inherit."""

    def __init__(self, document: OpenDocument) -> None:
        self._styles: dict[str, Any] = {}
        for root in (document.styles, document.content):
            for style in root.iter(f"{STYLE}style") if root is not None else ():
                if len(self._styles) < _MAX_STYLES:
                    self._styles[str(style.get(f"{STYLE}name"))] = style
        self._found: dict[str, StyleLook] = {}

    def find(self, name: str | None) -> StyleLook:
        """Return the look of a style."""
        key = name or ""
        if key not in self._found:
            self._found[key] = self._read(key)
        return self._found[key]

    def find_visibility(self, name: str | None, kind: str) -> str:
        """Return the visibility that a style gives a sheet or a slide."""
        style = self._styles.get(name or "")
        properties = style.find(f"{STYLE}{kind}-properties") if style is not None else None
        if properties is None:
            return ""
        return str(properties.get(f"{TABLE}display") or properties.get(f"{PRESENTATION}visibility") or "")

    def _read(self, name: str) -> StyleLook:
        hidden, raised, outline = "", "", 0
        for _ in range(_MAX_PARENTS):
            style = self._styles.get(name)
            if style is None:
                break
            text = style.find(f"{STYLE}text-properties")
            if text is not None:
                hidden = hidden or str(text.get(f"{TEXT}display") or "")
                raised = raised or str(text.get(f"{STYLE}text-position") or "").partition(" ")[0]
            if name == "Title":
                outline = outline or 1
            name = str(style.get(f"{STYLE}parent-style-name") or "")
        outline = outline or int(name == "Title")
        return StyleLook(hidden == "none", _name_raised(raised), outline)


def _name_raised(position: str) -> str:
    if position in ("super", "sub"):
        return str(position[:3])
    number = position.removesuffix("%")
    try:
        return "" if not number or float(number) == 0 else "sup" if float(number) > 0 else "sub"
    except ValueError:
        return ""
