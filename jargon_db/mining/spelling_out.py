"""A score for a phrase that may spell out a short form.

Schwartz and Hearst, "A simple algorithm for identifying abbreviation definitions in biomedical text" (2003), take the
shortest phrase whose letters hold the short form's in order. Here every way of spelling is scored: a letter that begins
a word has more weight than one inside, and a word that contributes no letter costs more than "of" or "the".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from argot.jargon_db.lookup.ordinary_words import is_function_word

GOOD_SCORE = 0.55
"""Score from which a phrase next to a bracket is accepted as spelling the short form out."""
STRICT_SCORE = 0.97
"""Score from which it is accepted anywhere: every letter begins a word, and no other word is skipped."""

_INSIDE_SCORE = 0.5  # a letter within a word whose first letter counts as well
_ASTRAY_SCORE = 0.15  # a letter within a word whose first letter does not
_PASSED_COST = 0.6  # a word that contributes no letter
_PASSED_SMALL_COST = 0.05  # the same, "of" or "the"
_PASSED_TAIL_COST = 0.3  # the same, after a hyphen: non-negative
TAIL = "-"
"""Marks a word that follows a hyphen."""
_DIGITS = {
    "1": ("one", "first", "uni", "mono"),
    "2": ("two", "second", "to", "too", "double", "dual", "bi"),
    "3": ("three", "third", "tri", "triple"),
    "4": ("four", "fourth", "for", "quad"),
    "5": ("five", "fifth"),
    "6": ("six", "sixth"),
    "7": ("seven", "seventh"),
    "8": ("eight", "eighth"),
    "9": ("nine", "ninth"),
}
# XOR for "exclusive or", UX for "user experience"
_SOUNDS = {"x": ("ex", "cross", "trans", "extra"), "&": ("and",), "n": ("and",), "k": ("c",), "u": ("micro", "you")}


def normalize_letters(short: str) -> str:
    """Return the characters that have to be spelt out: letters and digits, folded, without a plural s after
    capitals.
    """
    bare = short.removesuffix("'s").removesuffix("’s")
    if len(bare) > 2 and bare.endswith("s") and bare[-2].isupper():
        bare = bare[:-1]
    return "".join(c for c in strip_accents(bare) if c.isalnum())


@lru_cache(maxsize=16_384)
def strip_accents(text: str) -> str:
    """Return small letters without accents."""
    if text.isascii():
        return text.lower()
    split = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in split if not unicodedata.combining(c))


def score_spelling(letters: str, words: Sequence[str]) -> float:
    """Return a score in [0, 1] of how well the words spell the letters; 0 if they do not.

    The first word must begin with the first letter.

    It finds the best assignment of letters to words by dynamic programming: `best[j]` is the score of the words so far
    if they contribute the first j letters.
    """
    folded = [strip_accents(word) for word in words]
    # Cheap checks before the table is filled: they reject most phrases.
    if not letters or not folded or not can_start(letters, folded[0]) or not _may_hold(letters, "".join(folded)):
        return 0.0
    # The first word must contribute the first letter; words before it are no part of the phrase.
    best = dict(_score_word(letters, folded[0].removeprefix(TAIL), 0))
    for index, word in enumerate(folded[1:], 1):
        bare = word.removeprefix(TAIL)
        passed = _PASSED_SMALL_COST if is_small(bare) else _PASSED_TAIL_COST if bare != word else _PASSED_COST
        last = index == len(folded) - 1
        # The last word must contribute a letter as well, unless a hyphen attaches it to the previous one.
        after = {j: worth - passed for j, worth in best.items() if not last or bare != word}
        for j, worth in best.items():
            for reached, gain in _score_word(letters, bare, j).items():
                if worth + gain > after.get(reached, float("-inf")):
                    after[reached] = worth + gain
        best = after
    # Per letter, so that scores of long and short forms compare; skipped words can make it negative.
    return max(0.0, best.get(len(letters), 0.0) / len(letters))


def can_start(letters: str, word: str) -> bool:
    """Return whether the word, folded, can contribute the first letter."""
    bare = word.removeprefix(TAIL)
    return bare.startswith(letters[0]) or any(bare.startswith(sound) for sound in _list_sounds(letters[0]))


def is_small(word: str) -> bool:
    """Return whether it is one of the words that abbreviations usually leave out ("of", "the"); in small letters."""
    return is_function_word(word) or word in ("'s", "’s")


def _may_hold(letters: str, text: str) -> bool:
    at = 0
    for letter in letters:
        # Necessary, not sufficient. Letters that may be spelt otherwise ("2" as "two") are accepted.
        if not _list_sounds(letter):
            at = text.find(letter, at) + 1
            if at == 0:
                return False
    return True


def _list_sounds(letter: str) -> tuple[str, ...]:
    return _DIGITS.get(letter, ()) or _SOUNDS.get(letter, ())


@lru_cache(maxsize=65_536)
def _score_word(letters: str, word: str, j: int) -> dict[int, float]:
    """Return how many letters, from the j-th on, the word can contribute: {letters in all: their score}."""
    found: dict[int, float] = {}
    if j >= len(letters):
        return found
    # "PoE": the "o" of "over" or "of" counts nearly like another.
    small = 0.9 if is_small(word) else 1.0
    if word.startswith(letters[j]):
        _run_inside(found, letters, word, j, (small, _INSIDE_SCORE))
    elif any(word.startswith(sound) for sound in _list_sounds(letters[j])):
        found[j + 1] = 0.9
    # In a word of three letters some letter matches by chance.
    elif (at := word.find(letters[j], 1)) > 0 and len(word) > 3:
        _run_inside(found, letters, word[at:], j, (_ASTRAY_SCORE, _ASTRAY_SCORE))
    return found


def _run_inside(found: dict[int, float], letters: str, word: str, j: int, worth: tuple[float, float]) -> None:
    """Add the score of the first letter, and of each further one as long as it follows in the word."""
    gain, at = worth[0], 0
    found[j + 1] = gain
    for k in range(j + 1, len(letters)):
        following = word.find(letters[k], at + 1)
        if following < 0:
            return
        # Consecutive letters ("Comp" in "computer") are hardly chance.
        gain += 0.9 if following == at + 1 else worth[1]
        at = following
        found[k + 1] = gain
