"""Subjects of a question that no document mentions, so that no passage answers it, however many words it shares."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from argot.corpus.store.document_store import CorpusStore
from argot.languages.language_data import ENGLISH
from argot.tools.text.rarity import compute_idf
from argot.tools.text.words import bare, find_identifiers, fold_words, is_question, stem_by_language, stem_content
from argot.types import Hit, Principal, ReadTerm

MAX_SHORT_WORDS = 3
"""Content words of a short question. A longer one may well paraphrase a passage."""
MIN_SHARE = 0.5  # share of the question's words, by rarity
MIN_DESCRIPTION_SHARE = 0.75  # share of a term's description, which has more words, and commoner ones, than its meaning
BEST_PASSAGES = 3  # passages that are searched for them
_HOW = re.compile(r"\bhow\s+(\w+)", re.IGNORECASE)
# "NX-4410B", "RS-485", "RS485"; not "May-2024", a date.
_PART_NUMBER = re.compile(
    r"(?<![\w./-])(?![A-Z][a-z]+-(?:19|20)\d\d\b)"
    r"(?:[A-Z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+|[A-Z]{2,}\d{3,}[A-Za-z]?)(?![\w/])"
)
_DIGITS = 2  # shorter names are no part number: "Wi-Fi", "M-1"
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
    """Return whether the best passages contain less than half of a short question, by the rarity of its words.

    Two or three words leave no room for a paraphrase: if the rarer half is missing, the question is about something
    else ("who wrote Hamlet?"). It applies only to questions: "brief me on ..." has more words of asking. On the
    validation questions of the samples and on EDA-Corpus it loses no answer.

    Args:
        terms: those of the query that were read in the glossary. Passages that mention one contain its words.
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
    """Return terms that only the glossary has, so that the passages are about something else.

    The documents mention a term if any of them has one of its names or its meaning, or if the best passages contain
    half of the meaning's words, by their rarity: "the assembly was expedited" for "expedited lot".
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
    """The stems of the best passages by the rules of English and of their own languages, and how rare a word is among
    all passages that the principal may read.
    """

    languages: frozenset[str]
    words: frozenset[str]
    text: str
    rarity: Callable[[str], float]

    @classmethod
    def of(cls, hits: Sequence[Hit], store: CorpusStore, principal: Principal) -> _BestPassages:
        text = "\n".join(f"{hit.document.name} {hit.passage.with_header}" for hit in hits[:BEST_PASSAGES])
        names = [find_identifiers(hit.passage.with_header) for hit in hits[:BEST_PASSAGES]]
        languages = frozenset({ENGLISH, *(hit.passage.language for hit in hits[:BEST_PASSAGES])})
        stems = frozenset(stem_by_language(one, word) for word in fold_words(text) for one in languages)
        count = store.count_passages(principal)
        return cls(
            languages,
            stems.union(*names),
            f" {bare(text)} ",
            lambda word: compute_idf(store.phrase_count(principal, word), count),
        )

    def share(self, content: Sequence[str], given_words: Collection[str] = ()) -> float:
        """Return the share of the words, by their rarity, that the passages contain; they contain the given ones in any
        case.
        """
        rarity = {word: self.rarity(word) for word in content}
        there = sum(weight for word, weight in rarity.items() if word in given_words or self._holds(word))
        return there / sum(rarity.values()) if rarity else 0.0

    def speaks_of(self, term: ReadTerm) -> bool:
        """Return whether the passages name the term, or contain half of its meaning, or most of its description."""
        if any(f" {bare(name)} " in self.text for name in _list_names(term)):
            return True
        description = _list_content(term.sense.description)
        # Two or three words of a description occur together by chance: "a limit of the array".
        described = len(description) > MAX_SHORT_WORDS and self.share(description) >= MIN_DESCRIPTION_SHARE
        return described or self.share(_list_content(term.sense.expansion)) >= MIN_SHARE

    def _holds(self, word: str) -> bool:
        return word in self.words or any(stem_by_language(one, word) in self.words for one in self.languages)


def _list_names(term: ReadTerm) -> Iterator[str]:
    names = (term.mention.surface, term.sense.term, term.sense.expansion, *term.sense.aliases)
    # Documents may write "Antideficiency Act" for "Anti-Deficiency Act".
    yield from dict.fromkeys(way for name in names if name for way in (name, name.replace("-", "")))


def find_unknown_part_numbers(question: str, store: CorpusStore, principal: Principal) -> list[str]:
    """Return part numbers of the question that occur in no document: passages about another part do not answer it.

    "RS485" counts as present if a document writes "RS-485" or "RS 485", and a variant ("NX-4410B-512") if its part is.
    """
    return [
        name
        for name in dict.fromkeys(_PART_NUMBER.findall(question))
        if _is_specific(name) and not any(store.phrase_count(principal, way) for way in _write_variants(name))
    ]


def _is_specific(name: str) -> bool:
    return sum(map(str.isdigit, name)) >= _DIGITS


def _write_variants(name: str) -> Iterator[str]:
    """Yield the name as written, in one word, and split wherever letters meet digits; then the part that it is a
    variant of.
    """
    yield name
    yield name.replace("-", "")
    yield " ".join(_LETTERS_OR_DIGITS.findall(name))
    yield _SERIES.sub(r"\1 ", name.replace("-", "")).strip()
    # Passages about "NX-4410B" answer a question about "NX-4410B-512".
    part = name.rpartition("-")[0]
    if _is_specific(part):
        yield from _write_variants(part)


def _list_content(query: str) -> list[str]:
    """Return the words that carry the subject; "many" of "how many" only names the kind of answer."""
    asked = {match.group(1).casefold() for match in _HOW.finditer(query)}
    return [word for word, _ in stem_content(query) if word not in asked]
