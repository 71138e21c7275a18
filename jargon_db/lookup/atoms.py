"""Splits a text into normalised tokens with their positions in the original."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from argot.jargon_db.lookup.normalise import fold_characters
from argot.language import UNSPACED

SEPARATORS = frozenset("-/_")

# Scripts without spaces are split into single characters, so that a term is found within a sentence.
_ATOM = re.compile(rf"[{UNSPACED}]|(?:[^\W_{UNSPACED}])+|\S")
# "40MUBO" is split after the 40; "40" and "4.5" stay whole.
_DIGITS = re.compile(r"[0-9]+(?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class Atom:
    """A run of letters and digits, or one sign. `text` is folded; [start, end) counts in the original text."""

    text: str
    start: int
    end: int
    spaced: bool
    is_word: bool

    def skip_digits(self) -> Atom | None:
        """Return the part after leading digits, as in "40MUBO"; None if there is none or its offsets are unclear."""
        digits = _DIGITS.match(self.text) if self.text[0].isdigit() else None
        # If folding changed the length, the position in the original at which the digits end is unknown.
        if digits is None or len(self.text) != self.end - self.start:
            return None
        return Atom(self.text[digits.end() :], self.start + digits.end(), self.end, False, True)


def split_atoms(text: str) -> list[Atom]:
    """Return the atoms of a text. `spaced`: white space precedes it."""
    folded, starts, ends = fold_with_offsets(text)
    atoms: list[Atom] = []
    previous_end = 0
    for match in _ATOM.finditer(folded):
        first, last = match.span()
        word = match.group()
        is_word = word[0].isalnum()
        atoms.append(Atom(word, starts[first], ends[last - 1], first > previous_end, is_word))
        previous_end = last
    return atoms


def split_words(text: str) -> list[str]:
    """Return only the folded texts of its atoms, for callers that need no offsets."""
    return _ATOM.findall(fold_characters(text))


def list_beginnings(key: str) -> Iterator[str]:
    """Return the key's first atom, first two atoms and so on, without the whole."""
    ends = [match.end() for match in _ATOM.finditer(key)]
    return (key[:end] for end in ends[:-1])


def fold_with_offsets(text: str) -> tuple[str, list[int] | range, list[int] | range]:
    """Return the folded text, and for each of its characters the start and end of its original.

    One character may fold to several (ß, ﬁ) and several to one (e + accent), so folding works cluster by cluster; all
    characters of a folded cluster share its offsets.
    """
    # The usual text: lower case changes no length, and ranges cost nothing.
    if text.isascii():
        folded = text.lower()
        return folded, range(len(folded)), range(1, len(folded) + 1)
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _split_clusters(text):
        piece = fold_characters(text[start:end])
        pieces.append(piece)
        starts += [start] * len(piece)
        ends += [end] * len(piece)
    return "".join(pieces), starts, ends


def _split_clusters(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans that can be folded separately: a character with the marks that may compose with it."""
    start = 0
    for place in range(1, len(text)):
        if not _is_joining(text[place]):
            yield start, place
            start = place
    if text:
        yield start, len(text)


def _is_joining(char: str) -> bool:
    # Below the combining marks only the soft hyphen is invisible.
    if char < "\u0300":
        return char == "\xad"
    return (
        unicodedata.category(char) in ("Mn", "Mc", "Me", "Cf") or "\u1160" <= char <= "\u11ff" or char in "\uff9e\uff9f"
    )
