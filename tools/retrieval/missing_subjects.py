"""Subjects of a question that no document mentions: then no passage answers it, however many words it shares."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.corpus.store.document_store import CorpusStore
from argot.tools.text.rarity import compute_idf
from argot.tools.text.words import bare, find_identifiers, fold_words, is_question, stem
from argot.types import Hit, Principal, ReadTerm

MAX_SHORT_WORDS = 3
"""Content words of a short question. A longer one may well paraphrase what a passage says."""
MIN_SHARE = 0.5  # of the question's words, by rarity
MIN_DESCRIPTION_SHARE = 0.75  # of a term's description, which has more words, and commoner ones, than its meaning
BEST_PASSAGES = 3  # passages in which they are looked for
_HOW = re.compile(r"\bhow\s+(\w+)", re.IGNORECASE)
# "NX-4410B", "RS-485", "RS485"; not "May-2024", a date.
_PART_NUMBER = re.compile(
    r"(?<![\w./-])(?![A-Z][a-z]+-(?:19|20)\d\d\b)"
    r"(?:[A-Z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+|[A-Z]{2,}\d{3,}[A-Za-z]?)(?![\w/])"
)
_DIGITS = 2  # fewer make no part number: "Wi-Fi", "M-1"
_LETTERS_OR_DIGITS = re.compile(r"[^\W\d_]+|\d+")
_SERIES = re.compile(r"^([^\W\d_]+)(?=\d)")


def has_only_numbers(query: str) -> bool:
    """Return whether a query has only stop words and numbers: several, or one of at most two digits. "what's 2+2?"."""
    content = _list_content(query)
    numbers = [word for word in content if word.replace(".", "").isdigit()]
    return bool(content) and len(numbers) == len(content) and (len(numbers) > 1 or len(numbers[0]) <= _DIGITS)


def lacks_half(
    query: str, hits: Sequence[Hit], store: CorpusStore, principal: Principal, terms: Sequence[ReadTerm] = ()
) -> bool:
    """Return whether the best passages hold less than half of a short question, by the rarity of its words.

    Two or three words leave no room for a paraphrase: where the rarer half is not there, the question is about
    something else ("who wrote Hamlet?"). Only for what is worded as a question: "brief me on ..." has more words of
    asking. On the validation questions of the samples and on EDA-Corpus no answer is lost by it.

    Args:
        terms: those of the query that were read in the glossary. Where the passages speak of one, they hold its words.
    """
    content = list(dict.fromkeys(_list_content(query)))
    if not is_question(query) or not 1 < len(content) <= MAX_SHORT_WORDS or not hits:
        return False
    best = _BestPassages.of(hits, store, principal)
    spoken_of = {word for term in terms if best.speaks_of(term) for word in _list_content(" ".join(_list_names(term)))}
    return best.share(content, spoken_of) < MIN_SHARE


def find_unspoken_terms(
    terms: Sequence[ReadTerm], hits: Sequence[Hit], store: CorpusStore, principal: Principal
) -> list[str]:
    """Return terms that only the glossary knows: whatever the passages say, they say it of something else.

    The documents speak of a term where any of them has one of its names or its meaning, or where the best passages
    hold half of the meaning's words, by their rarity: "the assembly was expedited" for "expedited lot".
    """
    best = _BestPassages.of(hits, store, principal)
    unspoken = (
        term.mention.surface
        for term in terms
        if not any(store.phrase_count(principal, name) for name in _list_names(term)) and not best.speaks_of(term)
    )
    return list(dict.fromkeys(unspoken))


@dataclass(frozen=True, slots=True)
class _BestPassages:
    """The words of the best passages, and how rare a word is among all that the principal may read."""

    words: frozenset[str]
    text: str
    rarity: Callable[[str], float]

    @classmethod
    def of(cls, hits: Sequence[Hit], store: CorpusStore, principal: Principal) -> _BestPassages:
        text = "\n".join(f"{hit.document.name} {hit.passage.with_header}" for hit in hits[:BEST_PASSAGES])
        names = [find_identifiers(hit.passage.with_header) for hit in hits[:BEST_PASSAGES]]
        count = store.passage_count(principal)
        return cls(
            frozenset(map(stem, fold_words(text))).union(*names),
            f" {bare(text)} ",
            lambda word: compute_idf(store.phrase_count(principal, word), count),
        )

    def share(self, content: Sequence[str], given: Collection[str] = ()) -> float:
        """Return the share of the words, by their rarity, that the passages hold; they hold the given ones in
        any case.
        """
        rarity = {word: self.rarity(word) for word in content}
        there = sum(weight for word, weight in rarity.items() if word in given or self._holds(word))
        return there / sum(rarity.values()) if rarity else 0.0

    def speaks_of(self, term: ReadTerm) -> bool:
        """Return whether the passages name the term, or hold half of its meaning, or most of its description."""
        if any(f" {bare(name)} " in self.text for name in _list_names(term)):
            return True
        description = _list_content(term.sense.description)
        # Two or three words of a description stand together by chance: "a limit of the array".
        described = len(description) > MAX_SHORT_WORDS and self.share(description) >= MIN_DESCRIPTION_SHARE
        return described or self.share(_list_content(term.sense.expansion)) >= MIN_SHARE

    def _holds(self, word: str) -> bool:
        return stem(word) in self.words or word in self.words


def _list_names(term: ReadTerm) -> Iterator[str]:
    yield from filter(None, (term.mention.surface, term.sense.term, term.sense.expansion, *term.sense.aliases))


def find_unknown_part_numbers(question: str, store: CorpusStore, principal: Principal) -> list[str]:
    """Part numbers of the question that stand in no document: what is said of another part answers nothing.

    "RS485" is known where a document writes "RS-485" or "RS 485", and a variant ("NX-4410B-512") where its part is.
    """
    return [
        name
        for name in dict.fromkeys(_PART_NUMBER.findall(question))
        if _is_specific(name) and not any(store.phrase_count(principal, way) for way in _write_variants(name))
    ]


def _is_specific(name: str) -> bool:
    return sum(map(str.isdigit, name)) >= _DIGITS


def _write_variants(name: str) -> Iterator[str]:
    """Yield the name as it stands, in one word, and parted wherever letters meet digits; then the part that it is a
    variant of.
    """
    yield name
    yield name.replace("-", "")
    yield " ".join(_LETTERS_OR_DIGITS.findall(name))
    yield _SERIES.sub(r"\1 ", name.replace("-", "")).strip()
    # "NX-4410B-512" is answered by what is said of "NX-4410B".
    part = name.rpartition("-")[0]
    if _is_specific(part):
        yield from _write_variants(part)


def _list_content(query: str) -> list[str]:
    """Return the words that carry the subject; "many" of "how many" says only what kind of answer is wanted."""
    asked = {match.group(1).casefold() for match in _HOW.finditer(query)}
    return [word for word in fold_words(query) if word not in STOP_WORDS and word not in asked]
