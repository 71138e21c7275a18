"""Removal of the parts of a page that nobody sees or that are site navigation. Parts that a reader can open stay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bs4 import Tag
from bs4.element import NavigableString

from argot.corpus.readers.html_selection import select_elements

if TYPE_CHECKING:
    from bs4.element import PageElement

# `a.headerlink` is the paragraph sign that Sphinx puts after headings.
_NEVER_TEXT_SELECTOR = (
    "script, style, noscript, template, iframe, embed, canvas, datalist, [role=banner], [role=search], "
    "[role=contentinfo], a.headerlink"
)
_NAVIGATION_SELECTOR = "nav, [role=navigation]"
_UNSEEN_SELECTOR = "[hidden], [aria-hidden=true], [style], dialog"
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_OPENABLE_CLASS = re.compile(
    r"(?:^|[-_])(?:expand|expander|expandable|collaps\w*|accordion|tab-?(?:pane|panel|content|item)s?|tabs-pane|toggle\w*"
    r"|spoiler|faq|details|disclosure|reveal|dropdown)(?=$|[-_])",
    re.IGNORECASE,
)
_TARGET_ATTRIBUTES = ("aria-controls", "aria-owns", "popovertarget", "commandfor", "data-target", "data-bs-target")
_OPENER_SELECTOR = (
    ",".join(f"[{name}]" for name in (*_TARGET_ATTRIBUTES, "onclick", "data-toggle", "data-bs-toggle")) + ",[role=tab]"
)
_QUOTED_NAME = re.compile(r"""['"]#?([A-Za-z][\w:.-]{0,200})['"]""")
_HEADING_TAGS = ("h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt")
_MIN_LINK_SHARE = 0.6
_MAX_OPENERS = 20_000


def remove_unseen(root: Tag) -> None:
    """Remove the parts that no reader of the page can see, and links elsewhere that the text does not announce.

    A panel that a button, tab or expander of the page opens is content, whatever its initial style.
    """
    for element in select_elements(root, _NEVER_TEXT_SELECTOR):
        element.decompose()
    openers = dict(_find_openers(_find_top(root)))
    for element in select_elements(root, _UNSEEN_SELECTOR):
        # An element inside one that was just removed has lost its attributes.
        if not element.decomposed and _is_hidden(element) and not _can_open(element, openers):
            element.decompose()
    _add_panel_titles(root, openers)
    for element in select_elements(root, f"{_NAVIGATION_SELECTOR}, aside"):
        leads_away = element.name != "aside" or _has_mostly_links(element)
        if not element.decomposed and leads_away and not _is_announced(element):
            element.decompose()
    for button in select_elements(root, "button"):
        if not button.decomposed and button.find_parent(_HEADING_TAGS) is None:
            button.decompose()


def _find_top(root: Tag) -> Tag:
    while root.parent is not None:
        root = root.parent
    return root


def _find_openers(page: Tag) -> Iterator[tuple[str, Tag]]:
    """Yield the ids of the panels that can be opened, each with the element that opens it."""
    for opener in select_elements(page, _OPENER_SELECTOR, limit=_MAX_OPENERS):
        named = " ".join(_read_attribute(opener, name) for name in _TARGET_ATTRIBUTES).replace("#", " ").split()
        named += _QUOTED_NAME.findall(_read_attribute(opener, "onclick"))
        if (href := _read_attribute(opener, "href")).startswith("#"):
            named.append(href[1:])
        for name in named:
            yield name, opener


def _read_attribute(element: Tag, name: str) -> str:
    value = element.get(name)
    return " ".join(value) if isinstance(value, list) else value or ""


def _is_hidden(element: Tag) -> bool:
    if element.has_attr("hidden"):
        return _read_attribute(element, "hidden").lower() != "until-found"
    if element.name == "dialog" and not element.has_attr("open"):
        return True
    return _read_attribute(element, "aria-hidden") == "true" or bool(
        _HIDDEN_STYLE.search(_read_attribute(element, "style"))
    )


def _can_open(element: Tag, openers: dict[str, Tag]) -> bool:
    if _has_mostly_links(element):  # a menu that unfolds
        return False
    if _read_attribute(element, "id") in openers or _read_attribute(element, "role") == "tabpanel":
        return True
    if element.name == "dialog":
        return False
    classes = [*(element.get("class") or ()), *((element.parent and element.parent.get("class")) or ())]
    return any(map(_OPENABLE_CLASS.search, classes)) or _is_behind_expander(element)


def _is_behind_expander(element: Tag) -> bool:
    before = element.find_previous_sibling(True)
    return before is not None and (before.has_attr("aria-expanded") or before.select_one("[aria-expanded]") is not None)


def _add_panel_titles(root: Tag, openers: dict[str, Tag]) -> None:
    """Insert the name of a tab or of a button before the panel that it opens."""
    for panel in select_elements(root, "[id]"):
        opener = openers.get(_read_attribute(panel, "id"))
        if opener is None or opener.decomposed or opener.name not in ("button", "a", "li", "div", "span"):
            continue
        is_tab = _read_attribute(opener, "role") == "tab" or "tab" in _read_attribute(opener, "data-toggle")
        is_tab = is_tab or "tab" in _read_attribute(opener, "data-bs-toggle")
        if (not is_tab and opener.name != "button") or opener.find_parent(_HEADING_TAGS) or _has_mostly_links(panel):
            continue
        if title := opener.get_text(" ", strip=True):
            strong = Tag(name="strong")
            strong.string = title
            paragraph = Tag(name="p")
            paragraph.append(strong)
            panel.insert(0, paragraph)
            opener.decompose()


def _has_mostly_links(part: Tag) -> bool:
    """Return True if a part is mostly links, as "Related" is; other asides comment on the text beside them."""
    links, headings = (
        sum(len(one.get_text(strip=True)) for one in select_elements(part, selector))
        for selector in ("a", "h1, h2, h3, h4, h5, h6")
    )
    return links > _MIN_LINK_SHARE * max(len(part.get_text(strip=True)) - headings, 1)


def _is_announced(part: Tag) -> bool:
    """Return True where the text in front of the part ends in a colon: "You can use:"."""
    before: PageElement | None = part.previous_sibling
    while before is not None and not before.get_text(strip=True):
        before = before.previous_sibling
    if before is None or (isinstance(before, Tag) and before.name in _HEADING_TAGS):
        return False
    is_text = isinstance(before, NavigableString | Tag)
    return is_text and before.get_text(strip=True).endswith((":", "："))
