"""The lists and tables that the ends of a passage cut: their other entries are in the passages before and after it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from argot.corpus.chunking.blocks import find_sentence_starts, is_unfinished

_WINDOW_CHARS = 12_000
"""Characters before a passage in which the beginning of its list is looked for, and after it the next entry."""
_MAX_LEAD_IN_CHARS = 240  # characters of a line that introduces a list; a longer one is left out
_MARKER = re.compile(r"(?P<bullet>[-*+•])[ \t]+\S|\(?(?:\d{1,3}|[a-zA-Z])[.)][ \t]+\S")
_HEADING = re.compile(r" {0,3}#{1,6}\s")


@dataclass(frozen=True, slots=True)
class ListCut:
    """The cuts of a list or table by a passage. `before` and `after`: it has entries before the passage, or after it.

    `lead_in`: the line that introduces the list, if that stands before the passage.
    """

    lead_in: str = ""
    before: bool = False
    after: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of Markdown. `kind`: row, bullet, number, heading, text or blank; `indent`: its leading columns."""

    text: str
    kind: str
    indent: int


def find_list_cut(markdown: str, start: int, end: int) -> ListCut:
    """Return the cuts that the ends of the passage [start, end) of a document's Markdown make in a list or table."""
    first = _read_line(markdown[markdown.rfind("\n", 0, start) + 1 : _find_line_end(markdown, start)])
    lead_in, before = _find_beginning(first, _iter_lines_back(markdown, start))
    return ListCut(lead_in, before, _is_continued(markdown, start, end))


def _find_beginning(first: _Line, lines_above: Iterator[_Line]) -> tuple[str, bool]:
    """Return the line that introduces the list or table of a passage's first line, and whether it began above that."""
    inner, cut, apart = first, False, False
    # A line at the margin that is no entry begins something else.
    if first.kind == "heading" or (first.kind == "text" and not first.indent):
        return "", False
    for line in lines_above:
        if line.kind == "blank":
            apart = True
            continue
        outer, is_text = line.indent < inner.indent, line.kind == "text"
        # "Bring one of these:" or "You may not enter if you" above the list, or an entry that introduces a list within.
        unfinished = line.text.rstrip("*_").endswith(":") or (is_text and apart and is_unfinished(line.text))
        introduces = unfinished and line.indent <= inner.indent
        apart = False
        if introduces and inner.kind != "row" and (outer or is_text):
            return _join_lead_in(line, lines_above), cut
        if is_text and line.indent and inner.kind != "row":
            continue  # an indented line belongs to an entry
        if not _is_same_list(line, inner):
            return "", cut
        cut = True
        inner = line if outer else inner
    return "", cut


def _join_lead_in(last: _Line, lines_above: Iterator[_Line]) -> str:
    """Return the last sentence of the paragraph that ends with this line; empty if the sentence is long."""
    text = last.text
    for line in takewhile(lambda line: last.kind == line.kind == "text", lines_above):
        text = f"{line.text} {text}"
    starts = [0, *find_sentence_starts(text, 0, len(text))]
    lead_in = text[starts[-1] :]
    return lead_in if len(lead_in) <= _MAX_LEAD_IN_CHARS else ""


def _is_continued(markdown: str, start: int, end: int) -> bool:
    """Return whether the list or table that ends the passage has more entries after it."""
    following = markdown[end : end + _WINDOW_CHARS]
    after = next((line for line in map(_read_line, following.partition("\n")[2].split("\n")) if line.text), None)
    if after is None or after.kind == "heading" or (after.kind == "text" and not after.indent):
        return False
    lines = (line for line in _iter_lines_back(markdown, end, start) if line.kind != "blank")
    last = next((line for line in lines if line.kind != "text" or not line.indent), None)
    if last is None or last.kind in ("heading", "text"):
        return False
    return _is_same_list(last, after) or (after.kind == "text" and last.kind != "row")


def _is_same_list(line: _Line, other: _Line) -> bool:
    """Return whether two lines may belong to one list or table: at one depth a list has one kind of mark."""
    kinds = {line.kind, other.kind}
    if kinds & {"row", "text", "heading"}:
        return kinds == {"row"}
    return line.indent != other.indent or line.kind == other.kind


def _iter_lines_back(markdown: str, position: int, first: int = 0) -> Iterator[_Line]:
    """Yield the lines before an offset, the nearest first."""
    begin = max(first, position - _WINDOW_CHARS)
    return map(_read_line, reversed(markdown[begin:position].rstrip(" \t").split("\n")))


def _read_line(text: str) -> _Line:
    plain = text.strip()
    if not plain:
        return _Line("", "blank", 0)
    indent = len(text.expandtabs(4)) - len(text.expandtabs(4).lstrip())
    if plain.startswith("|"):
        return _Line(plain, "row", indent)
    if _HEADING.match(text):
        return _Line(plain, "heading", indent)
    marker = _MARKER.match(plain)
    kind = "text" if marker is None else "bullet" if marker["bullet"] else "number"
    return _Line(plain, kind, indent)


def _find_line_end(markdown: str, position: int) -> int:
    end = markdown.find("\n", position)
    return len(markdown) if end < 0 else end
