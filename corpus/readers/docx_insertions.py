"""Markdown inserted into a Word file's text, such as the numbers of a chart, which mammoth cannot carry."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from argot.corpus.readers.docx_package import W


class Insertions:
    """Blocks of Markdown, each with a mark that represents it in the text until that is Markdown, too."""

    def __init__(self, data: bytes) -> None:
        # Derived from the file's own bytes, so that no file can contain such a mark.
        self._key = hashlib.sha256(data).hexdigest()[:16]
        self._mark = re.compile(f"\ue0f0{self._key}x([0-9]+)\ue0f1")
        self._blocks: list[str] = []

    def make_run(self, markdown: str) -> Any:
        """Return a run of text that represents the block."""
        self._blocks.append(markdown.strip())
        return make_text_run(f"\ue0f0{self._key}x{len(self._blocks) - 1}\ue0f1")

    def fill_marks(self, markdown: str) -> str:
        """Return the text with each mark replaced by its block, or with the block below the paragraph or table that
        contains the mark.
        """
        if not self._blocks:
            return markdown
        lines: list[str] = []
        waiting: list[str] = []
        for line in [*markdown.split("\n"), ""]:
            waiting += [self._blocks[int(found[1])] for found in self._mark.finditer(line)]
            rest = self._mark.sub("", line).rstrip()
            if rest.strip(" *-"):
                lines.append(rest)
                continue
            for block in waiting:
                lines += ["", block]
            waiting = []
            lines.append("")
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def make_text_run(text: str) -> Any:
    """Return a run of Word's that holds the text."""
    from lxml import etree  # type: ignore[import-untyped]

    run = etree.Element(f"{W}r")
    written = etree.SubElement(run, f"{W}t")
    written.text = text
    written.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    return run


def make_paragraph(*runs: Any) -> Any:
    """Return a paragraph of Word's that holds the runs."""
    from lxml import etree

    paragraph = etree.Element(f"{W}p")
    paragraph.extend(runs)
    return paragraph
