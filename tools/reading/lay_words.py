"""Lay words for terms: people ask for "vacation", where the documents have only PTO and the glossary "paid time off".

A word that occurs in no document can find nothing. The term with the nearest meaning may: cosine and margin were chosen
on questions in employees' words (validation half) and on two sets of outsiders (bench/laboratory/answers.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.corpus.store.document_store import CorpusStore
from argot.jargon_db.lookup.matcher import TermMatcher
from argot.protocols import Embedder, Vectors
from argot.types import Principal, Sense

MIN_COSINE = 0.42
"""Cosine of a word with the meaning and the description of the term that may replace it."""
MIN_MARGIN = 0.03
"""Lead over the next term: "holiday" is about as near to leave as to a shift."""
MIN_WORD_LETTERS = 5  # letters; short words are usually names or typing errors
MAX_SENSES = 500
"""The meanings of a larger glossary are not compared: embedding them would delay a question by seconds."""
_WORD = re.compile(r"[^\W\d_](?:['’-]?[^\W\d_])*")
_JOINING = STOP_WORDS | {"many", "much"}


def replace_lay_words(
    text: str, matcher: TermMatcher, meanings: Callable[[], TermMeanings], store: CorpusStore, principal: Principal
) -> str:
    """Return the text with words that no document has replaced by terms of the documents with that meaning."""
    # From the end, so that earlier positions stay valid.
    for word in reversed(_find_unknown_words(text, matcher, store, principal)):
        term = meanings().nearest(word[0], lambda term: bool(store.phrase_count(principal, term)))
        text = text[: word.start()] + (term or word[0]) + text[word.end() :]
    return text


def _find_unknown_words(
    text: str, matcher: TermMatcher, store: CorpusStore, principal: Principal
) -> list[re.Match[str]]:
    words = list(_WORD.finditer(text))
    joins = [True, *(word[0].casefold() in _JOINING for word in words), True]
    named = [(mention.start, mention.end) for mention in matcher.find(text)]
    return [
        word
        for place, word in enumerate(words, 1)
        if word[0].islower()
        and len(word[0]) >= MIN_WORD_LETTERS
        and not joins[place]
        # "chief executive officer": a word within a name of several words has no meaning by itself.
        and (joins[place - 1] or joins[place + 1])
        and not any(start < word.end() and word.start() < end for start, end in named)
        and not store.phrase_count(principal, word[0])
    ]


@dataclass(frozen=True)
class TermMeanings:
    """The meanings of the senses that somebody may read. Vectors are computed on first use."""

    senses: Sequence[Sense]
    embedder: Embedder

    def nearest(self, word: str, is_used: Callable[[str], bool]) -> str:
        """Return the used term that the word most likely means; empty if none is near enough."""
        if not self.senses:
            return ""
        likeness = self._vectors @ self.embedder.embed_queries([word])[0]
        found: dict[str, float] = {}
        for place in np.argsort(-likeness):
            term = self.senses[place].term
            if term not in found and is_used(term):
                found[term] = float(likeness[place])
            if len(found) == 2 or likeness[place] < MIN_COSINE - MIN_MARGIN:
                break
        (best, like), *others = [*found.items(), ("", 0.0)]
        return best if like >= MIN_COSINE and all(like - other >= MIN_MARGIN for _, other in others) else ""

    @cached_property
    def _vectors(self) -> Vectors:
        return np.asarray(self.embedder.embed_queries([f"{one.expansion}: {one.description}" for one in self.senses]))


def get_meanings(matcher: TermMatcher, senses: Callable[[], Sequence[Sense]], embedder: Embedder) -> TermMeanings:
    """Return the meanings for a matcher; none for a glossary with more than `MAX_SENSES`."""

    def make() -> TermMeanings:
        found = [sense for sense in senses() if sense.expansion]
        return TermMeanings(found if len(found) <= MAX_SENSES else (), embedder)

    return matcher.keep((TermMeanings, embedder.fingerprint), make)
