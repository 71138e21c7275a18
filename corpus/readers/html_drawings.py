"""Drawings (SVG) that are written out in a page: their words as text, and the drawing itself as a picture of the page.

The parser of HTML makes all names lower case, which SVG does not know: they get their capitals back.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any

from bs4 import Tag
from bs4.element import NavigableString, PreformattedString

from argot.corpus.readers.page_styles import DrawingStyles
from argot.xml_text import drop_forbidden_characters

DRAWN_WORDS = "\x04"
"""An attribute set on pictures that were drawings, with the words in them; no document can have it."""
_NAMES = (
    "baseFrequency clipPath clipPathUnits diffuseConstant edgeMode feBlend feColorMatrix feComponentTransfer"
    " feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA"
    " feFuncB feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight"
    " feSpecularLighting feSpotLight feTile feTurbulence filterUnits foreignObject gradientTransform gradientUnits"
    " kernelMatrix kernelUnitLength lengthAdjust limitingConeAngle linearGradient markerHeight markerUnits"
    " markerWidth maskContentUnits maskUnits numOctaves pathLength patternContentUnits patternTransform"
    " patternUnits pointsAtX pointsAtY pointsAtZ preserveAlpha preserveAspectRatio primitiveUnits radialGradient"
    " refX refY specularConstant specularExponent spreadMethod startOffset stdDeviation stitchTiles surfaceScale"
    " systemLanguage tableValues targetX targetY textLength textPath viewBox xChannelSelector yChannelSelector"
)
"""Names with capitals of elements and attributes (HTML, 13.2.6.1 and 13.2.6.5), without those of animations."""
_CAPITALS = {name.lower(): name for name in _NAMES.split()}
_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_NAME = re.compile(r"[A-Za-z_][\w.-]{0,100}\Z", re.ASCII)
_SIDE = re.compile(r"\s*(\d{1,6}(?:\.\d{1,6})?)(px|pt|in|cm|mm|em)?\s*\Z", re.IGNORECASE)
_SIDES = ("width", "height")
_WITHOUT_LINES = frozenset(
    {"g", "defs", "style", "title", "desc", "metadata", "script", "symbol", "clippath", "mask", "lineargradient",
     "radialgradient", "stop", "pattern", "marker", "filter"}
)  # fmt: skip
"""Elements that draw nothing by themselves."""
_MAX_ICON_ELEMENTS = 3
"""Elements of an unlabelled drawing up to which it is an icon, if the page does not say how large it is."""
_MAX_DEPTH = 200
"""Elements within each other: what is deeper is left out of the picture."""
_MAX_CHARS = 3_000_000


def write_drawing(drawing: Tag, styles: DrawingStyles) -> None:
    """Replace a drawing by the words in it and, behind them, by itself as a picture. An icon is removed."""
    found = (" ".join(one.get_text(" ").split()) for one in drawing.select("text, foreignObject, foreignobject"))
    texts = list(filter(None, found))
    is_hidden = drawing.get("aria-hidden") == "true" or styles.own.get("display") == "none"
    if is_hidden or (not texts and drawing.find_parent(["a", "button"]) is not None):
        drawing.decompose()
        return
    about = list(filter(None, (_read_title(drawing), _read_child(drawing, "desc"))))
    is_labelled = bool(texts) or drawing.get("role") == "img"
    is_icon = not is_labelled and not about and _is_icon(drawing, styles)
    picture = None if is_icon else _make_picture(drawing, "; ".join(about), texts, styles)
    if picture is None and not is_labelled:
        drawing.decompose()
        return
    paragraph = Tag(name="div")
    paragraph.append(NavigableString("; ".join([*about, *texts] if is_labelled else [])))
    if picture is not None:
        paragraph.append(picture)
    drawing.replace_with(paragraph)


def _read_title(drawing: Tag) -> str:
    return _read_child(drawing, "title") or " ".join(str(drawing.get("aria-label") or "").split())


def _read_child(drawing: Tag, name: str) -> str:
    found = drawing.find(name, recursive=False)
    return " ".join(found.get_text(" ").split()) if found is not None else ""


def _is_icon(drawing: Tag, styles: DrawingStyles) -> bool:
    is_sized = any(_SIDE.match(side) for side in _read_given(drawing, styles).values()) or drawing.get("style")
    if is_sized or drawing.find_parent("figure") is not None:
        return False
    drawn = _list_drawn(drawing)
    return len(drawn) <= _MAX_ICON_ELEMENTS and all(one.name != "image" for one in drawn)


def _list_drawn(drawing: Tag) -> list[Tag]:
    return [one for one in drawing.find_all(True) if one.name not in _WITHOUT_LINES]


def _make_picture(drawing: Tag, about: str, texts: Sequence[str], styles: DrawingStyles) -> Tag | None:
    """Return the drawing as an `img` element; None if it is too long. One that only frames a picture is that picture,
    as the cover of an e-book is.
    """
    picture = Tag(name="img")
    picture.attrs = {name: drawing[name] for name in ("id", "class") if drawing.get(name)}
    picture["style"] = ";".join([*_read_sides(drawing, styles), str(drawing.get("style") or "")])
    drawn = _list_drawn(drawing)
    if len(drawn) == 1 and drawn[0].name == "image":
        picture["src"] = str(drawn[0].get("xlink:href") or drawn[0].get("href") or "")
    elif written := _write_svg(drawing, styles):
        picture["src"] = f"data:image/svg+xml;base64,{base64.b64encode(written).decode()}"
        picture[DRAWN_WORDS] = "; ".join(texts)
    picture["aria-label"] = about
    return picture if picture.get("src") else None


def _read_given(drawing: Tag, styles: DrawingStyles) -> dict[str, str]:
    """Return width and height as the page says."""
    return {name: styles.own.get(name, "").partition("!")[0] or str(drawing.get(name) or "") for name in _SIDES}


def _read_sides(drawing: Tag, styles: DrawingStyles) -> list[str]:
    """Return width and height as a style; where the page says neither, those of the drawing's own view box."""
    box = str(drawing.get("viewbox") or "").replace(",", " ").split()[2:]
    given = _read_given(drawing, styles)
    own = dict(zip(_SIDES, box, strict=False))
    said = given if any(map(_SIDE.match, given.values())) else own
    return [f"{name}:{found[1]}{found[2] or 'px'}" for name, side in said.items() if (found := _SIDE.match(side))]


def _write_svg(drawing: Tag, styles: DrawingStyles) -> bytes:
    """Return the drawing as a file of its own; empty if it is too long."""
    from lxml import etree  # type: ignore[import-untyped]

    attributes = _read_attributes({**styles.inherited, **drawing.attrs})
    root = etree.Element(f"{{{_SVG}}}svg", attributes, nsmap={None: _SVG, "xlink": _XLINK})
    etree.SubElement(root, f"{{{_SVG}}}style").text = drop_forbidden_characters(styles.sheet)
    _copy_children(drawing, root, 1)
    written: bytes = etree.tostring(root)
    return written if len(written) <= _MAX_CHARS else b""


def _copy_children(source: Tag, target: Any, depth: int) -> None:
    from lxml import etree

    for child in source.children if depth < _MAX_DEPTH else ():
        if isinstance(child, Tag):
            if _NAME.match(child.name):
                name = _CAPITALS.get(child.name, child.name)
                made = etree.SubElement(target, f"{{{_SVG}}}{name}", _read_attributes(child.attrs))
                if name == "foreignObject":
                    _set_label(made, " ".join(child.get_text(" ").split()))
                else:
                    _copy_children(child, made, depth + 1)
            continue
        is_comment = isinstance(child, PreformattedString)
        text = "" if is_comment else drop_forbidden_characters(str(child).replace("<![CDATA[", "").replace("]]>", ""))
        if len(target):
            target[-1].tail = (target[-1].tail or "") + text
        else:
            target.text = (target.text or "") + text


def _set_label(foreign: Any, text: str) -> None:
    """Turn a foreign object, in which diagrams have their labels as HTML, into a line of text in its middle."""
    try:
        x, y, width, height = (float(foreign.get(name) or 0) for name in ("x", "y", *_SIDES))
    except ValueError:
        return
    foreign.tag, foreign.text = f"{{{_SVG}}}text", drop_forbidden_characters(text)
    foreign.attrib.update({"x": f"{x + width / 2:g}", "y": f"{y + height / 2:g}", "text-anchor": "middle"})


def _read_attributes(given: Mapping[str, Any]) -> dict[str, str]:
    """Return an element's attributes by their names in SVG, without those that name spaces or run scripts."""
    attributes = {}
    for name, value in given.items():
        written = drop_forbidden_characters(" ".join(value) if isinstance(value, list) else str(value))
        if name == "xlink:href":
            attributes[f"{{{_XLINK}}}href"] = written
        elif _NAME.match(name) and not name.startswith(("xmlns", "on")):
            attributes[_CAPITALS.get(name, name)] = written
    return attributes
