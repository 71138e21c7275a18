"""Turns Markdown into prose, and maps each character back to its position in the source."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

# The part after a link's "[text]". A reference begins with a letter: "[1][3]" are citation marks, no link. Every part
# is bounded, so that no hostile text takes quadratic time.
_TARGET = r"(?:\((?:[^()\s]|\([^()\s]{0,200}\)){0,2000}(?:\s\"[^\"\n]{0,300}\")?\)|\[[A-Za-z_][^\]\n]{0,100}\])"
_ATTRIBUTES = r"(?:\s{1,9}[\w:-]{1,40}=(?:\"[^\"<>]{0,500}\"|'[^'<>]{0,500}'|[^\s\"'<>]{1,500})){%s,20}\s{0,9}/?>"
_APART = r"(?:p|br|hr|div|li|ul|ol|tr|td|th|h[1-6])"
_WITHIN = r"(?:a|b|i|u|s|em|strong|span|sup|sub|code|pre|small|font|table|tbody|thead|img|center|big|kbd|mark)"
# "the <table> element" mentions a tag: one without attributes that no word follows at once is text.
_TAG = (
    rf"(?P<apart></?{_APART}{_ATTRIBUTES % 0})"
    rf"|(?P<within>(?<![\s(\"'])</{_WITHIN}\s{{0,9}}>"
    rf"|<{_WITHIN}(?:{_ATTRIBUTES % 1}|\s{{0,9}}/?>(?![\s.,;:)\"'’”])))"
)
_MARKUP = re.compile(
    r"(?=[^\w .,;:'\"()-]|_| [\s#])(?:"  # no mark-up begins otherwise: six times as fast
    # The target is found by look-ahead: "[x]" without one is text, such as an array index or a check box.
    # Its text may go on in the next line, and ends with the paragraph.
    rf"(?P<open>!?\[(?=(?:[^\]\n]|\n(?!\s*\n)){{0,300}}\](?P<target>{_TARGET})))"
    rf"|(?P<close>\]{_TARGET})"
    r"|(?P<auto><(?P<url>https?://[^>\s]{1,2000})>)"
    rf"|(?i:{_TAG})"
    r"|(?P<code>(?<!`)(?P<tick>`{1,3})(?P<inner>(?:[^`\n]|\n(?!\s*\n)){1,500})(?P=tick)(?!`))"
    r"|(?P<strong>\*\*|__(?=\w)|(?<=\w)__(?!\w))"
    # Not within a word or before a blank: "code_x" and "2 * 3" are no emphasis.
    r"|(?P<emphasis>(?<![\w*])[*_](?=[^\s*_])|(?<=[^\s*_])[*_](?![\w*]))"
    # The lines of a quotation; "> 5 V" is a number's.
    r"|(?P<quote>^[ \t]{0,3}(?:>[ \t]?+)++(?![\d=.]))"
    r"|(?P<heading>(?:\A[ \t]{0,3}|^)#{1,6}[ \t]+)"
    r"|(?P<closing>(?<!\s)[ \t]#+[ \t]*$)"
    r"|(?P<escape>\\(?P<escaped>[\\`*_{}\[\]()#+\-.!|<>~]))"
    r"|(?P<entity>&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,30});)"
    # A single blank is no match: it stays in the prose around it.
    r"|(?P<space>\s{2,}|[^\S ]))",
    re.MULTILINE,
)
_MARKS = frozenset("<>&*_`[]\\#|~!")
"""Characters that Markdown may read as marks: an entity of one stays as it is where the text is shown as Markdown."""
_OTHER_PAGE = re.compile(r"\((?!#)")
# Part of the text of these marks stays readable; others are removed.
_KEPT = {"auto": "url", "code": "inner", "escape": "escaped"}


@dataclass(frozen=True, slots=True)
class PlainProse:
    """`text` has no mark-up, and one blank for each run of white space.

    It consists of pieces that are unchanged in the source, but for single characters that it has as entities: the n-th
    begins at `places[n]` of the text and at `origins[n]` of the source, and ends there at `ends[n]`.
    """

    text: str
    places: tuple[int, ...]
    origins: tuple[int, ...]
    ends: tuple[int, ...]

    def source_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the [start, end) of the source that contains text[start:end]."""
        # The end by its last character: the next one may begin a piece much later in the source.
        last = bisect_right(self.places, end - 1) - 1
        is_whole = end == (self.places[last + 1] if last + 1 < len(self.places) else len(self.text))
        return self._origin(start), self.ends[last] if is_whole else self._origin(end - 1) + 1

    def _origin(self, place: int) -> int:
        piece = bisect_right(self.places, place) - 1
        return self.origins[piece] + place - self.places[piece]


@lru_cache(maxsize=8_000)
def extract_prose(source: str, *, as_markdown: bool = False) -> PlainProse:
    """Return the prose of `source` without links, images, emphasis, code ticks, heading marks, escapes and HTML
    tags.

    `as_markdown`: for a text that is shown as Markdown. A link to another page stays, because its words may name
    nothing ("see here"), and so does code: the stars of "*21*7900#" would be emphasis otherwise.
    """
    building = _ProseBuilder(source)
    position = 0
    open_links: list[bool] = []  # of each link that is open: whether its marks are kept
    for match in _MARKUP.finditer(source):
        building.add_prose(position, match.start())
        position = match.end()
        if match["open"] is not None:
            open_links.append(as_markdown and match["open"] == "[" and _OTHER_PAGE.match(match["target"]) is not None)
        kept = match["open"] is not None and open_links[-1]
        if match["close"] is not None and open_links:
            kept = open_links.pop()
        if kept or (as_markdown and match["code"] is not None and "\n" not in match[0]):
            building.keep(*match.span())
        elif match["entity"] is not None:
            building.add_entity(*match.span(), as_markdown=as_markdown)
        elif match["space"] is not None or match["apart"] is not None:
            building.add_blank(match.start())
        else:
            for kind, part in _KEPT.items():
                if match[kind] is not None:
                    building.keep_lines(*match.span(part))
    building.add_prose(position, len(source))
    return building.build()


class _ProseBuilder:
    """Collects the pieces of a `Plain`."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._parts: list[str] = []
        self._places: list[int] = []
        self._origins: list[int] = []
        self._ends: list[int] = []
        self._length = 0

    def keep(self, start: int, end: int) -> None:
        if start < end:
            self._add(self._source[start:end], start)

    def keep_lines(self, start: int, end: int) -> None:
        """Keep text that may go on in the next line, as one line."""
        for line in re.finditer(r"[^\n]+", self._source[start:end]):
            if line.start():
                self.add_blank(start + line.start() - 1)
            self.keep(start + line.start(), start + line.end())

    def add_prose(self, start: int, end: int) -> None:
        # A removed mark may leave a blank on both sides of it: "a ** b".
        if start < end and self._source[start] == " " and self._ends_blank():
            start += 1
        self.keep(start, end)

    def add_blank(self, start: int) -> None:
        if not self._ends_blank():
            self._add(" ", start)

    def add_entity(self, start: int, end: int, *, as_markdown: bool) -> None:
        """Add the character that an entity stands for; the entity itself if that is none, or would be a mark."""
        character = html.unescape(self._source[start:end])
        if character.isspace():
            self.add_blank(start)
        elif len(character) > 1 or not character.isprintable() or (as_markdown and character in _MARKS):
            self.keep(start, end)
        else:
            self._add(character, start, end)

    def build(self) -> PlainProse:
        text = "".join(self._parts)
        text = text[:-1] if text.endswith(" ") else text
        return PlainProse(text, tuple(self._places), tuple(self._origins), tuple(self._ends))

    def _ends_blank(self) -> bool:
        return not self._parts or self._parts[-1].endswith(" ")

    def _add(self, text: str, origin: int, end: int | None = None) -> None:
        self._parts.append(text)
        self._places.append(self._length)
        self._origins.append(origin)
        self._ends.append(origin + len(text) if end is None else end)
        self._length += len(text)
