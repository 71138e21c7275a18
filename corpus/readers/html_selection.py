"""Elements of a page by CSS selector, found in one fast walk: soupsieve tries every rule on every element."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from bs4 import Tag

if TYPE_CHECKING:
    from soupsieve import SoupSieve

_NAME = re.compile(r"[A-Za-z][\w-]*")
_ATTRIBUTE = re.compile(r"\[([\w-]+)")


def select_elements(root: Tag, selector: str, limit: int | None = None) -> list[Tag]:
    """Return what `root.select` returns for a list of elements without combinators, such as `nav, [role=search]`.

    Most elements have neither a wanted name nor a wanted attribute, and are skipped at once.
    """
    names, attributes, compiled = _read_selector(selector)
    found: list[Tag] = []
    for element in root.descendants:
        if not isinstance(element, Tag) or (element.name not in names and attributes.isdisjoint(element.attrs)):
            continue
        if compiled.match(element):
            found.append(element)
            if len(found) == limit:
                break
    return found


@lru_cache(64)
def _read_selector(selector: str) -> tuple[frozenset[str], frozenset[str], SoupSieve]:
    """Return the names and attributes of which an element must have one, and the whole selector."""
    import soupsieve

    names: set[str] = set()
    attributes: set[str] = set()
    for one in map(str.strip, selector.split(",")):
        if name := _NAME.match(one):
            names.add(name[0].lower())
        elif attribute := _ATTRIBUTE.search(one):
            attributes.add(attribute[1])
        else:
            attributes.add("class")
    return frozenset(names), frozenset(attributes), soupsieve.compile(selector)
