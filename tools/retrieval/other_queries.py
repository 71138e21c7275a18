"""Other search queries by rules, after a search that did not find the answer: without a model, or if it proposes none.

Each query has fewer or other words than the question: its own or those of the passages found. No query adds a fact,
since the passages that it finds are judged for the question itself. People see the queries, so each one reads like a
question of theirs.
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
from argot.types import Hit

MAX_QUERIES = 3
MIN_LIKENESS = 0.55
"""Cosine of a word that no document has with the word of a heading that replaces it."""
MAX_HEADING_WORDS = 80
"""Words of headings that are compared: embedding them takes most of the time."""
_WORD = re.compile(r"[^\W\d_](?:['’-]?[^\W\d_])*")
_MIN_WORD_LETTERS = 4
_POINTS_BACK = re.compile(r"\b(?:it|its|they|them|their|he|she|him|his|her)\b", re.IGNORECASE)
_MIN_ASKING_STEMS = 2
"""Content words of a question that is searched without the rest of its message: "What am I supposed to do?" has one."""


def propose_queries(
    question: str, message: str, hits: Sequence[Hit], embedder: Embedder, count: Callable[[str], int]
) -> list[str]:
    """Return up to `MAX_QUERIES` other queries; none if no rule applies.

    Args:
        question: the question as it was searched.
        message: the asker's own words, without what a follow-up takes from the question before.
        hits: the passages found, best first.
        count: returns how many passages have a word.
    """
    proposed = [
        *_say_in_heading_words(question, hits, embedder, count),
        *_list_asking_sentences(question, message),
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


def _list_asking_sentences(question: str, message: str) -> list[str]:
    """Return the questions of a message one by one, without its other sentences; none for a single question alone.

    A question that needs the rest of the message ("Where do I get it?") is left out.
    """
    sentences = [question[start:end] for start, end in split_sentences(question)]
    asking = [one for one in sentences if one.endswith(QUESTION_MARKS)] if len(sentences) > 1 else [question]
    parts = [part for one in asking for part in split_questions(one)]
    own = set(content_stems(message))
    stems_of_parts = [(part, content_stems(part)) for part in parts if len(parts) > 1 or len(sentences) > 1]
    return [
        part
        for part, stems in stems_of_parts
        if len(stems) >= _MIN_ASKING_STEMS and own.intersection(stems) and not _POINTS_BACK.search(part)
    ]
