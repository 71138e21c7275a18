"""Markdown: front matter read and left out, HTML in it turned into Markdown, all else kept word for word."""

from __future__ import annotations

import re

from argot.corpus.read_limits import ReadLimits
from argot.corpus.readers.embedded_html import elements_in, without_html
from argot.corpus.readers.html import ELEMENTS_A_SECOND
from argot.corpus.readers.plain_text import decode_text, file_stem
from argot.types import ParsedDocument

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t#]*$|^(\S.*)\n(?:=+|-+)[ \t]*$", re.MULTILINE)
# At most 60 lines: a rule at the top of a long text opens no front matter.
_FRONT_MATTER = re.compile(r"---[ \t]*\n((?:[^\n]*\n){0,60}?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_YAML_LINE = re.compile(r"\s*$|[\w.-]+[ \t]*:(?:[ \t]|$)|[ \t]|- |#")
_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")


def read_markdown(data: bytes, name: str, limits: ReadLimits) -> ParsedDocument:
    """Title: of the front matter, else the first heading, else the file name. Date: of the front matter.

    HTML in it becomes Markdown; all else is kept word for word. The front matter speaks about the document and is no
    part of what is searched and quoted.
    """
    from argot.corpus.chunking.blocks import plain_heading

    front, markdown = _without_front_matter(decode_text(data, name))
    limits.check_elements(elements_in(markdown), ELEMENTS_A_SECOND, "HTML", name)
    markdown = without_html(markdown)
    heading = _first_heading(markdown)
    title = front.get("title") or (plain_heading(heading) if heading else "") or file_stem(name)
    return ParsedDocument(title, markdown, "text/markdown", date=_date(front.get("date", "")))


def _first_heading(markdown: str) -> str:
    # A title stands at the top; further down it is some section's heading.
    match = _HEADING.search(markdown[:20_000])
    return (match[1] or match[2]).strip() if match else ""


def _without_front_matter(markdown: str) -> tuple[dict[str, str], str]:
    """The plain `name: value` pairs of a YAML front matter, and the text after it; nothing is run or resolved.

    Two rules with text between them are no front matter: each line of it is a pair, an item, indented or a comment.
    """
    match = _FRONT_MATTER.match(markdown)
    if match is None or not all(_YAML_LINE.match(line) for line in match[1].splitlines()):
        return {}, markdown
    pairs: dict[str, str] = {}
    for line in match[1].splitlines():
        key, colon, value = line.partition(":")
        if colon and key.strip().isidentifier():
            pairs.setdefault(key.strip().lower(), value.strip().strip("'\""))
    return pairs, markdown[match.end() :]


def _date(value: str) -> str | None:
    match = _DATE.match(value)
    return match[0] if match else None
