"""Vector pictures (SVG) drawn as PNG, without anything that lies outside the file."""

from __future__ import annotations

import re

from lxml import etree  # type: ignore[import-untyped]
from lxml.etree import _Element  # type: ignore[import-untyped]

from argot.corpus.readers.xml_text import parse_safely

_MAX_BYTES = 3_000_000
_MAX_REFERENCES = 2_000
"""References within the file ("use"): each is drawn where it stands, and they may be nested."""
_MAX_DEPTH_OF_REFERENCES = 4
_DRAWN_WIDTH_PIXELS = 1_200
_MAX_SIDES_RATIO = 8
_LOADED = ("image", "feImage", "foreignObject", "script")
"""Elements that name other files, or may."""
_FOREIGN_ADDRESS = re.compile(r"url\(\s*[\"']?(?!#)|@import", re.IGNORECASE)
_NUMBER = re.compile(r"\s*(\d{1,6}(?:\.\d{1,6})?)(?:px)?\s*\Z")


def draw_svg(data: bytes) -> bytes | None:
    """Return an SVG as PNG; None if it is none, or exceeds the bounds."""
    if len(data) > _MAX_BYTES or b"<svg" not in data[:4_000]:
        return None
    root = parse_safely(data)
    if root is None or etree.QName(root).localname != "svg" or (ratio := _read_ratio(root)) is None:
        return None
    _remove_foreign(root)
    if not _is_bounded(root):
        return None
    import resvg_py

    if not root.get("viewBox"):
        root.set("viewBox", f"0 0 {root.get('width')} {root.get('height')}")
    width = round(_DRAWN_WIDTH_PIXELS * min(ratio, 1.0))
    # With one of them alone, resvg refuses the file.
    root.set("width", str(width))
    root.set("height", str(round(width / ratio)))
    try:
        return bytes(resvg_py.svg_to_bytes(svg_string=etree.tostring(root, encoding="unicode"), background="white"))
    except ValueError:
        return None


def _read_ratio(root: _Element) -> float | None:
    """Return width by height, as the file says; None if it does not, or is a rule."""
    sides = [found[1] for name in ("width", "height") if (found := _NUMBER.match(root.get(name, "")))]
    if len(sides) != len(("width", "height")):
        sides = root.get("viewBox", "").replace(",", " ").split()[2:]
    try:
        width, height = map(float, sides)
    except ValueError:
        return None
    if min(width, height) <= 0 or max(width, height) > _MAX_SIDES_RATIO * min(width, height):
        return None
    return width / height


def _remove_foreign(root: _Element) -> None:
    """Take out what names another file: nothing is fetched, and no file of this machine is read."""
    for element in list(root.iter(etree.Element)):
        kind, parent = etree.QName(element).localname, element.getparent()
        is_foreign = kind in _LOADED or (kind == "style" and _FOREIGN_ADDRESS.search(element.text or ""))
        if is_foreign and parent is not None:
            parent.remove(element)
            continue
        for name, value in list(element.attrib.items()):
            is_link = etree.QName(name).localname in ("href", "base")
            if (is_link and not value.startswith("#")) or _FOREIGN_ADDRESS.search(value):
                del element.attrib[name]


def _is_bounded(root: _Element) -> bool:
    """Return whether the references within a file are few, and not nested so that they multiply."""
    targets = {element.get("id"): element for element in root.iter(etree.Element) if element.get("id")}

    def count(element: _Element, depth: int) -> int:
        total = 0
        for inner in element.iter(etree.Element):
            link = next((value for name, value in inner.attrib.items() if etree.QName(name).localname == "href"), "")
            if link and (target := targets.get(link[1:])) is not None:
                total += 1 + (count(target, depth + 1) if depth < _MAX_DEPTH_OF_REFERENCES else _MAX_REFERENCES)
            if total > _MAX_REFERENCES:
                break
        return total

    return count(root, 0) <= _MAX_REFERENCES
