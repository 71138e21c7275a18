"""The printed number of a part of a document, such as "2.2", "(b)" or "IV": its spelling and comparison."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from argot.languages.language_data import ENGLISH
from argot.languages.numbering_words import load_counts, load_kinds
from argot.tools.text.words import NUMBER_WORDS

PartLabel = tuple[str, ...]
"""The levels of a number, folded: ("2", "2") for "2.2", ("4", "b") for "4(b)"."""

KIND_NAMES = load_kinds()
"""The kinds of numbered parts, by the words that name them in any of the languages with a file of words."""


def build_kind_pattern(names: Iterable[str]) -> str:
    """Build the pattern that finds a name of a part; a full stop may follow an abbreviation."""
    return rf"(?:(?<!\w)(?:{'|'.join(sorted(map(re.escape, names), key=len, reverse=True))})(?!\w)\.?)"


KIND_PATTERN = build_kind_pattern(KIND_NAMES)

_LEVEL = re.compile(r"\d+|[a-z]+")
_ROMAN = re.compile(r"(x{0,3})(ix|iv|v?i{0,3})")
_ROMAN_DIGITS = {"i": 1, "v": 5, "x": 10}


def parse_label(text: str, language: str = ENGLISH) -> PartLabel:
    """Return the levels of a number as it is written: "2.2", "4(b)", "IV", "three", or "drei" in German."""
    word = text.casefold().strip()
    if word in NUMBER_WORDS or word in load_counts(language):
        return (load_counts(language).get(word) or NUMBER_WORDS[word],)
    return tuple(level.lstrip("0") or "0" if level.isdigit() else level for level in _LEVEL.findall(word))


def is_same_label(one: PartLabel, other: PartLabel) -> bool:
    """Return whether both labels number the same part; "IV" and "4" do."""
    return len(one) == len(other) and all(
        a == b or (a.isdigit() != b.isdigit() and read_level(a) == read_level(b) != 0)
        for a, b in zip(one, other, strict=True)
    )


def is_label_below(inner: PartLabel, outer: PartLabel) -> bool:
    """Return whether a label continues another one, as "2.2.1" continues "2.2"."""
    return len(inner) > len(outer) and is_same_label(inner[: len(outer)], outer)


def read_level(level: str) -> int:
    """Return the value of digits or a Roman number; 0 for a letter."""
    if level.isdigit():
        return int(level)
    if not _ROMAN.fullmatch(level):
        return 0
    digits = [_ROMAN_DIGITS[digit] for digit in level]
    return sum(-a if a < b else a for a, b in zip(digits, [*digits[1:], 0], strict=True))


def measure_label_distance(one: PartLabel, other: PartLabel) -> tuple[int, int]:
    """Return how far apart two numbers are: in the number of different levels, then in the first different one."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    steps = abs(_order(one[shared : shared + 1]) - _order(other[shared : shared + 1]))
    return max(len(one), len(other)) - shared, steps


def _order(level: Sequence[str]) -> int:
    if not level:
        return 0
    return int(level[0]) if level[0].isdigit() else ord(level[0][0]) - ord("a") + 1
