"""Text in drawings (DrawingML) of decks and workbooks: paragraphs with their equations, and the words of pictures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from argot.corpus.readers.omissions import Omissions
from argot.corpus.readers.picture_captions import choose_alternative

_EMU_PER_CM = 360_000
EMU_PER_POINT = 12_700
MIN_PICTURE_EMU = int(2.5 * _EMU_PER_CM)
"""A smaller picture is treated as a symbol or a logo."""
_NUMBER_FIELDS = ("slidenum",)


def unwrap_alternatives(root: Any) -> None:
    """Replace each choice between ways to draw something by its first one, which the newest programs show."""
    for choice in list(root.iter("{*}AlternateContent")):
        above = choice.getparent()
        ways = [one for one in choice if isinstance(one.tag, str) and len(one)]
        if above is None or not ways:
            continue
        at = above.index(choice)
        above.remove(choice)
        for place, shape in enumerate(list(ways[0])):
            above.insert(at + place, shape)


def read_paragraph(paragraph: Any, omissions: Omissions) -> str:
    """Return the text of an `a:p` on one line, equations included and the number of the slide left out."""
    return " ".join("".join(_read_runs(paragraph, omissions)).split())


def _read_runs(paragraph: Any, omissions: Omissions) -> Iterator[str]:
    for element in paragraph:
        name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
        if name == "r" or (name == "fld" and element.get("type") not in _NUMBER_FIELDS):
            yield element.findtext("{*}t") or ""
        elif name == "br":
            yield " "
        elif name in ("m", "oMath", "oMathPara"):
            yield _read_equations(element, omissions)


def _read_equations(element: Any, omissions: Omissions) -> str:
    from argot.corpus.readers.equations import read_omml

    parts = [element] if element.tag.endswith("}oMath") else list(element.iter("{*}oMath"))
    formulas = [f"${formula}$" for one in parts if (formula := read_omml(one).strip())]
    omissions.add("equation", len(parts) - len(formulas))
    return f" {' '.join(formulas)} "


def read_paragraphs(body: Any, omissions: Omissions) -> list[str]:
    """Return the non-empty lines of a text body (`a:txBody`, `xdr:txBody`)."""
    return [line for one in body.iterfind("{*}p") if (line := read_paragraph(one, omissions))]


def read_alternative(properties: Any) -> str:
    """Return a picture's alternative text, unless it is only the file's name, added by a program."""
    return choose_alternative(properties.get("descr")) if properties is not None else ""


def read_user_shapes(xml: bytes, omissions: Omissions) -> list[str]:
    """Return the lines that someone wrote upon a chart (`c:userShapes`)."""
    from argot.corpus.readers.office_package import parse_part

    root = parse_part(xml)
    bodies = [] if root is None else root.iter("{*}txBody")
    return [line for body in bodies for line in read_paragraphs(body, omissions)]
