"""Shapes of a page of a Visio drawing: their text in reading order, their data, and the connectors between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from argot.corpus.readers.odf_package import parse_xml
from argot.corpus.readers.office_package import OfficePackage
from argot.corpus.readers.omissions import Omissions

_MAX_SHAPES = 200_000
_MAX_DEPTH = 100
_LINE_INCHES = 0.25
"""Shapes whose centres differ less in height stand in one line."""
Masters = Mapping[tuple[str, str], str]
"""The text of a master's shape, by the ids of master and shape; of the master's first shape also by an empty id."""


def read_masters(package: OfficePackage, main: str) -> Masters:
    """Return the texts that shapes show if they have none of their own."""
    found: dict[tuple[str, str], str] = {}
    for listed in package.find_related(main, "masters")[:1]:
        root, related = parse_xml(package.read(listed)), package.read_relationships(listed)
        for master in root.iter("{*}Master") if root is not None else ():
            relation = master.find("{*}Rel")
            ids = (
                [value for key, value in relation.attrib.items() if key.endswith("}id")] if relation is not None else []
            )
            target = related.get(ids[0]) if ids else None
            content = parse_xml(package.read(target.target)) if target and package.has_part(target.target) else None
            for shape in content.iter("{*}Shape") if content is not None else ():
                text = _read_own_text(shape) or ""
                found.setdefault((str(master.get("ID")), ""), text)
                found[str(master.get("ID")), str(shape.get("ID"))] = text
    return found


class ShapeTree:
    """The shapes of one page."""

    def __init__(self, root: Any, masters: Masters, omissions: Omissions) -> None:
        self._root, self._masters, self._omissions = root, masters, omissions
        self._texts: dict[str, str] = {}
        self._connects: dict[str, dict[str, str]] = {}
        for one in root.iter("{*}Connect") if root is not None else ():
            end = {"BeginX": "begin", "EndX": "end"}.get(str(one.get("FromCell")))
            if end:
                self._connects.setdefault(str(one.get("FromSheet")), {})[end] = str(one.get("ToSheet"))

    def read_blocks(self) -> list[str]:
        """Return the text and the data of each shape; labels of connectors stand with their connections."""
        top = self._root.find("{*}Shapes") if self._root is not None else None
        return list(self._read_shapes(top, "", 0)) if top is not None else []

    def list_connections(self) -> Iterator[tuple[str, str, str]]:
        """Yield the text of both shapes that a connector connects, and its own; after `read_blocks`."""
        for connector, ends in self._connects.items():
            begin, end = (self._texts.get(ends.get(key, ""), "") for key in ("begin", "end"))
            if begin and end:
                yield begin, end, self._texts.get(connector, "")

    def _read_shapes(self, parent: Any, master: str, depth: int) -> Iterator[str]:
        if depth > _MAX_DEPTH:
            raise RecursionError("groups within groups")
        shapes = [one for one in parent if isinstance(one.tag, str) and one.tag.endswith("}Shape")]
        for shape in sorted(shapes, key=_place):
            own = str(shape.get("Master") or master)
            key = str(shape.get("MasterShape") or "")
            text = _read_own_text(shape)
            if text is None:
                text = self._masters.get((own, key), "") if own else ""
            identity = str(shape.get("ID"))
            self._texts[identity] = text
            if len(self._texts) > _MAX_SHAPES:
                raise ValueError("too many shapes")
            data = "; ".join(_read_data(shape))
            if shape.get("Type") == "Foreign" and not text:
                self._omissions.add("picture")
            ends = self._connects.get(identity, {})
            if len(ends) == 2 and not data and all(self._is_named(each) for each in ends.values()):
                text = ""  # it stands with the connection
            if text or data:
                yield f"{text} ({data})" if text and data else text or data
            inner = shape.find("{*}Shapes")
            if inner is not None:
                yield from self._read_shapes(inner, own, depth + 1)

    def _is_named(self, identity: str) -> bool:
        """Return whether a shape of this id has text of its own."""
        if identity not in self._texts:
            shape = next((one for one in self._root.iter("{*}Shape") if one.get("ID") == identity), None)
            text = _read_own_text(shape) if shape is not None else ""
            if text is None and shape is not None:
                text = self._masters.get((str(shape.get("Master") or ""), str(shape.get("MasterShape") or "")), "")
            self._texts[identity] = text or ""
        return bool(self._texts[identity])


def _read_own_text(shape: Any) -> str | None:
    """Return the text of a shape as one line; None if it has none of its own, not even an empty one."""
    found = shape.find("{*}Text")
    return " ".join("".join(found.itertext()).split()) if found is not None else None


def _read_data(shape: Any) -> Iterator[str]:
    """Yield the shape's data as "Label: value"; those that its author hides are left out."""
    for section in shape.iterfind("{*}Section"):
        if section.get("N") != "Property":
            continue
        for row in section.iterfind("{*}Row"):
            cells = {str(cell.get("N")): " ".join(str(cell.get("V") or "").split()) for cell in row.iterfind("{*}Cell")}
            label, value = cells.get("Label") or str(row.get("N") or ""), cells.get("Value", "")
            if value and cells.get("Invisible", "0") in ("0", ""):
                yield f"{label}: {value}" if label else value


def _place(shape: Any) -> tuple[int, float]:
    """Return the shape's place, from top to bottom and from left to right."""
    cells = {str(cell.get("N")): str(cell.get("V") or "") for cell in shape.iterfind("{*}Cell")}
    return -round(_parse(cells.get("PinY", "")) / _LINE_INCHES), _parse(cells.get("PinX", ""))


def _parse(value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        return 0.0
    return number if abs(number) < 1e6 else 0.0
