"""Parts of a Markdown text that have a printed number: headings, list items and paragraphs, with everything below them.

A heading's part ends at the next heading of its level, "2.2" also where a paragraph "2.3" begins; an item's at the next
item beside it, or at a paragraph that is not indented under it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from argot.corpus.chunking.headings import find_headings
from argot.tools.text.part_labels import KIND_NAMES, KIND_PATTERN, PartLabel, is_label_below, parse_label

LineKind = Literal["heading", "item", "prose"]

_LINE = re.compile(r"[^\n]+")
_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,})")
_BULLET = re.compile(r"(?:[-*+•‣]|\\-)\s+(?=\S)")
_MARKS = re.compile(r"(?:\*{1,3}|_{1,3}|\\|>\s?)*")
_NUMBER = r"\d{1,4}[a-z]?(?:\.\d{1,3}[a-z]?)*(?:\s?\([a-z\d]{1,4}\))*|[IVXLC]{1,6}|[A-Z]"
_NAMED_LABEL = re.compile(
    rf"(?P<kind>{KIND_PATTERN})\s*(?:no\.?\s*)?(?P<label>{_NUMBER}|(?-i:[A-Z][a-z]+))(?P<mark>\s*[.:)–—-]|\*|(?=\s|$))"
    r"[*_]*(?P<rest>.*)",
    re.IGNORECASE,
)
_BARE_LABEL = re.compile(
    r"(?P<label>\d{1,3}[a-z]?(?:\.\d{1,3}[a-z]?)*(?:\([a-z\d]{1,4}\))+|\(?(?:\d{1,3}(?:\\?\.\d{1,3})*[a-z]?|[a-zA-Z]"
    r"|[ivxIVX]{1,5})(?P<mark>\\?[.)])?)(?=[\s*_]|$)[*_]*\s*(?P<rest>.*)"
)
_UNIT = re.compile(
    r"(?:[%°€$£]|(?:[kMGmµnu]?(?:V|A|W|Hz|Pa|s|m|g|l|bit|B)|bar|kg|mm|cm|km|min|ppm|percent|per cent|degrees?|hours?"
    r"|days?|weeks?|months?|years?|volts?|watts?|million|billion)\b)"
)
_SENTENCE_BEGINS = re.compile(r"[*_\"“(\[]*(?:[A-Z][a-z]+|[A-Z]{3,}|A)\b")
_END = re.compile(r"[.!?;,:][\"”)*_]*\s*$")
_MAX_TITLE_CHARS = 80


@dataclass(slots=True)
class NumberedPart:
    """A part with its number, as [start, end) of the text.

    `kind`: the word printed before the number, as `KIND_NAMES` has it, or empty. `above`: the parts and headings around
    it, outermost first; `lead`: the line that introduces its list; `is_title`: its first line is one.
    """

    start: int
    end: int
    line_kind: LineKind
    kind: str
    label: PartLabel
    words: str
    is_title: bool
    above: tuple[NumberedPart, ...] = ()
    lead: str = ""
    indent: int = 0
    depth: int = 0
    mark: str = ""

    @property
    def surroundings(self) -> str:
        return "\n".join([*(one.words for one in self.above), self.lead])


@dataclass(slots=True)
class _Walk:
    """A walk down the lines of a text: the parts and headings that are open at a line, and those found so far."""

    stack: list[NumberedPart] = field(default_factory=list)
    found: list[NumberedPart] = field(default_factory=list)
    lead: str = ""
    last_item: NumberedPart | None = None

    def close(self, at: int, is_left: Sequence[bool]) -> None:
        """Close the open parts from the first one that ends at this position."""
        if True in is_left:
            first = is_left.index(True)
            for part in self.stack[first:]:
                part.end = at
            del self.stack[first:]

    def open(self, part: NumberedPart) -> None:
        part.above = tuple(self.stack)
        self.stack.append(part)
        if part.label:
            self.found.append(part)


def find_numbered_parts(markdown: str) -> list[NumberedPart]:
    """Return the numbered parts of a text in their order, including nested ones."""
    headings = {heading.start: (heading.depth, heading.text) for heading in find_headings(markdown)}
    walk, fenced, after_blank, last_end = _Walk(), False, True, 0
    for line in _LINE.finditer(markdown):
        after_blank = (
            after_blank or "\n\n" in markdown[last_end : line.start()] or not markdown[last_end : line.start()]
        )
        last_end = line.end()
        fence = _FENCE.match(line[0]) is not None
        if fence or fenced:
            fenced = fenced != fence
            continue
        if not line[0].strip():
            after_blank = True
            continue
        if line.start() in headings:
            _read_heading(walk, line.start(), *headings[line.start()])
        else:
            _read_line(walk, line.start(), line[0], after_blank)
        after_blank = False
    walk.close(len(markdown), [True] * len(walk.stack))
    return walk.found


def _read_heading(walk: _Walk, at: int, depth: int, text: str) -> None:
    part = _read_labelled(text, at, "heading") or NumberedPart(at, at, "heading", "", (), text, True)
    part.depth, part.is_title = depth, True
    is_left = [
        one.line_kind != "heading"
        or (one.depth >= depth and not (one.label and part.label and is_label_below(part.label, one.label)))
        for one in walk.stack
    ]
    walk.close(at, is_left)
    walk.open(part)
    walk.lead, walk.last_item = "", None


def _read_line(walk: _Walk, at: int, line: str, after_blank: bool) -> None:
    indent = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())
    text = line.strip()
    bullet = _BULLET.match(text)
    said = text[bullet.end() :] if bullet else text
    part = _read_labelled(said, at, "item" if bullet else "prose")
    if part is not None:
        part.indent = indent
        if walk.last_item and not after_blank:
            # Lines directly below each other are items of a list, however short.
            part.is_title = walk.last_item.is_title = False
        _count_item(part, walk.last_item)
        walk.close(at, [not _has_inside(one, part) for one in walk.stack])
        part.lead = walk.lead
        walk.last_item = part if part.line_kind == "item" else None
        walk.open(part)
    elif after_blank or bullet:
        walk.close(at, [_is_ended(one, indent, is_bullet=bool(bullet)) for one in walk.stack])
        if not bullet and not any(one.line_kind != "heading" and one.indent < indent for one in walk.stack):
            walk.lead, walk.last_item = said, None
    elif not walk.stack or walk.stack[-1].line_kind == "heading":
        walk.lead = f"{walk.lead} {said}"[-300:]


def _count_item(part: NumberedPart, before: NumberedPart | None) -> None:
    """Number the items of a list whose items are all written "1.", as Markdown shows them."""
    if before and part.mark == before.mark == "1." and part.indent == before.indent:
        part.label = (str(int(before.label[0]) + 1),)


def _has_inside(outer: NumberedPart, part: NumberedPart) -> bool:
    """Return whether an open part contains a numbered line."""
    if outer.line_kind == "heading":
        # Plain paragraphs "2.2" and "2.3" below a heading "2.2": the second is none of its parts.
        return not (len(outer.label) > 1 and len(part.label) > 1 and not is_label_below(part.label, outer.label))
    if is_label_below(part.label, outer.label):
        return True
    if abs(part.indent - outer.indent) > 1:
        return part.indent > outer.indent
    return outer.label[-1][:1].isdigit() and part.label[0].isalpha() and part.mark.endswith(")")


def _is_ended(part: NumberedPart, indent: int, *, is_bullet: bool) -> bool:
    """Return whether a paragraph or a bullet without a number ends an open part."""
    if part.line_kind == "heading" or indent > part.indent + 1:
        return False
    leads = part.words.rstrip("*_ ").endswith(":")
    return not (part.is_title or (is_bullet and leads))


def _read_labelled(text: str, at: int, line_kind: LineKind) -> NumberedPart | None:
    """Return the part that begins with this line, if a number is printed at its beginning."""
    said = _MARKS.sub("", text, count=1)
    return _read_named_part(said, text, at, line_kind) or _read_bare_part(said, text, at, line_kind)


def _read_named_part(said: str, text: str, at: int, line_kind: LineKind) -> NumberedPart | None:
    found = _NAMED_LABEL.match(said)
    if not found:
        return None
    label, rest = parse_label(found["label"]), found["rest"].strip()
    if found["label"].isalpha() and len(label[0]) > len("xxxix") and not label[0].isdigit():
        return None
    titled = _is_title(rest)
    # "Section 4 applies to all." mentions a section and is none.
    if line_kind != "heading" and not (found["mark"].strip() or not rest or (titled and rest[:1].isupper())):
        return None
    kind = KIND_NAMES[found["kind"].casefold().rstrip(".")]
    return NumberedPart(at, at, "prose" if line_kind == "prose" else line_kind, kind, label, text, titled)


def _read_bare_part(said: str, text: str, at: int, line_kind: LineKind) -> NumberedPart | None:
    found = _BARE_LABEL.match(said)
    if not found:
        return None
    written, rest, mark = found["label"].replace("\\", ""), found["rest"].strip(), found["mark"]
    is_dotted = written.rstrip(".)").count(".") > 0 or "(" in written[1:]
    if not mark and not is_dotted and not (line_kind == "heading" and written.isdigit()):
        return None
    # "2.3 V is the limit" begins with an amount.
    if not mark and (_UNIT.match(rest) or (line_kind == "prose" and not _SENTENCE_BEGINS.match(rest))):
        return None
    # A letter with a full stop at the beginning of a paragraph is usually an initial.
    if line_kind == "prose" and written[0].isalpha() and len(written.rstrip(".")) == 1 and not rest[:1].isupper():
        return None
    kind: LineKind = "item" if line_kind == "prose" and mark and not is_dotted and "**" not in text else line_kind
    return NumberedPart(
        at, at, kind, "", parse_label(written), text, line_kind != "item" and _is_title(rest), mark=written
    )


def _is_title(rest: str) -> bool:
    """Return whether the text after the number is a title and not a sentence."""
    return len(rest) <= _MAX_TITLE_CHARS and not _END.search(rest) and (not rest or not rest[:1].islower())
