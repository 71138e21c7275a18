"""Meanings of abbreviations that no glossary has: words of the documents with these initials.

"MTBF" is no jargon for a reader of a table with the column "Mean time between failures". Only passages that the
question itself finds are searched, because in enough text any initials occur by chance.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from argot.jargon_db.mining.spelling_out import (
    STRICT_SCORE,
    can_start,
    normalize_letters,
    score_spelling,
    strip_accents,
)
from argot.jargon_db.mining.tokenizer import Token, blank_markup, split_blocks, tokenize

MIN_LETTERS = 3
"""Minimum number of letters: any two occur together by chance."""
_SHAPE = re.compile(r"[A-Z]{3,6}s?|[a-z]{3,6}")


def may_be_spelt_out(term: str) -> bool:
    """Return whether a term is written as an abbreviation with enough letters."""
    return _SHAPE.fullmatch(term) is not None


def find_spelt_out(term: str, texts: Sequence[str]) -> str:
    """Return the most common words among the texts that spell the term out; empty if none do."""
    letters = normalize_letters(term)
    found = Counter(phrase for text in texts for phrase in set(_find_phrases(letters, text)))
    return max(found, key=lambda phrase: (found[phrase], -len(phrase)), default="")


def _find_phrases(letters: str, text: str) -> Iterator[str]:
    plain = blank_markup(text)
    for start, block in split_blocks(plain):
        for run in _split_runs(tokenize(block)):
            for first, last in _match_spelling(letters, run):
                span = plain[start + run[first].start : start + run[last].end]
                yield strip_accents(" ".join(span.split()))


def _split_runs(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield runs of words that are separated only by blanks and hyphens."""
    run: list[Token] = []
    for token in tokens:
        if token.is_word and token.text.isalpha():
            run.append(token)
        elif not (token.is_hyphen and not token.spaced):
            yield run
            run = []
    yield run


def _match_spelling(letters: str, run: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield the first and last word of each run that spells the letters; small words between them may be skipped."""
    words = [strip_accents(token.text) for token in run]
    for first, word in enumerate(words):
        if run[first].is_small_word or not can_start(letters, word):
            continue
        for last in range(first + MIN_LETTERS - 1, min(len(words), first + 2 * len(letters))):
            span_words = words[first : last + 1]
            if not run[last].is_small_word and score_spelling(letters, span_words) >= STRICT_SCORE:
                yield first, last
