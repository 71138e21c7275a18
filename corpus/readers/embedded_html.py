"""HTML within Markdown: tags with a meaning become Markdown, pictures and links that lead elsewhere are removed, and so
are the tags of site generators.

READMEs contain raw HTML, badges and rows of links within the page. These are no text, and quoted they are noise. Only
tags of HTML count: "<name>" and "x < 5" stay. Code stays as it is. The work is linear in the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from argot.corpus.readers.html import convert_html
from argot.corpus.readers.template_tags import END_OF_RAW, TEMPLATE_TAG, write_template_tag

_BLOCK_TAGS = (
    "p|div|center|section|article|header|footer|main|aside|figure|figcaption|blockquote|details|summary|picture|dl"
)
_BLOCK_TAGS += "|dt|dd|hr|html|body|head|title|ul|ol|li|tr|td|th|thead|tbody|form|video|audio|iframe"
_INLINE_TAGS = (
    "abbr|acronym|b|big|cite|del|dfn|em|font|i|img|ins|kbd|mark|q|s|small|source|span|strike|strong|sub|u|var|wbr"
)
_CONTROL_TAGS = "button|label|legend|fieldset|option|select|time|data|output"
"""Words that may stand in angle brackets as placeholders: tags only with attributes, or if they are closed."""
_ANCHOR_LINK = r"\[[^\]\n]{1,200}\]\(\#[^)\s]{0,300}\)"
_IMAGE = r"!\[[^\]\n]{0,300}\](?:\([^)\n]{0,2000}\)|\[[^\]\n]{0,200}\])"
_LINK_SEPARATORS = r"[ \t|•·–—/\\-]*"
_LOCAL_LINK = r"<a\s[^<>:]{0,300}>[^<>\n]{1,100}</a>"
"""A link to a place of the same page or site: its address has no colon."""
_MARK = re.compile(
    rf"""^(?:(?P<fence>[ ]{{0,3}}(?P<ticks>`{{3,20}}|~{{3,20}}))
        | (?P<contents>[ \t]{{0,20}}(?:(?:[-*+]|\d{{1,3}}[.)])[ \t]+{_ANCHOR_LINK}
            |{_ANCHOR_LINK}(?:{_LINK_SEPARATORS}{_ANCHOR_LINK}){{1,40}})[ \t]*$))
        | (?P<indented>(?<=\n\n)(?:[ ]{{4}}|\t)[^\n]*(?:\n(?:[ ]{{4}}|\t)[^\n]*)*)
        | (?=[<`\[{{])(?:(?P<code>(?<!`)`{{1,20}}(?!`))
            | (?P<badge>\[{_IMAGE}\](?:\([^)\n]{{0,2000}}\)|\[[^\]\n]{{0,200}}\]))
            | (?P<comment><!--)
            | (?P<template>{TEMPLATE_TAG})
            | <(?P<control>{_CONTROL_TAGS})(?:\s[^<>]{{0,2000}}=[^<>]{{0,2000}}>
                |[^<>]{{0,200}}>(?=[^<]{{0,500}}</(?P=control)\s*>))
            | </(?:{_CONTROL_TAGS})\s{{0,9}}>
            | (?P<menu>{_LOCAL_LINK}(?:[\s|•·–—/\\-]{{1,20}}{_LOCAL_LINK}){{1,40}}(?=\s{{0,20}}(?:</|\n|\Z)))
            | <(?P<whole>script|style|nav|svg|table|pre|h[1-6]|a|code|tt|samp|sup)(?=[\s>])
              (?P<attributes>[^<>]{{0,2000}})>
            | <(?P<line>br)\s{{0,9}}/?>
            | </?(?P<part>{_BLOCK_TAGS})(?=[\s/>])[^<>]{{0,2000}}>
            | </?(?:{_INLINE_TAGS}|a|code|tt|samp|sup|h[1-6]|table|pre|nav)(?=[\s/>])[^<>]{{0,2000}}>)
    """,
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
_ADDRESS = re.compile(r"""\bhref\s{0,9}=\s{0,9}["']?(https?://[^\s"'<>)]{1,2000})""", re.IGNORECASE)
_ITEM = re.compile(r"<li\b", re.IGNORECASE)
_DRAWING = re.compile(r"<svg\b", re.IGNORECASE)
_MAX_DEPTH = 20
_PAGE_COST_ELEMENTS = 10
"""Elements that take as long to read as the start of a page."""
_MAX_ROW_CHARS = 5_000  # characters
_MAX_SHEETS_CHARS = 20_000
"""Characters of style sheets, which are read again for each drawing."""


def convert_embedded_html(markdown: str) -> str:
    """Return the Markdown without HTML, template tags, badges and links within the page; HTML with a meaning becomes
    Markdown.
    """
    return _HtmlCleaner(markdown).clean() if re.search(r"<|\]\(|\{[%:{]", markdown) else markdown


def estimate_elements(markdown: str) -> int:
    """Return the cost of reading its HTML, in elements of a page; each table and drawing is read as a separate one."""
    tags = Counter(tag.lower() for tag in re.findall(r"<(table|pre|svg|t[rdh])\b", markdown, re.IGNORECASE))
    drawn = markdown.count("<") - markdown.count("</") if tags["svg"] else 0
    return tags.total() + drawn + _PAGE_COST_ELEMENTS * (tags["table"] + tags["pre"] + tags["svg"])


class _HtmlCleaner:
    """One pass over a text."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self._text = text
        self._depth = depth
        self._parts: list[str] = []
        self._sheets = ""
        """The style sheets so far, for the drawings behind them."""
        self._at = 0
        self._paragraph_end = 0
        self._list_end = -1
        """The end of the last item of a list of links that the text announces."""
        self._never: set[str] = set()
        """Closing marks known to be absent, so that the text is not searched to its end again."""

    def clean(self) -> str:
        while (mark := _MARK.search(self._text, self._at)) is not None:
            self._parts.append(self._text[self._at : mark.start()])
            self._at = mark.end()
            self._take(mark)
        return "".join([*self._parts, self._text[self._at :]])

    def _take(self, mark: re.Match[str]) -> None:
        if mark["fence"]:
            self._keep_fenced_code(mark)
        elif mark["code"]:
            self._keep_inline_code(mark)
        elif mark["indented"]:
            self._parts.append(mark.group())
        elif mark["contents"]:
            if self._is_announced(mark.start()):
                self._parts.append(mark["contents"])
                self._list_end = mark.end()
        elif mark["comment"]:
            self._parts.append(mark.group() if self._end("-->") is None else "")
        elif mark["template"]:
            self._convert_template_tag(mark)
        elif mark["whole"]:
            self._convert_element(mark["whole"].lower(), mark)
        elif mark["line"]:
            self._parts.append(" " if self._is_in_row() else "\n")
        elif mark["part"]:
            self._convert_block_tag(mark)

    def _is_announced(self, start: int) -> bool:
        """Return whether the line above ends in a colon ("You can use:"), or is an item of a list that it announces."""
        if self._list_end >= 0 and not self._text[self._list_end : start].strip():
            return True
        line = self._text[max(0, start - _MAX_ROW_CHARS) : start].rstrip().rpartition("\n")[2].lstrip()
        return line.endswith(":") and not line.startswith("#")

    def _keep_fenced_code(self, mark: re.Match[str]) -> None:
        """Keep fenced code unchanged, up to the end of the text if the fence is never closed."""
        closing = re.compile(rf"^ {{0,3}}{re.escape(mark['ticks'])}[`~]*[ \t]*$", re.MULTILINE)
        found = closing.search(self._text, self._at)
        self._at = found.end() if found else len(self._text)
        self._parts.append(self._text[mark.start() : self._at])

    def _keep_inline_code(self, mark: re.Match[str]) -> None:
        """Keep inline code unchanged, if its backticks are closed within the paragraph."""
        if self._at >= self._paragraph_end:
            end = self._text.find("\n\n", self._at)
            self._paragraph_end = end if end >= 0 else len(self._text)
        key = f"{mark['code']} {self._paragraph_end}"
        if key not in self._never:
            found = re.compile(rf"(?<!`){mark['code']}(?!`)").search(self._text, self._at, self._paragraph_end)
            if found is None:
                self._never.add(key)
            else:
                self._at = found.end()
        self._parts.append(self._text[mark.start() : self._at])

    def _end(self, closing: str) -> str | None:
        """Return the text before the next closing mark and move after it; None if there is no such mark."""
        if closing in self._never:
            return None
        found = re.compile(re.escape(closing), re.IGNORECASE).search(self._text, self._at)
        if found is None:
            self._never.add(closing)
            return None
        inner, self._at = self._text[self._at : found.start()], found.end()
        return inner

    def _convert_element(self, tag: str, mark: re.Match[str]) -> None:
        inner = self._end(f"</{tag}>")
        # Left open, only the tag is removed.
        if inner is None or self._depth > _MAX_DEPTH:
            self._parts.append(inner or "")
        elif tag in ("table", "pre"):
            self._add_block(convert_html(f"<{tag}>{inner}</{tag}>").strip())
        elif tag == "svg":
            self._convert_drawing(mark, inner)
        elif tag in ("script", "style", "nav"):
            if tag == "style":
                self._sheets = f"{self._sheets}\n{inner}"[:_MAX_SHEETS_CHARS]
            self._add_block("")
        else:
            inner = " ".join(_HtmlCleaner(inner, self._depth + 1).clean().split())
            if tag.startswith("h"):
                self._add_block(f"{'#' * int(tag[1])} {inner}" if inner else "")
            elif inner:
                self._parts.append(_INLINE_WRITERS.get(tag, _write_code)(inner, mark["attributes"]))

    def _convert_drawing(self, mark: re.Match[str], inner: str) -> None:
        for _ in range(_MAX_DEPTH):  # drawings within it
            if len(_DRAWING.findall(inner)) == inner.count("</svg>") or (more := self._end("</svg>")) is None:
                break
            inner += f"</svg>{more}"
        sheets = f"<div><style>{self._sheets}</style></div>" if self._sheets else ""
        drawn = convert_html(f"{sheets}<svg{mark['attributes']}>{inner}</svg>").strip()
        if self._is_in_row():
            self._parts.append(" ".join(drawn.replace("|", r"\|").split()))
        else:
            self._add_block(drawn)

    def _convert_template_tag(self, mark: re.Match[str]) -> None:
        end = END_OF_RAW.search(self._text, self._at) if mark["statement"] == "raw" else None
        if end is not None:  # the text shows template tags
            self._parts.append(self._text[self._at : end.start()])
            self._at = end.end()
        else:
            self._parts.append(write_template_tag(mark, self._text[max(0, mark.start() - 2) : mark.start()]))

    def _convert_block_tag(self, mark: re.Match[str]) -> None:
        if self._is_in_row():
            self._parts.append(" ")
        else:
            self._add_block("")
            if _ITEM.match(mark.group()):
                self._parts.append("- ")

    def _add_block(self, text: str) -> None:
        """Add the text, if any, as a block of its own."""
        while self._parts and not self._parts[-1].strip():
            self._parts.pop()
        if self._parts:
            self._parts[-1] = self._parts[-1].rstrip() + "\n\n"
        self._parts += [text, "\n\n" if text else ""]
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1

    def _is_in_row(self) -> bool:
        """Return True if the line is a row of a pipe table, which has no second line."""
        start = self._text.rfind("\n", max(0, self._at - _MAX_ROW_CHARS), self._at) + 1
        return self._text[start : start + 4].lstrip().startswith("|")


def _link(inner: str, attributes: str) -> str:
    address = _ADDRESS.search(attributes)
    # A link within the page or the site is useless outside it.
    return f"[{inner}]({address[1]})" if address and not re.search(r"[\[\]]", inner) else inner


def _write_code(inner: str, _attributes: str) -> str:
    return inner if "`" in inner else f"`{inner}`"


_INLINE_WRITERS: dict[str, Callable[[str, str], str]] = {"a": _link, "sup": lambda inner, _attributes: f"^{inner}"}
