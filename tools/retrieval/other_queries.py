"""Other search queries by rules, after a search that did not find the answer: without a model, or if it proposes none.

Each query has fewer or other words than the question: its own, those of the glossary or of the passages found. No query
adds a fact, since the passages that it finds are judged for the question itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from argot.corpus.embedding.cosine_scale import rescale_cosines
from argot.language import QUESTION_MARKS
from argot.languages.detection import identify_listed_language
from argot.languages.language_data import load_language
from argot.protocols import Embedder
from argot.tools.reading.question_splitting import split_questions
from argot.tools.text.sentences import split_sentences
from argot.tools.text.words import content_stems, stem_by_language
from argot.types import Hit, ReadTerm

MAX_QUERIES = 3
MIN_LIKENESS = 0.55
"""Cosine of a word that no document has with the word of a heading that replaces it."""
MAX_HEADING_WORDS = 80
"""Words of headings that are compared: embedding them takes most of the time."""
_WORD = re.compile(r"[^\W\d_](?:['’-]?[^\W\d_])*")
_FIRST_CLAUSE = re.compile(r"[.,;:(–—]")
_MIN_WORD_LETTERS = 4
MAX_DESCRIPTION_WORDS = 5
"""Words of a description that can stand in a question in place of its term; a longer one is a definition."""


def propose_queries(
    question: str, terms: Sequence[ReadTerm], hits: Sequence[Hit], embedder: Embedder, count: Callable[[str], int]
) -> list[str]:
    """Return up to `MAX_QUERIES` other queries; none if no rule applies.

    Args:
        question: the question as it was searched.
        terms: those of the question.
        hits: the passages found, best first.
        count: returns how many passages have a word.
    """
    proposed = [
        *_say_in_heading_words(question, hits, embedder, count),
        *_list_asking_sentences(question),
        *_describe_terms(question, terms),
    ]
    known = {question.casefold()}
    chosen = []
    for query in proposed:
        if query.casefold() not in known and content_stems(query):
            known.add(query.casefold())
            chosen.append(query)
    return chosen[:MAX_QUERIES]


def _say_in_heading_words(
    question: str, hits: Sequence[Hit], embedder: Embedder, count: Callable[[str], int]
) -> Iterator[str]:
    """Yield the question with words that no document has replaced by the words of headings nearest in meaning."""
    language = identify_listed_language(question)
    stop_words = load_language(language).stop_words
    strange = [
        word
        for word in _WORD.finditer(question)
        if word[0].islower() and len(word[0]) >= _MIN_WORD_LETTERS and word[0] not in stop_words and not count(word[0])
    ]
    offered = _list_heading_words(hits, set(content_stems(question, language)), language) if strange else []
    if not offered:
        return
    vectors = np.asarray(embedder.embed_queries([*(word[0] for word in strange), *offered]))
    likeness = rescale_cosines(vectors[: len(strange)] @ vectors[len(strange) :].T, embedder)
    text = question
    # From the end, so that earlier positions stay valid.
    for word, row in reversed(list(zip(strange, likeness, strict=True))):
        if row.max() >= MIN_LIKENESS:
            text = text[: word.start()] + offered[int(row.argmax())] + text[word.end() :]
    yield text


def _list_heading_words(hits: Sequence[Hit], question_stems: set[str], language: str) -> list[str]:
    """List the words of the headings that the question lacks, each stem once."""
    stop_words = load_language(language).stop_words
    found: dict[str, str] = {}
    for hit in hits:
        for word in _WORD.findall(f"{hit.document.title} {hit.passage.heading}"):
            folded = word.casefold()
            one = stem_by_language(language, folded)
            if len(folded) >= _MIN_WORD_LETTERS and folded not in stop_words and one not in question_stems:
                found.setdefault(one, folded)
    return list(found.values())[:MAX_HEADING_WORDS]


def _list_asking_sentences(question: str) -> list[str]:
    """Return the questions of a message one by one, without its other sentences; none for a single question alone."""
    sentences = [question[start:end] for start, end in split_sentences(question)]
    asking = [one for one in sentences if one.endswith(QUESTION_MARKS)] if len(sentences) > 1 else [question]
    parts = [part for one in asking for part in split_questions(one)]
    return parts if len(parts) > 1 or len(sentences) > 1 else []


def _describe_terms(question: str, terms: Sequence[ReadTerm]) -> list[str]:
    """Return the question with each term replaced by the beginning of its description, if that is short."""
    text = question
    for term in terms:
        description = _FIRST_CLAUSE.split(term.sense.description, maxsplit=1)[0].strip()
        named = [name for name in (term.sense.expansion, term.mention.surface) if name and name in text]
        is_name = len(description.split()) <= MAX_DESCRIPTION_WORDS and bool(content_stems(description))
        if is_name and named:
            text = text.replace(named[0], description, 1)
    return [text] if text != question else []
