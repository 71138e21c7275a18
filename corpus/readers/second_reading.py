"""Pages whose own text is broken: joined from two extractions, as AccurateRAG does (2.1).

If fonts do not declare which characters they draw, a page shows words but its text has others, or none. Characters then
come from tesseract, and everything else (positions, sizes, fonts, and with them headings and tables) from the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from statistics import median
from string import ascii_lowercase

from argot.corpus.readers.pdf_lines import Line, LineSpan

# No characters: private ones (but for bullets), controls, what pdfminer gives, UTF-8 taken for something else.
_BROKEN_CHARACTERS = re.compile(
    "[\ue000-\uf0a6\uf0a9-\uf0b6\uf0b9-\uf0d7\uf0d9-\uf8ff\ufffd\x00\x01\x03-\x08\x0e-\x1f]|\u00e2\u20ac.|\u00c3[\x80-\xbf]"
)
_MAX_BROKEN_SHARE = 0.05
"""Share of a page's words. Single ones are symbols that no font has, such as ticks."""
_MIN_WORDS = 5
_MIN_LETTERS = 100
_MIN_VOWEL_SHARE = 0.22
"""Share of a page's Latin letters that are vowels; in languages with this script 0.35 to 0.5. Below, they represent
other letters."""
_MAX_MEDIAN_LETTERS = 16
"""Median letters of a page's words from which the spaces between them are missing."""


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    x: float
    """Its middle, in points."""
    y0: float
    y1: float


def is_broken(lines: Sequence[Line]) -> bool:
    """Return True where many words of a page's own text are garbled."""
    text = " ".join(line.text for line in lines)
    return _has_broken_words(text) or _is_garbled(text) or _is_run_together(text)


def join_extractions(lines: Sequence[Line], seen: Sequence[Line]) -> list[Line]:
    """Return the lines with the characters that tesseract recognised at their positions.

    If most letters represent others, all recognised text counts; else only where a character is broken or a space is
    missing. Unrecognised text stays.
    """
    words = [word for line in seen for span in line.spans for word in _split_words(span)]
    whole = _is_garbled(" ".join(line.text for line in lines))
    if whole and _is_garbled(" ".join(word.text for word in words)):
        return list(lines)
    return [Line(tuple(_repair_span(span, words, whole=whole) for span in line.spans)) for line in lines]


def _has_broken_words(text: str) -> bool:
    # Looked for in all of it first: nearly every page has none.
    if not _BROKEN_CHARACTERS.search(text):
        return False
    words = text.split()
    return sum(_BROKEN_CHARACTERS.search(word) is not None for word in words) >= max(
        _MIN_WORDS, _MAX_BROKEN_SHARE * len(words)
    )


def _is_garbled(text: str) -> bool:
    lowered = text.lower()
    # Counted by character: far faster than a look at each.
    counts = {char: lowered.count(char) for char in ascii_lowercase}
    letters = sum(counts.values())
    latin = letters > 0.5 * (len(text) - text.count(" "))
    return latin and letters >= _MIN_LETTERS and sum(counts[char] for char in "aeiouy") < _MIN_VOWEL_SHARE * letters


def _is_run_together(text: str) -> bool:
    if text.count(" ") > len(text) / _MAX_MEDIAN_LETTERS * 2:
        return False
    # Chinese and Japanese have no spaces, and addresses of web pages none either.
    latin = [word for word in text.split() if re.fullmatch(r"[A-Za-z]+(?:[.,;:()'-][A-Za-z]+)*[.,;:]?", word)]
    return sum(map(len, latin)) >= _MIN_LETTERS and median(map(len, latin)) >= _MAX_MEDIAN_LETTERS


def _repair_span(span: LineSpan, words: Sequence[_Word], *, whole: bool) -> LineSpan:
    here = [
        word
        for word in words
        if span.x0 - 2 <= word.x <= span.x1 + 2
        and min(word.y1, span.y1) - max(word.y0, span.y0) > 0.5 * min(word.y1 - word.y0, span.y1 - span.y0)
    ]
    seen = " ".join(word.text for word in sorted(here, key=lambda word: word.x))
    if not seen:
        return span
    text = seen if whole else "".join(_align_texts(span.text, seen))
    # Places within the text are those of the text that was.
    return span if text == span.text else replace(span, text=text, spaces=(), raised=())


def _align_texts(own: str, seen: str) -> Iterator[str]:
    """Yield the parts in order: the text's own, except where it is broken or lacks a space."""
    for kind, start, end, seen_start, seen_end in SequenceMatcher(None, own, seen, autojunk=False).get_opcodes():
        mine, other = own[start:end], seen[seen_start:seen_end]
        missing_space = kind == "insert" and other.isspace()
        yield other if missing_space or _BROKEN_CHARACTERS.search(mine) else mine


def _split_words(span: LineSpan) -> Iterator[_Word]:
    starts = [0, *(offset for offset, _, _ in span.spaces)]
    ends = [*(offset - 1 for offset, _, _ in span.spaces), len(span.text)]
    lefts, rights = [span.x0, *(begin for *_, begin in span.spaces)], [*(end for _, end, _ in span.spaces), span.x1]
    for start, end, left, right in zip(starts, ends, lefts, rights, strict=True):
        yield _Word(span.text[start:end], (left + right) / 2, span.y0, span.y1)
