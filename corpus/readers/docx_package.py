"""The parts of a Word file as trees that the steps of its reader change before mammoth reads everything."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from argot.corpus.readers.office_package import has_text

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_STRICT_NAMESPACE = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_TRANSITIONAL_NAMESPACE = rb"http://schemas.openxmlformats.org/\1/2006/"
_DEFAULT_DOCUMENT_PART = "word/document.xml"
_READ_PART_KINDS = ("styles", "numbering", "footnotes", "endnotes", "comments")
"""The kinds of parts that mammoth reads besides the text."""

_SKIPPED_TAGS = frozenset({f"{W}del", f"{W}moveFrom", f"{W}delText", f"{W}instrText", f"{W}tabs", f"{MC}Fallback"})
_BLANK_TAGS = frozenset({f"{W}tab", f"{W}ptab", f"{W}br", f"{W}cr"})


@dataclass(frozen=True, slots=True)
class Relation:
    """A part that another part points to. `kind` is the last word of the relation's type, such as "header"."""

    part: str
    kind: str


class WordPackage:
    """A Word file, unpacked. Strict Open XML is read under the names of the transitional kind.

    Attributes:
        document: the name of the part with the text.
        damaged: the names of the parts that are no XML and were left out.
    """

    def __init__(self, data: bytes) -> None:
        self._archive = zipfile.ZipFile(io.BytesIO(data))
        self._names = set(self._archive.namelist())
        self._trees: dict[str, Any] = {}
        self._relations: dict[str, dict[str, Relation]] = {}
        self.damaged: list[str] = []
        self.document = self._find_document_part()

    def list_xml_parts(self) -> list[str]:
        return sorted(part for part in self._names if part.endswith((".xml", ".rels")) or part == self.document)

    def read_content(self, part: str) -> bytes | None:
        """Return the part unchanged from the file; None if there is none."""
        if part not in self._names:
            return None
        content = self._archive.read(part)
        return _STRICT_NAMESPACE.sub(_TRANSITIONAL_NAMESPACE, content) if b"purl.oclc.org/ooxml" in content else content

    def parse_tree(self, part: str) -> Any | None:
        """Return the root of the part, which callers may change; None if it is missing or no XML."""
        if part not in self._trees:
            self._trees[part] = self._parse_part(part)
        return self._trees[part]

    def read_relations(self, part: str) -> dict[str, Relation]:
        """Return the parts of this file that the part points to, by the id of the relation."""
        if part not in self._relations:
            self._relations[part] = dict(self._list_relations(part))
        return self._relations[part]

    def find_related_part(self, kind: str) -> str:
        """Return the name of the part of this kind that the text refers to; empty if there is none."""
        return next((one.part for one in self.read_relations(self.document).values() if one.kind == kind), "")

    def drop_damaged_parts(self) -> None:
        """Leave out the XML parts that mammoth reads beside the text and cannot parse."""
        for kind in _READ_PART_KINDS:
            part = self.find_related_part(kind) or f"word/{kind}.xml"
            self.parse_tree(part)
            self.read_relations(part)

    def warnings(self) -> tuple[str, ...]:
        """Return the warning that names damaged parts; none if all are intact."""
        return (f"damaged parts were left out: {', '.join(sorted(self.damaged))}",) if self.damaged else ()

    def find_missing_parts(self) -> list[str]:
        """Return the parts with text that the document refers to and that the file lacks."""
        related = [relation for part in ("", self.document) for relation in self.read_relations(part).values()]
        lacking = (one.part for one in related if has_text(one.kind) and one.part not in self._names)
        return [part for part in dict.fromkeys(lacking) if part not in self.damaged]

    def pack(self) -> bytes:
        """Return the file with all changes, without pictures and embedded files. It is read at once, so it is not
        compressed.
        """
        from lxml import etree  # type: ignore[import-untyped]

        packed = io.BytesIO()
        read = {one.part for one in self.read_relations(self.document).values() if one.kind in _READ_PART_KINDS}
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
            for part in sorted({*self.list_xml_parts(), *(read & self._names)}):
                root = self._trees.get(part)
                changed = None if root is None else etree.tostring(root, xml_declaration=True, encoding="UTF-8")
                archive.writestr(part, changed or self.read_content(part) or b"")
        return packed.getvalue()

    def _parse_part(self, part: str) -> Any | None:
        from lxml import etree

        content = self.read_content(part)
        if content is None:
            return None
        try:
            return etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True))
        except etree.XMLSyntaxError:
            # mammoth never gets a part at which it would fail.
            if part != self.document:
                self._names.discard(part)
                self.damaged.append(part)
            return None

    def _list_relations(self, part: str) -> list[tuple[str, Relation]]:
        folder, _, name = part.rpartition("/")
        root = self.parse_tree(f"{folder}/_rels/{name}.rels".lstrip("/"))
        found = []
        for one in root if root is not None else ():
            target = str(one.get("Target") or "")
            if isinstance(one.tag, str) and one.get("TargetMode") != "External" and target:
                place = unquote(target.partition("#")[0])
                place = place[1:] if place.startswith("/") else posixpath.normpath(posixpath.join(folder, place))
                kind = str(one.get("Type") or "").rpartition("/")[2]
                found.append((str(one.get("Id") or ""), Relation(place, kind)))
        return found

    def _find_document_part(self) -> str:
        main = next((one.part for one in self.read_relations("").values() if one.kind == "officeDocument"), "")
        return main if main in self._names else _DEFAULT_DOCUMENT_PART


def is_switched_on(element: Any | None) -> bool:
    """Return whether a property such as `w:vanish` is present and not switched off."""
    return element is not None and element.get(f"{W}val") not in ("0", "false", "off")


def read_text(element: Any) -> str:
    """Return the text that Word shows of the element on one line, without text that is deleted or moved away."""
    words: list[str] = []
    _collect_text(element, words)
    return " ".join("".join(words).split())


def _collect_text(element: Any, words: list[str]) -> None:
    if element.tag in _SKIPPED_TAGS:
        return
    if element.tag in (f"{W}t", f"{A}t"):
        words.append(element.text or "")
    elif element.tag in _BLANK_TAGS:
        words.append(" ")
    for child in element:
        _collect_text(child, words)
    if element.tag in (f"{W}p", f"{A}p", f"{W}tc"):
        words.append(" ")
