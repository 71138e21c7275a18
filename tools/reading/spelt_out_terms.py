"""Meanings of abbreviations that no glossary has: words of the documents that begin with their letters.

"MTBF" is no jargon to whoever may read a table with the column "Mean time between failures". Only passages that the
question itself brings up are looked at, for among enough text any letters come together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from argot.jargon_db.mining.spelling_out import STRICT, letters_of, spelling_score, starts, without_accents
from argot.jargon_db.mining.tokenizer import Token, blocks_of, tokens_of, without_markup

MIN_LETTERS = 3
"""Letters: any two come together by chance."""
_SHAPE = re.compile(r"[A-Z]{3,6}s?|[a-z]{3,6}")


def may_be_spelt_out(term: str) -> bool:
    """Return whether a term is written as an abbreviation, of letters enough."""
    return _SHAPE.fullmatch(term) is not None


def find_spelt_out(term: str, texts: Sequence[str]) -> str:
    """Return the words that spell the term out, as most of the texts have them; empty if none do."""
    letters = letters_of(term)
    found = Counter(phrase for text in texts for phrase in set(_find_phrases(letters, text)))
    return max(found, key=lambda phrase: (found[phrase], -len(phrase)), default="")


def _find_phrases(letters: str, text: str) -> Iterator[str]:
    plain = without_markup(text)
    for start, block in blocks_of(plain):
        for run in _split_runs(tokens_of(block)):
            for first, last in _match_spelling(letters, run):
                span = plain[start + run[first].start : start + run[last].end]
                yield without_accents(" ".join(span.split()))


def _split_runs(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield words that nothing but blanks and hyphens part."""
    run: list[Token] = []
    for token in tokens:
        if token.is_word and token.text.isalpha():
            run.append(token)
        elif not (token.is_hyphen and not token.spaced):
            yield run
            run = []
    yield run


def _match_spelling(letters: str, run: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield the first and last word of each run that spells the letters; small words between them may give none."""
    words = [without_accents(token.text) for token in run]
    for first, word in enumerate(words):
        if run[first].is_small_word or not starts(letters, word):
            continue
        for last in range(first + MIN_LETTERS - 1, min(len(words), first + 2 * len(letters))):
            said = words[first : last + 1]
            if not run[last].is_small_word and spelling_score(letters, said) >= STRICT:
                yield first, last
