"""Packages of Office files: their parts and references, and repairs for errors that libraries reject."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote

_STRICT_NAMESPACE = re.compile(rb"""(["'])http://purl\.oclc\.org/ooxml/(\w+)/([\w/]+)\1""")
_STRICT_PREFIX = b"http://purl.oclc.org/ooxml/"
_HYPHENATED_NAMES = {b"customProperties": b"custom-properties", b"extendedProperties": b"extended-properties"}
_XML_SUFFIXES = (".xml", ".rels", ".vml")
_MAX_NAMED_PARTS = 5
_KINDS_WITHOUT_TEXT = frozenset({
    "theme", "themeOverride", "fontTable", "settings", "webSettings", "stylesWithEffects", "presProps",
    "viewProps", "tableStyles", "slideLayout", "slideMaster", "notesMaster", "handoutMaster", "tags",
    "printerSettings", "calcChain", "sheetMetadata", "thumbnail", "core-properties", "extended-properties",
    "custom-properties", "metadata", "customXml", "customXmlProps", "vbaProject", "chartStyle",
    "chartColorStyle", "diagramColors", "diagramLayout", "diagramQuickStyle", "diagramDrawing", "image",
    "hdphoto", "externalLink", "externalLinkPath", "connections", "volatileDependencies", "revisionInfo",
    "changesInfo", "ctrlProp", "attachedToolbars",
})  # fmt: skip
"""The kinds of parts that an Office file can lack without losing what a person wrote."""


@dataclass(frozen=True, slots=True)
class Relationship:
    """A part that another one refers to. `kind`: the last word of its type, as in "chart"."""

    kind: str
    target: str


class OfficePackage:
    """The parts of an Office file that is already checked."""

    def __init__(self, data: bytes) -> None:
        self._archive = zipfile.ZipFile(io.BytesIO(data))
        self._names = frozenset(self._archive.namelist())

    def has_part(self, part: str) -> bool:
        return part in self._names

    def read(self, part: str) -> bytes:
        return self._archive.read(part)

    def find_main_part(self) -> str:
        """Return the part that all others belong to, such as "xl/workbook.xml"; "" if none is named."""
        return next(iter(self.find_related("", "officeDocument")), "")

    def read_relationships(self, part: str) -> dict[str, Relationship]:
        """Return the parts that `part` refers to, by the id of each reference."""
        path = _build_relationships_path(part)
        if path not in self._names:
            return {}
        root = parse_part(self._archive.read(path))
        found = (one for one in ([] if root is None else root) if isinstance(one.tag, str))
        return {
            str(one.get("Id")): Relationship(str(one.get("Type")).rpartition("/")[2], _resolve(part, one))
            for one in found
            if one.get("TargetMode") != "External"
        }

    def find_related(self, part: str, kind: str) -> list[str]:
        """Return the existing parts of one kind that `part` refers to."""
        return [
            one.target
            for one in self.read_relationships(part).values()
            if one.kind == kind and self.has_part(one.target)
        ]


def parse_part(xml: bytes, *, recover: bool = False) -> Any:
    """Return the root element of a part; None if it is no XML. Nothing outside the part is opened.

    Args:
        recover: keep the readable content of a damaged part.
    """
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=recover)
    try:
        return etree.fromstring(xml, parser)
    except etree.XMLSyntaxError:
        return None


def translate_strict(data: bytes) -> bytes:
    """Return a file saved as Strict Open XML with the names of the usual, transitional kind; any other unchanged.

    Both have the same content under different names, and libraries know only those of the usual kind.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if "_rels/.rels" not in archive.namelist() or _STRICT_PREFIX not in archive.read("_rels/.rels"):
            return data
    return _rewrite(
        data, lambda part, xml: _STRICT_NAMESPACE.sub(_translate_name, xml) if _STRICT_PREFIX in xml else xml
    )


def _translate_name(match: re.Match[bytes]) -> bytes:
    quote, area, rest = match[1], match[2], match[3]
    first, *more = rest.split(b"/")
    words = b"/".join([_HYPHENATED_NAMES.get(first, first), *(_HYPHENATED_NAMES.get(word, word) for word in more)])
    return b"%shttp://schemas.openxmlformats.org/%s/2006/%s%s" % (quote, area, words, quote)


def drop_dangling_relationships(data: bytes, blanks: Mapping[str, bytes]) -> tuple[bytes, tuple[str, ...]]:
    """Return the file without references to missing parts, and the names of those that can contain text.

    Args:
        blanks: blank parts by their kinds, added where a part of that kind is missing, because a list elsewhere in the
            file expects it.
    """
    missing: dict[str, None] = {}
    added: dict[str, bytes] = {}
    changed: dict[str, bytes] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = frozenset(archive.namelist())
        for path in (one for one in names if one.endswith(".rels")):
            root = parse_part(archive.read(path), recover=True)
            part = _parse_relationships_path(path)
            lost = [] if root is None else [one for one in root if _is_dangling(part, one, names)]
            for one in lost:
                target, kind = _resolve(part, one), str(one.get("Type")).rpartition("/")[2]
                if has_text(kind):
                    missing[target] = None
                if target and kind in blanks:
                    added[target] = blanks[kind]
                else:
                    root.remove(one)
            if lost:
                changed[path] = _write_part(root)
    if not changed:
        return data, ()
    return _rewrite(data, changed.get, added), tuple(missing)


def find_reference_id(element: Any) -> str:
    """Return the id of the relationship that an element refers to; "" for none."""
    return next((str(value) for name, value in element.attrib.items() if name.endswith("}id")), "")


def has_text(kind: str) -> bool:
    """Return whether parts of this kind can contain text by a person."""
    return kind not in _KINDS_WITHOUT_TEXT


def warn_of_missing(parts: Sequence[str], warnings: Sequence[str] = ()) -> tuple[str, ...]:
    """Return a warning that names the missing parts that can hold text, less those that `warnings` name already."""
    named = [part for part in parts if part.endswith(".xml") and not any(part in warning for warning in warnings)]
    more = " ..." if len(named) > _MAX_NAMED_PARTS else ""
    return (f"missing from the file: {', '.join(named[:_MAX_NAMED_PARTS])}{more}",) if named else ()


def repair_parts(data: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return the file with its damaged XML parts read as far as they go, and the names of these parts."""
    damaged: list[str] = []

    def repair(part: str, xml: bytes) -> bytes | None:
        if parse_part(xml) is not None:
            return xml
        damaged.append(part)
        root = parse_part(xml, recover=True)
        # Without its namespace too little remains: no library can identify it, and each fails at it.
        return _write_part(root) if root is not None and str(root.tag).startswith("{") else None

    return _rewrite(data, repair), tuple(damaged)


def drop_related(data: bytes, part: str, kinds: Sequence[str]) -> bytes:
    """Return the file without the parts of these kinds that `part` refers to."""
    related = OfficePackage(data).read_relationships(part).values()
    dropped = {one.target for one in related if one.kind in kinds}
    smaller = _rewrite(data, lambda name, xml: None if name in dropped else xml)
    return drop_dangling_relationships(smaller, {})[0]


def replace_part(data: bytes, part: str, root: Any) -> bytes:
    """Return the file with another content of one part."""
    return _rewrite(data, lambda name, xml: _write_part(root) if name == part else xml)


def _rewrite(
    data: bytes, change: Callable[[str, bytes], bytes | None], added: Mapping[str, bytes] = MappingProxyType({})
) -> bytes:
    written = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as archive,
        zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as copy,
    ):
        for part in archive.namelist():
            content: bytes | None = archive.read(part)
            if part.lower().endswith(_XML_SUFFIXES) and content is not None:
                content = change(part, content)
            if content is not None:
                copy.writestr(part, content)
        for part, content in added.items():
            copy.writestr(part, content)
    return written.getvalue()


def _write_part(root: Any) -> bytes:
    from lxml import etree

    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))


def _is_dangling(part: str, reference: Any, names: frozenset[str]) -> bool:
    if not isinstance(reference.tag, str) or reference.get("TargetMode") == "External":
        return False
    return _resolve(part, reference) not in names


def _build_relationships_path(part: str) -> str:
    folder, name = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{name}.rels")


def _parse_relationships_path(path: str) -> str:
    folder, name = posixpath.split(path)
    return posixpath.join(posixpath.dirname(folder), name.removesuffix(".rels"))


def _resolve(part: str, reference: Any) -> str:
    target = unquote(str(reference.get("Target") or "")).partition("#")[0]
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(part), target)).lstrip("/")
