"""Lay words for terms: people ask for "vacation", where the documents have only PTO and the glossary "paid time off".

A word that occurs in no document can find nothing. The term with the nearest meaning may: cosine and margin were chosen
on questions in employees' words (validation half) and on two sets of outsiders (bench/laboratory/answers.md). A word
that documents use for something else ("holiday") also finds a term whose description begins with it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from argot.corpus.embedding.cosine_scale import rescale_cosines
from argot.corpus.store.document_store import CorpusStore
from argot.jargon_db.lookup.matcher import TermMatcher
from argot.languages.detection import identify_listed_language
from argot.languages.language_data import load_language
from argot.protocols import Embedder, Vectors
from argot.tools.text.words import content_stems
from argot.types import Principal, Sense

MIN_COSINE = 0.42
"""Cosine of a word with the meaning and the description of the term that may replace it."""
MIN_MARGIN = 0.03
"""Lead over the next term: "holiday" is about as near to leave as to a shift."""
MIN_WORD_LETTERS = 5  # letters; short words are usually names or typing errors
MAX_SENSES = 500
"""The meanings of a larger glossary are not compared: embedding them would delay a question by seconds."""
MAX_DESCRIBED_TERMS = 2
"""Number of terms that one word may describe; a word in more descriptions distinguishes none."""
MAX_FIRST_STEMS = 4
"""Number of content words at a description's beginning that say what its term is."""
_FIRST_CLAUSE = re.compile(r"[.,;:(–—]|\b(?:with|that|which|who|whose|for|by|when|where|if|as|in|on|from|to)\b")
_WORD = re.compile(r"[^\W\d_](?:['’-]?[^\W\d_])*")
_WORD_BEFORE = re.compile(rf"({_WORD.pattern})\s+$")
_WORD_BEHIND = re.compile(rf"\s+({_WORD.pattern})")
_QUANTIFIERS = frozenset({"many", "much"})
"""English words that name nothing, but are no stop words."""


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
    joining = load_language(identify_listed_language(text)).stop_words | _QUANTIFIERS
    words = list(_WORD.finditer(text))
    joins = [True, *(word[0].casefold() in joining for word in words), True]
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
        cosines = self._vectors @ self.embedder.embed_queries([word])[0]
        likeness = rescale_cosines(cosines, self.embedder)
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
        return np.asarray(self.embedder.embed_queries([*map(_join_meaning, self.senses)]))


class DescribedTerms:
    """Senses by the first words of their descriptions, as of "Days of holiday with full salary"."""

    def __init__(self, senses: Sequence[Sense]) -> None:
        self._by_stem: defaultdict[str, list[Sense]] = defaultdict(list)
        for sense in senses:
            for stem in dict.fromkeys(_list_first_stems(sense.description)):
                self._by_stem[stem].append(sense)

    def find(self, word: str) -> Sequence[Sense]:
        """Return the senses that the word describes; none if it describes many."""
        senses = self._by_stem.get(next(iter(content_stems(word)), ""), ())
        return senses if len({sense.term for sense in senses}) <= MAX_DESCRIBED_TERMS else ()


def replace_described_words(  # noqa: PLR0917
    text: str,
    matcher: TermMatcher,
    described: DescribedTerms,
    embedder: Embedder,
    is_used: Callable[[Sense], bool],
    count: Callable[[str], int],
) -> str:
    """Return the text with words that describe a used sense replaced by its term.

    A word of a name that the documents use ("shift lead") stays, and so does a word of the term's own meaning.

    Args:
        count: returns how many passages have a phrase.
    """
    named = [(mention.start, mention.end) for mention in [*matcher.find(text), *matcher.find_expansions(text)]]
    for word in reversed(list(_WORD.finditer(text))):
        apart = not any(start < word.end() and word.start() < end for start, end in named)
        if apart and word[0].islower() and len(word[0]) >= MIN_WORD_LETTERS:
            used = [sense for sense in described.find(word[0]) if is_used(sense) and not _is_own_word(word[0], sense)]
            is_doubtful = not used or _is_part_of_name(word, text, count)
            term = word[0] if is_doubtful else _select_near(word[0], used, embedder)
            text = text[: word.start()] + term + text[word.end() :]
    return text


def _is_part_of_name(word: re.Match[str], text: str, count: Callable[[str], int]) -> bool:
    """Return whether the documents have the word together with the one before or behind it, which is no stop word."""
    before, behind = _WORD_BEFORE.search(text, 0, word.start()), _WORD_BEHIND.match(text, word.end())
    phrases = [f"{before[1]} {word[0]}"] if before and content_stems(before[1]) else []
    phrases += [f"{word[0]} {behind[1]}"] if behind and content_stems(behind[1]) else []
    return any(map(count, phrases))


def _is_own_word(word: str, sense: Sense) -> bool:
    names = " ".join((sense.expansion, *sense.aliases))
    return not set(content_stems(word)).isdisjoint(content_stems(names))


def _select_near(word: str, senses: Sequence[Sense], embedder: Embedder) -> str:
    """Return the term of the first sense whose meaning is near the word, or else the word."""
    vectors = np.asarray(embedder.embed_queries([word, *map(_join_meaning, senses)]))
    near = zip(senses, rescale_cosines(vectors[1:] @ vectors[0], embedder), strict=True)
    return next((sense.term for sense, likeness in near if likeness >= MIN_COSINE), word)


def _join_meaning(sense: Sense) -> str:
    return f"{sense.expansion}: {sense.description}"


def _list_first_stems(description: str) -> list[str]:
    return content_stems(_FIRST_CLAUSE.split(description, maxsplit=1)[0])[:MAX_FIRST_STEMS]


def get_described(matcher: TermMatcher, senses: Callable[[], Sequence[Sense]]) -> DescribedTerms:
    """Return the described terms of a matcher."""
    return matcher.keep(DescribedTerms, lambda: DescribedTerms(senses()))


def get_meanings(matcher: TermMatcher, senses: Callable[[], Sequence[Sense]], embedder: Embedder) -> TermMeanings:
    """Return the meanings for a matcher; none for a glossary with more than `MAX_SENSES`."""

    def make() -> TermMeanings:
        return TermMeanings(_select_compared(senses()), embedder)

    return matcher.keep((TermMeanings, embedder.fingerprint), make)


def list_meanings(senses: Sequence[Sense]) -> list[str]:
    """Return the texts that lay words are compared with, so that they can be embedded before a question."""
    return [*map(_join_meaning, _select_compared(senses))]


def _select_compared(senses: Sequence[Sense]) -> Sequence[Sense]:
    explained = [sense for sense in senses if sense.expansion]
    return explained if len(explained) <= MAX_SENSES else ()
