"""Charts, SmartArt and pictures of Word files: numbers, words and alternative texts where the graphic stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from argot.corpus.readers.docx_insertions import Insertions, make_text_run
from argot.corpus.readers.docx_package import A, R, W, WordPackage, read_text
from argot.corpus.readers.docx_text_boxes import VML
from argot.corpus.readers.office_charts import read_chart
from argot.corpus.readers.office_diagrams import read_diagram
from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.picture_captions import choose_alternative
from argot.corpus.readers.pictures import shelve_picture

_MIN_PICTURE_EMU = 900_000
_MIN_PICTURE_POINTS = 70.8
"""2.5 cm: a picture that is smaller in one direction is usually a symbol or a line."""
_EMU_PER_POINT = 12_700
_LENGTH = re.compile(r"(?:^|;)\s*(width|height)\s*:\s*([\d.]+)(pt|in|cm|mm|px)?", re.IGNORECASE)
_POINTS_PER_UNIT = {"pt": 1.0, "in": 72.0, "cm": 28.35, "mm": 2.835, "px": 0.75, "": 0.75}
_OFFICE_NAMESPACE = "{urn:schemas-microsoft-com:office:office}"


def read_graphics(package: WordPackage, root: Any, insertions: Insertions, omissions: Omissions) -> None:
    """Replace the graphics below this element by their words, and count those without any."""
    for drawing in list(root.iter(f"{W}drawing")):
        blocks = _read_parts(package, drawing, omissions)
        for block in reversed(blocks):
            drawing.addnext(insertions.make_run(block)[0])
        if not blocks:
            _read_drawn_pictures(package, drawing, omissions)
    for picture in list(root.iter(f"{W}pict")):
        _read_old_picture(package, picture, omissions)


def _read_parts(package: WordPackage, drawing: Any, omissions: Omissions) -> list[str]:
    """Return the charts and SmartArt of a drawing as Markdown; mark it so that nothing else is reported about it."""
    blocks = []
    for data in drawing.iter(f"{A}graphicData"):
        for one in data:
            name = str(one.tag).rpartition("}")[2]
            if name == "chart":
                blocks.append(_read_part(package, one.get(f"{R}id"), read_chart, "chart", omissions))
            elif name == "relIds":
                blocks.append(_read_part(package, one.get(f"{R}dm"), read_diagram, "diagram", omissions))
    return blocks


def _read_part(
    package: WordPackage, relation: str | None, read: Callable[[bytes], str], kind: str, omissions: Omissions
) -> str:
    found = package.read_relations(package.document).get(relation or "")
    content = package.read_content(found.part) if found else None
    try:
        text = read(content) if content else ""
    except ValueError:
        text = ""
    if not text:
        omissions.add(kind)
    return text


def _read_drawn_pictures(package: WordPackage, drawing: Any, omissions: Omissions) -> None:
    for frame in drawing:
        properties = next((one for one in frame if str(one.tag).endswith("}docPr")), None)
        blips = list(frame.iter(f"{A}blip"))
        if properties is None or not blips:
            continue
        # Reported here, and not again when mammoth reads the picture.
        alternative = choose_alternative(properties.attrib.pop("descr", ""), properties.attrib.pop("title", ""))
        extent = next((one for one in frame if str(one.tag).endswith("}extent")), None)
        sides = (_parse_whole(extent.get("cx")), _parse_whole(extent.get("cy"))) if extent is not None else (0, 0)
        is_decorative = any(str(one.tag).endswith("}decorative") and one.get("val") == "1" for one in frame.iter())
        mark, has_words = "", False
        for blip in [] if is_decorative else blips:
            data = _load_picture(package, blip.get(f"{R}embed"))
            shown = (sides[0] / _EMU_PER_POINT, sides[1] / _EMU_PER_POINT)
            added, read = shelve_picture(data, alternative=alternative, caption=_read_caption(drawing), shown=shown)
            mark, has_words = mark + added, has_words or read
        if alternative or mark:
            drawing.addnext(make_text_run(f" Picture: {alternative} {mark}" if alternative else mark)[0])
        if not alternative and not has_words and min(sides) >= _MIN_PICTURE_EMU and not is_decorative:
            omissions.add("picture")


def _load_picture(package: WordPackage, relation: str | None) -> bytes | None:
    found = package.read_relations(package.document).get(relation or "")
    return package.read_content(found.part) if found else None


def _read_caption(drawing: Any) -> str:
    """Return the text of the paragraph below the picture, or above it, that has the style of a caption."""
    paragraph = next(drawing.iterancestors(f"{W}p"), None)
    if paragraph is None:
        return ""
    for beside in (paragraph.getnext(), paragraph.getprevious()):
        style = beside.find(f"{W}pPr/{W}pStyle") if beside is not None and beside.tag == f"{W}p" else None
        if style is not None and "caption" in str(style.get(f"{W}val")).casefold():
            return read_text(beside)
    return ""


def _read_old_picture(package: WordPackage, picture: Any, omissions: Omissions) -> None:
    for image in list(picture.iter(f"{VML}imagedata")):
        shape = image.getparent()
        alternative = choose_alternative(str(shape.get("alt") or ""), image.attrib.pop(f"{_OFFICE_NAMESPACE}title", ""))
        lengths = {
            side.lower(): float(number) * _POINTS_PER_UNIT[(unit or "").lower()]
            for side, number, unit in _LENGTH.findall(str(shape.get("style") or ""))
            if number.count(".") <= 1 and number != "."
        }
        shown = (lengths.get("width", 0.0), lengths.get("height", 0.0))
        data = _load_picture(package, image.get(f"{R}id"))
        mark, has_words = shelve_picture(data, alternative=alternative, caption=_read_caption(picture), shown=shown)
        if alternative or mark:
            picture.addnext(make_text_run(f" Picture: {alternative} {mark}" if alternative else mark)[0])
        if not alternative and not has_words and min(shown) >= _MIN_PICTURE_POINTS:
            omissions.add("picture")


def _parse_whole(number: str | None) -> int:
    return int(number) if number and number.isascii() and number.isdigit() and len(number) < 12 else 0
