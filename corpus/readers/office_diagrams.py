"""SmartArt of Office files: the words of its boxes as a nested list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_MAX_DEPTH = 20
_DRAWING_POINTS = ("parTrans", "sibTrans", "pres")
"""Points of arrows and frames, which are no boxes."""


def read_diagram(xml: bytes) -> str:
    """Return the boxes of a SmartArt picture as a list, subordinate boxes indented under their parent.

    Args:
        xml: its data part (`dgm:dataModel`).

    Raises:
        ValueError: it is no such part.
    """
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(xml, parser)
    except etree.XMLSyntaxError as error:
        raise ValueError(f"a damaged diagram: {error}") from error
    if etree.QName(root).localname != "dataModel":
        raise ValueError(f"no data of a diagram: its outermost element is '{etree.QName(root).localname}'")
    texts = {str(point.get("modelId")): _read_box(point) for point in root.iterfind("{*}ptLst/{*}pt")}
    # Words on an arrow are words of the diagram, too: they come last, as no box contains them.
    boxes = [
        str(one.get("modelId")) for one in root.iterfind("{*}ptLst/{*}pt") if one.get("type") not in _DRAWING_POINTS
    ]
    children = _read_children(root)
    below = {child for under in children.values() for child in under}
    seen: set[str] = set()
    lines: list[str] = []
    for top in (*(one for one in boxes if one not in below), *boxes, *texts):
        lines += _list_boxes(top, 0, texts, children, seen)
    return "\n".join(lines)


def _read_children(root: Any) -> Mapping[str, list[str]]:
    """Return the boxes under each box, in the order in which they are shown."""
    found: dict[str, list[tuple[int, str]]] = {}
    for connection in root.iterfind("{*}cxnLst/{*}cxn"):
        # A connection without a type joins a box to its parent.
        if connection.get("type", "parOf") == "parOf":
            order = str(connection.get("srcOrd") or "")
            place = int(order) if order.isascii() and order.isdigit() and len(order) < 10 else 0
            found.setdefault(str(connection.get("srcId")), []).append((place, str(connection.get("destId"))))
    return {above: [child for _, child in sorted(under)] for above, under in found.items()}


def _list_boxes(
    box: str, depth: int, texts: Mapping[str, str], children: Mapping[str, list[str]], seen: set[str]
) -> Iterator[str]:
    # The file can connect boxes in a cycle.
    if box in seen or depth > _MAX_DEPTH:
        return
    seen.add(box)
    if text := texts.get(box, ""):
        yield f"{'  ' * depth}- {text}"
    for child in children.get(box, ()):
        yield from _list_boxes(child, depth + bool(text), texts, children, seen)


def _read_box(point: Any) -> str:
    """Return the words of a box; its paragraphs are joined, since one box is one item of the list."""
    text = point.find("{*}t")
    if text is None:
        return ""
    paragraphs = ("".join(_read_runs(one)) for one in text.iterfind("{*}p"))
    return "; ".join(line for one in paragraphs if (line := " ".join(one.split())))


def _read_runs(paragraph: Any) -> Iterator[str]:
    for element in paragraph.iter("{*}t", "{*}br"):
        yield element.text or "" if element.tag.endswith("}t") else " "
