"""Marks of footnotes and endnotes whose note is missing: mammoth would reject the whole file for one."""

from __future__ import annotations

from typing import Any

from argot.corpus.readers.docx_package import W, WordPackage
from argot.corpus.readers.omissions import Omissions


def remove_marks_without_notes(package: WordPackage, root: Any, omissions: Omissions) -> None:
    for kind in ("footnote", "endnote"):
        marks = list(root.iter(f"{W}{kind}Reference"))
        notes = package.parse_tree(package.find_related_part(f"{kind}s")) if marks else None
        known = {one.get(f"{W}id") for one in notes.iter(f"{W}{kind}")} if notes is not None else set()
        for mark in marks:
            if mark.get(f"{W}id") not in known:
                mark.getparent().remove(mark)
                omissions.add(kind)
