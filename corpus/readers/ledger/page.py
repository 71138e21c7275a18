"""All text of a page of HTML, block by block: of the web, a mail or an e-book."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from argot.corpus.readers.ledger import source_text as rules
from argot.corpus.readers.ledger.budget import Budget
from argot.corpus.readers.ledger.decoding import decode_text, find_declared_encoding
from argot.corpus.readers.ledger.source_text import SourceText

_RULES_OF_TAGS = {
    **dict.fromkeys(
        ("script", "style", "noscript", "template", "iframe", "object", "embed", "canvas", "metadata"), rules.CODE
    ),
    **dict.fromkeys(("nav", "button", "dialog", "datalist", "option"), rules.CLICKABLE),
    **dict.fromkeys(("del", "s", "strike"), rules.DELETED),
    **dict.fromkeys(("annotation", "annotation-xml"), rules.OTHER_FORM),
    **dict.fromkeys(("video", "audio"), rules.FALLBACK),
    "head": rules.CODE,
}
_RULES_OF_ROLES = {
    "navigation": rules.CLICKABLE,
    "search": rules.CLICKABLE,
    "banner": rules.OUTSIDE,
    "contentinfo": rules.OUTSIDE,
}
_KINDS_OF_TAGS = {"title": "title", "math": "equation", "svg": "drawing", "textarea": "form field"}
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_INLINE_TAGS = frozenset(
    "a abbr acronym b bdi bdo big cite code data dfn em font i kbd label mark q s samp small span strong strike sub sup"  # noqa: SIM905
    " tt time u var wbr del ins output ruby rb nobr".split()
)
_SEPARATE_WORD_TAGS = frozenset({"sup", "label"})
"""Inline elements whose text is a separate word."""
_TEXT_INPUT_TYPES = frozenset(
    {"", "text", "email", "tel", "url", "number", "date", "time", "month", "week", "datetime-local"}
)
_ELEMENTS_PER_CHECK = 2_000
_MIN_MAIN_CHARS = 200
"""Minimum characters of a part that is marked as the main one."""
_MIN_LINK_SHARE = 0.6


def read_page_texts(data: bytes, place: str, budget: Budget, declared: str = "") -> Iterator[SourceText]:
    """Yield the text of a page, its title, the values of its fields and the alternative texts of pictures."""
    yield from read_html_texts(decode_text(data, declared or find_declared_encoding(data)), place, budget)


def read_html_texts(html: str, place: str, budget: Budget) -> Iterator[SourceText]:
    """Yield the text of HTML that is decoded already."""
    from lxml import etree  # type: ignore[import-untyped]
    from lxml import html as parsers

    html = re.sub(r"\A\s*<\?xml[^>]*\?>", "", html).replace("\x00", "")
    parser = parsers.HTMLParser(huge_tree=True, remove_comments=True, remove_pis=True, encoding="utf-8")
    budget.check()
    try:
        root = etree.fromstring(html.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:  # no element in it
        yield SourceText(place, "text", html)
        return
    if root is not None:
        yield from _Walk(place, _find_main_part(root), budget).read_texts(root)


def _find_main_part(root: Any) -> Any:
    """Return the one element that is marked as the content of the page, if any."""
    for path in (
        "//*[@id='main-content' and contains(@class, 'wiki-content')]", "//main", "//*[@role='main']", "//body/article",
    ):  # fmt: skip
        found = root.xpath(path)
        if len(found) == 1 and (path.startswith("//*[@id") or len(" ".join(found[0].itertext())) > _MIN_MAIN_CHARS):
            return found[0]
    return None


class _Walk:
    def __init__(self, place: str, main: Any, budget: Budget) -> None:
        self._place = place
        self._main = main
        self._budget = budget
        self._pieces: list[str] = []
        self._state = ("text", "")
        self._done: list[SourceText] = []

    def read_texts(self, root: Any) -> Iterator[SourceText]:
        from lxml import etree

        states = [("text", rules.OUTSIDE if self._main is not None else "")]
        for number, (event, element) in enumerate(etree.iterwalk(root, events=("start", "end"))):
            if number % _ELEMENTS_PER_CHECK == 0:
                self._budget.check()
            tag = element.tag if isinstance(element.tag, str) else ""
            if event == "start":
                states.append(self._find_state(tag, element, states[-1]))
                self._enter(tag, states[-1])
                self._add_text(element.text)
                self._add_attributes(tag, element)
            else:
                states.pop()
                self._enter(tag, states[-1])
                self._add_text(element.tail)
            if self._done:
                yield from self._done
                self._done.clear()
        self._finish()
        yield from self._done

    def _enter(self, tag: str, state: tuple[str, str]) -> None:
        if tag not in _INLINE_TAGS or state != self._state:
            self._finish()
            self._state = state
        elif tag in _SEPARATE_WORD_TAGS:
            self._pieces.append(" ")

    def _add_text(self, text: str | None) -> None:
        if text:
            self._pieces.append(text)

    def _finish(self) -> None:
        text = "".join(self._pieces)
        self._pieces.clear()
        if text and not text.isspace():
            self._done.append(SourceText(self._place, self._state[0], text, self._state[1]))

    def _add_attributes(self, tag: str, element: Any) -> None:
        kind, text = "", ""
        if tag == "img":
            kind, text = "picture description", element.get("alt") or ""
        elif tag == "input" and (element.get("type") or "").lower() in _TEXT_INPUT_TYPES:
            kind, text = "form field", element.get("value") or ""
        if text.strip():
            rule = self._state[1] or (rules.HIDDEN if _is_hidden(element) else "")
            self._done.append(SourceText(self._place, kind, text, rule))

    def _find_state(self, tag: str, element: Any, around: tuple[str, str]) -> tuple[str, str]:
        kind, rule = around
        kind = _KINDS_OF_TAGS.get(tag, kind)
        if around[0] == "drawing" and tag in ("title", "desc") and element.getparent().tag != "svg":
            return kind, rules.HIDDEN  # of a part of the drawing: shown by a mouse on it
        if tag == "title":
            # A drawing has its own title, which is removed with it.
            return ("title", "") if around[0] != "drawing" else around
        if element is self._main:
            return kind, ""
        return kind, rule or self._find_rule(tag, element)

    def _find_rule(self, tag: str, element: Any) -> str:
        if tag == "option" and element.get("selected") is not None:
            return ""
        if found := _RULES_OF_TAGS.get(tag) or _RULES_OF_ROLES.get(element.get("role") or ""):
            return found
        if _is_hidden(element):
            return rules.HIDDEN
        if tag == "footer" and self._main is None and element.getparent() is not None:
            return rules.OUTSIDE if element.getparent().tag == "body" else ""
        # Asides may be nested, and each is searched.
        if tag == "aside":
            self._budget.check()
        is_clickable = (
            (tag == "aside" and _has_mostly_links(element))
            or (tag == "svg" and _is_icon(element))
            or (tag == "a" and "headerlink" in (element.get("class") or ""))
        )
        return rules.CLICKABLE if is_clickable else ""


def _is_hidden(element: Any) -> bool:
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    return bool(_HIDDEN_STYLE.search(element.get("style") or ""))


def _is_icon(drawing: Any) -> bool:
    """Return whether a drawing has no text and is not declared to be a picture."""
    texts = (element for element in drawing.iter() if str(element.tag).lower() in ("text", "foreignobject"))
    if any("".join(element.itertext()).strip() for element in texts):
        return False
    return drawing.get("role") != "img" or any(one.tag in ("a", "button") for one in drawing.iterancestors())


def _has_mostly_links(aside: Any) -> bool:
    """Return whether most of the text of an aside is links."""
    linked = sum(len("".join(link.itertext()).strip()) for link in aside.iter("a"))
    headings = sum(len("".join(one.itertext()).strip()) for one in aside.iter("h1", "h2", "h3", "h4", "h5", "h6"))
    return linked > _MIN_LINK_SHARE * max(len("".join(aside.itertext()).strip()) - headings, 1)
