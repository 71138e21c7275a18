"""Steps that convert text of a Word file into elements that mammoth reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from argot.corpus.readers.docx_equations import write_equations
from argot.corpus.readers.docx_form_fields import write_form_values
from argot.corpus.readers.docx_grids import repair_grids
from argot.corpus.readers.docx_package import WordPackage
from argot.corpus.readers.docx_symbols import write_symbol_characters
from argot.corpus.readers.docx_wrappers import lift_unknown_elements
from argot.corpus.readers.omissions import Omissions

_TEXT_KINDS = ("footnotes", "endnotes", "comments", "header", "footer")
_STEPS = (lift_unknown_elements, repair_grids, write_equations, write_form_values, write_symbol_characters)


def prepare_text(package: WordPackage, omissions: Omissions) -> None:
    """Write equations, forms and symbols of all texts of the file as characters."""
    for root in _iter_text_roots(package):
        for step in _STEPS:
            step(root, omissions)


def _iter_text_roots(package: WordPackage) -> Iterator[Any]:
    related = [one.part for one in package.read_relations(package.document).values() if one.kind in _TEXT_KINDS]
    for part in dict.fromkeys((package.document, *related)):
        root = package.parse_tree(part)
        if root is not None:
            yield root
