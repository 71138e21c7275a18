"""Negation in the languages with a file of words: their negating words, and whether a text has one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from argot.languages.language_data import read_language_file

Pattern = re.Pattern[str]

_MIN_CLAUSE_WORDS = 3  # words; fewer between two breaks are a part of a clause


@dataclass(frozen=True, slots=True)
class NegationWords:
    """The patterns of one language, whose meaning its file explains (`argot/languages/en.toml`)."""

    concord: bool
    negations: Pattern
    without: Pattern
    forbidding: Pattern
    unclear: Pattern
    idle: Pattern
    contrast: Pattern
    breaks: Pattern


class Denial(NamedTuple):
    """The denial of a clause: whether it denies something, and its words that may deny without a negation ("only")."""

    denies: bool
    unclear: frozenset[str]


@cache
def load_negation_words(code: str) -> NegationWords:
    """Load the patterns of one of `LISTED_LANGUAGES`."""
    row = dict(read_language_file(code)["negation"])
    concord = row.pop("concord")
    return NegationWords(concord, **{key: re.compile(pattern, re.IGNORECASE) for key, pattern in row.items()})


@lru_cache(maxsize=8_000)
def list_denials(text: str, code: str) -> tuple[Denial, ...]:
    """Return how each clause of a sentence denies something; empty if the opposite follows: "not A but B"."""
    words = load_negation_words(code)
    text = words.idle.sub(" ", text)
    if words.contrast.search(text) and words.negations.search(text):
        return ()
    clauses = split_clauses(text, code)
    # "Eating" of "eating and drinking are forbidden" is no clause.
    whole = [clause for clause in clauses if len(clause.split()) >= _MIN_CLAUSE_WORDS]
    return tuple(_read_denial(clause, words) for clause in whole or clauses)


def _count_denials(text: str, words: NegationWords) -> int:
    found = len(words.negations.findall(text))
    return min(found, 1) if words.concord else found


def _read_denial(text: str, words: NegationWords) -> Denial:
    denied = _count_denials(text, words) + len(words.without.findall(text)) + len(words.forbidding.findall(text))
    # A denial of a denial is none: "not forbidden".
    return Denial(denied % 2 == 1, frozenset(found[0].casefold() for found in words.unclear.finditer(text)))


@lru_cache(maxsize=8_000)
def strip_negations(text: str, code: str) -> str:
    """Return a text without the words by which it denies something."""
    words = load_negation_words(code)
    for pattern in (words.negations, words.without):
        text = pattern.sub(" ", text)
    return text


def count_negations(text: str, code: str) -> int:
    """Return the number of words by which a text denies something, also those that deny nothing: "not only"."""
    words = load_negation_words(code)
    return _count_denials(text, words) + len(words.without.findall(text))


def split_clauses(text: str, code: str) -> list[str]:
    """Return the clauses of a text that have words."""
    return [clause for clause in load_negation_words(code).breaks.split(text) if clause.strip()]
