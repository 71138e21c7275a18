"""Sets of documents as vectors of their passages, and questions with the passages that answer them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from argot.corpus.corpus import Corpus
from argot.corpus.vector_ids import parse_item
from argot.learn.passage_reader.known_questions import (
    TRAINER,
    ends_with_name,
    list_held_back,
    list_quotes,
    open_base,
    read_questions,
)
from argot.protocols import Vectors
from argot.settings import Settings
from argot.tools.retrieval.quoted_passages import QuotationFinder
from argot.types import EVERYONE, Passage


@dataclass(frozen=True, slots=True)
class SearchedSet:
    """The vectors of one set's passages, (passages, dimensions), the texts of its questions, and `right`: the rows of
    the passages that answer each question, at least one. `source` names the set, `fingerprint` the embedder.
    """

    source: str
    fingerprint: str
    passages: Vectors
    texts: tuple[str, ...]
    right: tuple[tuple[int, ...], ...]


def read_searched_sets(sets: Iterable[Path], work: Path, split: str, settings: Settings) -> Iterator[SearchedSet]:
    """Read each set that has questions of the split whose answer is in a passage.

    Training sees no passage of a document that belongs to another split.
    """
    for folder in sorted(sets, key=lambda one: one.name):
        rows = read_questions(folder)
        known = [(row["question"], list_quotes(row)) for row in rows if row["split"] == split and row["gold"]]
        if known:
            with open_base(folder, work, settings) as corpus:
                found = _read_set(folder.name, corpus, known, list_held_back(rows) if split == "train" else set())
            if found.right:
                yield found


def _read_set(name: str, corpus: Corpus, known: list[tuple[str, list[str]]], held_back: set[str]) -> SearchedSet:
    documents = [one for one in corpus.store.documents(TRAINER) if not ends_with_name(one.uri, held_back)]
    passages = {one.id: one for document in documents for one in corpus.store.passages_of(TRAINER, document.id)}
    items, vectors = _read_vectors(corpus, passages)
    rows: dict[str, list[int]] = {}
    for row, item in enumerate(items):
        rows.setdefault(item, []).append(row)
    finder = QuotationFinder()
    answered: list[tuple[str, tuple[int, ...]]] = []
    for question, quotes in known:
        holding = finder.find_passages(quotes, passages.values())
        if right := tuple(row for one in holding for row in rows.get(one.id, ())):
            answered.append((question, right))
    texts, right_rows = tuple(question for question, _ in answered), tuple(right for _, right in answered)
    return SearchedSet(name, corpus.embedder.fingerprint, vectors, texts, right_rows)


def _read_vectors(corpus: Corpus, passages: dict[str, Passage]) -> tuple[list[str], Vectors]:
    """Return the passage of each vector, and the vectors; a long passage has several."""
    collection = corpus.vectors.collection_name("passage", EVERYONE)
    ids = [id_ for id_ in corpus.vectors.ids(collection) if parse_item(id_) in passages]
    stored = corpus.vectors.get(collection, ids)
    return [parse_item(id_) for id_ in ids], np.array([stored[id_] for id_ in ids], dtype=np.float32)
