"""Steps that put what stands in the text of a Word file into elements that mammoth reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from argot.corpus.readers.docx_equations import write_equations
from argot.corpus.readers.docx_form_fields import write_form_values
from argot.corpus.readers.docx_grids import repair_grids
from argot.corpus.readers.docx_package import WordPackage
from argot.corpus.readers.docx_symbols import write_symbol_characters
from argot.corpus.readers.docx_wrappers import unwrap_text
from argot.corpus.readers.omissions import Omissions

_TEXTS = ("footnotes", "endnotes", "comments", "header", "footer")
_STEPS = (unwrap_text, repair_grids, write_equations, write_form_values, write_symbol_characters)


def prepare_text(package: WordPackage, omissions: Omissions) -> None:
    """Write equations, forms and symbols of all texts of the file as characters."""
    for root in _text_roots(package):
        for step in _STEPS:
            step(root, omissions)


def _text_roots(package: WordPackage) -> Iterator[Any]:
    related = [one.part for one in package.relations(package.document).values() if one.kind in _TEXTS]
    for part in dict.fromkeys((package.document, *related)):
        root = package.tree(part)
        if root is not None:
            yield root
