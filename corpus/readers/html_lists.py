"""Numbers of lists on web pages as a browser prints them: letters, Roman ones, counted down, or set for an item."""

from __future__ import annotations

import re
from typing import Any

from bs4 import Tag

from argot.corpus.readers.docx_numbering import format_number
from argot.corpus.readers.html_selection import select_elements

BULLET_ATTRIBUTE = "argot-bullet"
"""The attribute of a list item with the label that Markdown shall print."""
_NUMBER_FORMATS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_NUMBER = re.compile(r"\s*(-?\d{1,9})\s*")


def write_list_numbers(root: Tag) -> None:
    """Add numbers to the items of lists that Markdown would number differently."""
    for numbered in select_elements(root, "ol"):
        items = numbered.find_all("li", recursive=False)
        kind = _NUMBER_FORMATS.get(str(numbered.get("type") or ""))
        is_reversed = numbered.has_attr("reversed")
        if not (kind or is_reversed or any(item.has_attr("value") for item in items)):
            continue
        number = _read_number(numbered, "start", len(items) if is_reversed else 1)
        for item in items:
            number = _read_number(item, "value", number)
            # Markdown has no lists with letters.
            item[BULLET_ATTRIBUTE] = f"- {format_number(number, kind)}." if kind else f"{number}."
            number += -1 if is_reversed else 1


def _read_number(element: Tag, attribute: str, otherwise: int) -> int:
    found = _NUMBER.fullmatch(str(element.get(attribute) or ""))
    return int(found[1]) if found else otherwise


def write_item(el: Any, text: str) -> str:
    """Return an item with the number that its document prints, which may differ from Markdown's."""
    bullet = str(el.get(BULLET_ATTRIBUTE) or "")
    if not bullet or not text.strip():
        return text.strip()
    first, *others = text.strip().split("\n")
    indent = " " * (len(bullet) + 1)
    return "\n".join([f"{bullet} {first}", *(f"{indent}{line}" if line else "" for line in others)])
