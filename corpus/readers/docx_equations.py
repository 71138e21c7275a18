"""Equations within a Word file, written into its text as LaTeX between dollars: mammoth ignores them."""

from __future__ import annotations

import re
from typing import Any

from argot.corpus.readers.docx_package import W
from argot.corpus.readers.equations import read_omml
from argot.corpus.readers.omissions import Omissions

_MATH_NAMESPACE = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_OBJECT = "{urn:schemas-microsoft-com:office:office}OLEObject"
_OLD_EQUATION = re.compile(r"Equation|MathType", re.IGNORECASE)
_BLOCK_ELEMENTS = ("body", "tc", "txbxContent", "footnote", "endnote", "comment", "hdr", "ftr")
UNREAD_EQUATION = "[equation]"


def write_equations(root: Any, omissions: Omissions) -> None:
    """Replace each equation by its LaTeX; one of an older Word is counted, and its place in the sentence named."""
    for display in list(root.iter(f"{_MATH_NAMESPACE}oMathPara")):
        _replace(display, "$$")
    for inline in list(root.iter(f"{_MATH_NAMESPACE}oMath")):
        if inline.getparent() is not None:
            _replace(inline, "$")
    for embedded in list(root.iter(_OBJECT)):
        holder = next(embedded.iterancestors(f"{W}object"), None)
        if holder is not None and _OLD_EQUATION.search(str(embedded.get("ProgID") or "")):
            omissions.add("equation")
            # A sentence with a gap would have another meaning.
            _put_text(holder, UNREAD_EQUATION)


def _replace(equation: Any, dollars: str) -> None:
    latex = read_omml(equation)
    run = equation.makeelement(f"{W}r")
    text = run.makeelement(f"{W}t")
    text.text = f"{dollars}{latex}{dollars}" if latex else ""
    run.append(text)
    parent = equation.getparent()
    parent_name = parent.tag.rpartition("}")[2]
    is_block = parent_name in _BLOCK_ELEMENTS or (
        parent_name == "sdtContent" and parent.getparent().getparent().tag != f"{W}p"
    )
    if is_block:
        paragraph = equation.makeelement(f"{W}p")
        paragraph.append(run)
        run = paragraph
    parent.replace(equation, run)


def _put_text(element: Any, text: str) -> None:
    replacement = element.makeelement(f"{W}t")
    replacement.text = text
    element.getparent().replace(element, replacement)
