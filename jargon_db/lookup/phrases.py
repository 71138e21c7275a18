"""Misspelt phrases: "perifery under cel" is peripheral under cell, "over-provisionning" over-provisioning.

Phrases are looked up by their first and by their last word, so that the work hardly depends on the size of the
glossary. One of these two words may be misspelt; the other may differ in number, and in common confusions (doubled
letters, ph and f, i and y, s and z).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from sys import intern
from typing import NamedTuple

from rapidfuzz.distance import OSA

from argot.jargon_db.lookup.normalise import guess_singulars, normalise
from argot.jargon_db.lookup.ordinary_words import is_function_word, is_ordinary_word, is_well_known

# Letters only: a digit is never a typing error.
_WORD = re.compile(r"[^\W\d_]+")
# "word line", "word-line", also broken over two lines; not "word. Line" or "word, line".
_GAP = re.compile(r"[ \t\n]{1,2}|[-–/]")
_DOUBLED = re.compile(r"(.)\1")
# A longer phrase is a sentence, and each further word costs another pass of windows over the text.
_MAX_PHRASE_WORDS = 6
# Nearly any two words of three letters are one error apart.
_MIN_STRANGE_LETTERS = 4
_MIN_SWAPPED_LETTERS = 5  # letters of an ordinary word that may replace another: trough-silicon via
_MIN_TWO_ERROR_LETTERS = 7  # letters from which a word may have two errors
_MIN_SINGLE_WORD_LETTERS = 10  # minimum letters of a one-word phrase; shorter ones are too similar to other words
_MAX_CHARS = 8_000  # characters


_Phrase = tuple[tuple[str, ...], str]


class NearPhrase(NamedTuple):
    """A place [start, end) that misspells a phrase, and the labels of that phrase."""

    start: int
    end: int
    labels: frozenset[str]


class _Word(NamedTuple):
    start: int
    end: int
    text: str
    folded: str


class NearPhrases:
    """Phrases with a label each (a term, the number of a sense), and a search for their misspellings."""

    def __init__(self, phrases: Iterable[tuple[str, str]]) -> None:
        self._whole = _Index()
        # Phrases without their last word, kept separately: a whole phrase is preferred wherever both fit.
        self._cut = _Index()
        for label, phrase in phrases:
            words = _WORD.findall(normalise(phrase))
            if not 1 <= len(words) <= _MAX_PHRASE_WORDS or any(map(str.isdigit, phrase)):
                continue
            self._whole.add(words, label)
            # "state of the art" without its last word is "state of the".
            if len(words) > 2 and not is_function_word(words[-2]):
                self._cut.add(words[:-1], label)

    def find(self, text: str, is_free: Callable[[int, int], bool] = lambda start, end: True) -> list[NearPhrase]:
        """Find misspelt phrases, by position; of overlapping ones the longest. Correctly spelt ones are left out.

        A phrase may lack its last word ("write amplifcation" for write amplification factor).

        Args:
            is_free: returns whether a position may be searched.
        """
        words = [_Word(*match.span(), match.group().lower(), _fold(match.group())) for match in _find_words(text)]
        kept: list[NearPhrase] = []
        for index in (self._whole, self._cut):
            for window in _find_windows(text, words):
                start, end = window[0].start, window[-1].end
                if any(start < other.end and other.start < end for other in kept) or not is_free(start, end):
                    continue
                if labels := index.labels(window):
                    kept.append(NearPhrase(start, end, labels))
        return sorted(kept)


class _Index:
    """Phrases by their first word and by their last: if one word is wrong, the other is right."""

    def __init__(self) -> None:
        self._by_end: dict[int, _Phrase | list[_Phrase]] = {}
        self._alone: defaultdict[str, list[_Phrase]] = defaultdict(list)

    def add(self, words: Sequence[str], label: str) -> None:
        phrase = (tuple(map(intern, words)), label)
        # Only by its first letter, which is rarely misspelt: there is no second word to find it by.
        if len(words) == 1:
            if len(words[0]) >= _MIN_SINGLE_WORD_LETTERS:
                self._alone[_fold(words[0])[:1]].append(phrase)
            return
        for key in _hash_ends([_fold(word) for word in words]):
            # Most keys belong to one phrase, which is stored directly: a list for each would take much memory.
            known = self._by_end.setdefault(key, phrase)
            if isinstance(known, list):
                known.append(phrase)
            elif known is not phrase:
                self._by_end[key] = [known, phrase]

    def labels(self, window: Sequence[_Word]) -> frozenset[str]:
        """Return the labels of the phrases that the window misspells; none if it spells one of them correctly."""
        found: set[str] = set()
        for words, label in self._candidates(window):
            if len(words) != len(window):
                continue
            # The matcher finds correct spellings, whatever other phrase this might misspell.
            if all(_is_same(word.text, other) for word, other in zip(window, words, strict=True)):
                return frozenset()
            if all(_is_near(word, other, len(words)) for word, other in zip(window, words, strict=True)):
                found.add(label)
        return frozenset(found)

    def _candidates(self, window: Sequence[_Word]) -> Iterator[_Phrase]:
        if len(window) == 1:
            # One less: the missing letter may be the error.
            if len(window[0].text) >= _MIN_SINGLE_WORD_LETTERS - 1:
                yield from self._alone.get(window[0].folded[:1], ())
            return
        for key in _hash_ends([word.folded for word in window]):
            found = self._by_end.get(key, [])
            yield from found if isinstance(found, list) else (found,)


def _hash_ends(folded: Sequence[str]) -> tuple[int, int]:
    """Hashes of the first word and of the last, each together with the initials of all words."""
    # Different words may have equal hashes: matches are compared letter by letter afterwards.
    initials = "".join([word[:1] for word in folded])
    # Numbers instead of tuples of texts: a large glossary has hundreds of thousands of these keys.
    return hash((folded[0], initials)), hash((initials, folded[-1]))


@lru_cache(maxsize=65_536)
def _fold(word: str) -> str:
    """Return the word without common confusions: doubled letters, ph and f, y and i, z and s, the number."""
    word = normalise(word)
    # "gas" is no plural of "ga".
    word = next(iter(guess_singulars(word)), word) if len(word) > 3 else word
    return _DOUBLED.sub(r"\1", word.replace("ph", "f").replace("y", "i").replace("z", "s"))


def _find_words(text: str) -> Iterator[re.Match[str]]:
    return _WORD.finditer(text[:_MAX_CHARS])


def _find_windows(text: str, words: Sequence[_Word]) -> Iterator[Sequence[_Word]]:
    """Yield runs of words separated only by a space, hyphen or slash, longest first."""
    joined = [bool(_GAP.fullmatch(text[one.end : other.start])) for one, other in pairwise(words)]
    for size in range(_MAX_PHRASE_WORDS, 0, -1):
        for first in range(len(words) - size + 1):
            if all(joined[first : first + size - 1]):
                yield words[first : first + size]


def _is_same(word: str, other: str) -> bool:
    return word == other or other in guess_singulars(word) or word in guess_singulars(other)


def _is_near(word: _Word, other: str, size: int) -> bool:
    """Return whether a word may replace the other one, misspelt or not, in a phrase of `size` words."""
    folded = _fold(other)
    if word.text == other:
        return True
    # People hardly ever misspell the first letter, and a small word means itself.
    if word.folded[:1] != folded[:1] or is_function_word(word.text):
        return False
    if word.folded == folded:
        return True
    errors = OSA.distance(word.folded, folded, score_cutoff=2)
    if is_ordinary_word(word.text) or is_well_known(word.text):
        # "cells" for "cell" is another form, not an error.
        inflected = word.text.startswith(other) or other.startswith(word.text)
        return size > 2 and len(word.text) >= _MIN_SWAPPED_LETTERS and errors == 1 and not inflected
    return len(word.text) >= _MIN_STRANGE_LETTERS and errors <= (1 if len(folded) < _MIN_TWO_ERROR_LETTERS else 2)
