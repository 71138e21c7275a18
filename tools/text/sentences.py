"""Splits a Markdown text into the units that an answer quotes and a citation supports.

pysbd splits prose; it knows abbreviations, decimals and initials ("Fig. 3", "e.g.", "5.2 V"). A heading, a list item, a
table row and a block of code is a separate unit. Every unit is a [start, end) of the given text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Literal

from argot.languages.detection import identify_listed_language

Span = tuple[int, int]
UnitKind = Literal["prose", "heading", "item", "row", "code"]

_FENCE = re.compile(r"\s{0,3}(```+|~~~+)")
_FENCES = re.compile(r"^ {0,3}(```+|~~~+)", re.MULTILINE)
_CLOSES = re.compile(r"[^\S\n]*(?:\n[^\S\n]*(?:\n|\Z)|\Z)")
"""After a fence that closes a block: nothing on its line, then a blank line or the end."""
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
# At least two hyphens: a single one is more likely an empty list item.
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-{2,})\s*$")
_RULER = re.compile(r"\s{0,3}(?:[-*_]\s*){3,}$")
# Also "1." and "1)", "(a)", and "a.": lists that were numbered by hand.
_ITEM = re.compile(r"\s*(?:[-*+•‣]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+(?=\S)")
_ROW = re.compile(r"\s{0,3}\|.*\|\s*$")
_DIVIDER = re.compile(r"\s{0,3}\|?\s*:?-{1,}:?\s*(?:\|\s*:?-{1,}:?\s*)*\|?\s*$")
_INDENTED = re.compile(r"(?: {4}|\t)\s*\S")

_STOP = re.compile(r"[.!?]+[\"'”’)\]]*\s+")
# Four small letters before the stop exclude "Fig.", "e.g." and "Dr."; the next word must look like a sentence's start,
# which "V" and "ODT" do not.
_PLAIN_STOP = re.compile(r"[a-z)\]]{4,}[.!?]\s+(?=[A-Z][a-z]+\b)")
_AFTER_UNIT = re.compile(r"(?:(?<=\d [a-zµ][a-z]\.)|(?<=\d[a-zµ][a-z]\.)|(?<=\d [A-Z]\.))\s+(?=[A-Z])")
"""After "5 ms." and similar, which pysbd reads as titles and initials."""

_FULL_STOP = re.compile(r"[。！？]+[」』”’）)]*")
_ORDINAL = re.compile(r"(?<![\w.,])\d{1,2}\.\s+$")

_CODE_WITH_STOP = re.compile(r"(?<![`\w])(`{1,3})(?!`)(?=[^`]*[.!?。！？])(?:[^`\n]|\n(?![ \t]*\n)){1,500}\1(?!`)")
"""Inline code that has a stop in it, such as `.mil`."""

_EMPHASISED_STOP = re.compile(r"(?<=\w)([.!?]{1,3})([*_]{1,3})(?=\s+[^\Wa-z]|\s*\Z)")

_RUN_IN_TITLE = re.compile(r"\s*(\*\*|__)(?:[^\s*_]+[^\S\n]){0,4}[^\s*_]+\.\1(?=[^\S\n]+[^\W_])")
"""A title in bold within its paragraph, "**4. Open day.** It is on Sunday.": the first sentence needs it."""

_SHORTENED = re.compile(
    r"\b(max|min|approx|incl|excl|temp|sect|resp|avg|qty|est|tel|ext|ref)\.(?=\s+(?:[\d£€$(]|(?-i:[a-z])))",
    re.IGNORECASE,
)
"""Shortened words within a sentence, which pysbd does not know: "for max. 1 hour", "incl. heating"."""

_LIST_LIKE = re.compile(r"(?<!\w)\w{1,2}[.)]")
_MAX_PIECE_CHARS = 1_000  # characters: pysbd's time grows faster than the text
_MAX_ITEM_CHARS = 300  # characters: a longer list item is a paragraph, of which single sentences are quoted
_MAX_LIST_MARKS = 25


def split_sentences(text: str) -> list[Span]:
    """Return the units of `text` in order, without surrounding white space; never empty ones, never overlapping."""
    return [(start, end) for start, end, _ in split_units(text)]


@lru_cache(maxsize=1_000)
def split_units(text: str) -> tuple[tuple[int, int, UnitKind], ...]:
    """Return the units of `split_sentences`, each with its kind."""
    units: list[tuple[int, int, UnitKind]] = []
    for start, end, kind in split_blocks(text):
        if kind == "prose" or (kind == "item" and end - start > _MAX_ITEM_CHARS):
            units.extend((first, last, kind) for first, last in _split_prose(text, start, end))
        else:
            span = _trim_span(text, start, end)
            if span[0] < span[1]:
                units.append((*span, kind))
    return tuple(units)


# -- blocks: lines that belong together -------------------------------------------------------------------------------


def split_blocks(text: str) -> Iterator[tuple[int, int, UnitKind]]:
    """Yield runs of lines of one kind. Blank lines and table dividers belong to none."""
    open_start, open_end, open_kind = 0, 0, ""  # "": no block is open
    fence = _find_fence_above(text)
    for start, end in _split_lines(text):
        line = text[start:end]
        kind = _identify_line_kind(line, open_kind, fence)
        # In plain text a paragraph at the margin after an indented list is separate.
        if kind == "more" and open_kind == "item" and text[open_start].isspace() and line[:1].isupper():
            kind = "prose"
        # An opening fence ends the paragraph or list item before it, even without a blank line.
        if kind == "code" and not fence and _FENCE.match(line) and open_kind:
            yield open_start, open_end, _get_kind(open_kind)
            open_kind = ""
        was_fenced, fence = bool(fence), _find_fence_after(line, fence)
        if open_kind and (kind == "more" or kind == open_kind == "code"):
            open_end = end
            # The closing fence belongs to the block, and ends it even if prose follows at once.
            if was_fenced and not fence:
                yield open_start, open_end, "code"
                open_kind = ""
            continue
        if kind == "underline":
            open_end, open_kind = end, "heading"
            continue
        if open_kind:
            yield open_start, open_end, _get_kind(open_kind)
        open_start, open_end, open_kind = start, end, "" if kind == "blank" else kind
        # One line each, so nothing can continue them.
        if kind in ("heading", "row") and open_kind:
            yield start, end, _get_kind(kind)
            open_kind = ""
    if open_kind:
        yield open_start, open_end, _get_kind(open_kind)


def _find_fence_above(text: str) -> str:
    """Return the fence that was opened before the text, which may be a part of a long block of code; or nothing.

    A fence directly below a line and above a blank one can only close.
    """
    found = _FENCES.search(text)
    above = text[: found.start()].rpartition("\n")[0].rpartition("\n")[2] if found else ""
    return found[1][:3] if found and above.strip() and _CLOSES.match(text, found.end()) else ""


def _find_fence_after(line: str, fence: str) -> str:
    """Return the fence that is open after this line: its three ticks or tildes, or nothing."""
    found = _FENCE.match(line)
    if not found:
        return fence
    # A fence may be longer than three, but "~~~" never closes "```".
    mark = found.group(1)[:3]
    return mark if not fence else "" if mark == fence else fence


def _get_kind(kind: str) -> UnitKind:
    kinds: dict[str, UnitKind] = {"heading": "heading", "item": "item", "row": "row", "code": "code"}
    return kinds.get(kind, "prose")


def _identify_line_kind(line: str, before: str, fence: str) -> str:
    """Return its kind, or `blank`; `more`: continues the previous block; `underline`: makes that a heading."""
    if fence or _FENCE.match(line):
        return "code"
    # The order decides if a line fits several kinds: "---" is an underline below prose and a ruler elsewhere, "* * *"
    # is a ruler, not a list item, and an indented line continues its paragraph (CommonMark 4.4).
    for kind, applies in (
        ("blank", not line.strip() or (_DIVIDER.match(line) and "|" in line)),
        ("underline", before == "prose" and _UNDERLINE.match(line)),
        ("blank", _RULER.match(line)),
        ("heading", _HEADING.match(line)),
        ("row", _ROW.match(line)),
        ("item", _ITEM.match(line)),
        ("more", before in ("prose", "item")),
        ("code", _INDENTED.match(line)),
    ):
        if applies:
            return kind
    return "prose"


def _split_lines(text: str) -> Iterator[Span]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line.rstrip("\r\n"))
        start += len(line)


# -- sentences of prose -----------------------------------------------------------------------------------------------


def _split_prose(text: str, start: int, end: int) -> Iterator[Span]:
    prose = _CODE_WITH_STOP.sub(_mask_code, text[start:end])
    if title := _RUN_IN_TITLE.match(prose):
        prose = title[0].replace(".", ",") + prose[title.end() :]
    prose = _SHORTENED.sub(r"\1,", prose)
    # The sentence ends behind its emphasis: "*Parking?* North yard."
    prose = _EMPHASISED_STOP.sub(r"\2\1", prose)
    for begin, stop in _cut_at_full_stops(prose, 0, len(prose)):
        for first, last in _cut_pieces(prose, begin, stop):
            yield from ((start + a, start + b) for a, b in _split_piece(prose, first, last))


def _mask_code(code: re.Match[str]) -> str:
    """Return a word of the same length, so that no sentence ends within code; code that ends with a stop ends it."""
    ticks = code[1]
    end = code[0][-len(ticks) - 1]
    return "X" + "x" * (len(code[0]) - 2) + (end if end in ".!?。！？" else "x")


def _cut_at_full_stops(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield spans that end with the full stops of Chinese and Japanese, behind which there is no blank."""
    for found in _FULL_STOP.finditer(text, start, end):
        yield start, found.end()
        start = found.end()
    if start < end:
        yield start, end


def _cut_pieces(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield spans of at most `_MAX_PIECE_CHARS` characters, cut at plain sentence ends if there are any."""
    while end - start > _MAX_PIECE_CHARS:
        window = text[start : start + _MAX_PIECE_CHARS]
        # Else at the last blank, else in the middle of a word: a megabyte without a space must end as well.
        stops = [match.end() for match in _PLAIN_STOP.finditer(window)] or [
            m.end() for m in re.finditer(r"\s+", window)
        ]
        cut = start + (stops[-1] if stops else _MAX_PIECE_CHARS)
        yield start, cut
        start = cut
    yield start, end


def _split_piece(text: str, start: int, end: int) -> Iterator[Span]:
    # One blank for each character, so that offsets stay valid; pysbd would read a line break as the end of a sentence.
    piece = re.sub(r"\s", " ", text[start:end])
    position = 0
    for sentence in _cut_sentences(piece):
        found = piece.find(sentence, position)
        if found < 0:
            continue
        span = _trim_span(text, start + position, start + found + len(sentence))
        position = found + len(sentence)
        if span[0] < span[1]:
            yield span
    # Text that pysbd dropped at the end is a unit as well: no word of a text may be lost.
    rest = _trim_span(text, start + position, end)
    if rest[0] < rest[1]:
        yield rest


@lru_cache(maxsize=4_000)
def _cut_sentences(piece: str) -> tuple[str, ...]:
    """Return the sentences of one piece of prose. pysbd is asked only where a full stop might not end a sentence.

    Cached by the piece, not by the text around it: reference matching joins the same sentences in many ways.
    """
    stops = list(_STOP.finditer(piece.rstrip()))
    if not stops:
        return (piece.strip(),) if piece.strip() else ()
    plain_ends = [match.end() for match in _PLAIN_STOP.finditer(piece)]
    # Quotation marks and brackets may contain a stop that ends no sentence; pysbd knows those cases.
    if plain_ends == [stop.end() for stop in stops] and not re.search(r"[\"'“”‘’()\[\]]", piece):
        cuts = [0, *plain_ends, len(piece)]
        return tuple(piece[a:b].strip() for a, b in pairwise(cuts))
    if len(_LIST_LIKE.findall(piece)) > _MAX_LIST_MARKS:  # pysbd reads them as lists, in cubic time
        return tuple(part for part in re.split(r"(?<=[.!?])\s+", piece) if part)
    language = identify_listed_language(piece)
    found = _find_unchanged(piece, _load_segmenter(language).processor(piece).process())
    cut = [part for sentence in found for part in _AFTER_UNIT.split(sentence)]
    cut = _join_ordinals(cut) if language == "de" else cut
    return tuple(sentence.strip() for sentence in cut if sentence.strip())


def _join_ordinals(sentences: Iterable[str]) -> list[str]:
    """Join what was cut after a German ordinal number: "bis zum 31. März", "in der 2. Klasse"."""
    joined: list[str] = []
    for sentence in sentences:
        if joined and _ORDINAL.search(joined[-1]):
            joined[-1] += sentence
        else:
            joined.append(sentence)
    return joined


def _find_unchanged(piece: str, sentences: Iterable[str]) -> Iterator[str]:
    """Yield the sentences of pysbd that occur unchanged in the piece, in order, each with the blanks after it.

    Equivalent to `Segmenter.segment`, which spends half of its time compiling a pattern for each sentence.
    """
    last = 0
    for sentence in filter(None, sentences):
        start = piece.find(sentence)
        while start >= 0:
            end = start + len(sentence)
            end += len(piece[end:]) - len(piece[end:].lstrip())
            # The same words may occur earlier in the piece: that position belongs to a previous sentence.
            if end > last:
                yield piece[start:end]
                last = end
                break
            start = piece.find(sentence, end)


@cache
def _load_segmenter(language: str) -> Any:
    # Imported here: it is not needed for texts whose sentences end plainly.
    import pysbd

    return pysbd.Segmenter(language=language, clean=False)


def _trim_span(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())
