"""Semantic search within given documents: few are compared exactly, many by the nearest of all passages."""

import random
from pathlib import Path

import numpy as np
import pytest
from random_documents import ROOT, write

from argot.corpus.index import document_search
from argot.corpus.index.document_search import find_nearest_within
from argot.corpus.index.embedded_index import FolderGenerations
from argot.corpus.index.quantised_vectors import (
    add_quantised,
    find_nearest_quantised,
    forget_quantised,
    list_documents_without,
)
from argot.corpus.store.document_store import CorpusStore
from argot.corpus.vector_ids import build_vector_id
from argot.protocols import Vectors
from argot.types import EVERYONE

INSIDE = frozenset({"inside"})
SIZE = 16


@pytest.mark.parametrize("quantised", [0, 1, 2], ids=["none", "half", "all"])
@pytest.mark.parametrize(("few", "most"), [(1_000, 2_000), (0, 2_000), (0, 10)], ids=["few", "widened", "too wide"])
def test_the_nearest_passages_of_the_given_documents_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int, most: int, quantised: int
) -> None:
    """Check that the nearest passages are found.

    Args:
        quantised: halves of the documents that have quantised vectors; those of an earlier Argot have none.
    """
    monkeypatch.setattr(document_search, "FEW_DOCUMENTS", few)
    monkeypatch.setattr(document_search, "MAX_CANDIDATES", most)
    store, dice, drawn = CorpusStore.open(tmp_path / "corpus.db"), random.Random(3), np.random.default_rng(3)
    index = FolderGenerations(tmp_path / "vectors").make("g000001", "f")
    for name in map(str, range(30)):
        write(store, dice, name)
    with store.database.writing() as connection:
        connection.execute("INSERT INTO generations VALUES (?, 'f', ?)", (index.generation, SIZE))
    vectors = {}
    for place, document in enumerate(store.documents(ROOT)):
        passages = store.passages_of(ROOT, document.id)
        rows = drawn.normal(size=(len(passages), SIZE)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        own = dict(zip([passage.id for passage in passages], rows, strict=True))
        index.upsert(
            index.collection_name("passage", document.audience),
            {build_vector_id(id_, 0): row for id_, row in own.items()},
        )
        with store.database.writing() as connection:
            connection.executemany(
                "INSERT INTO vectors (generation, item, kind, document, windows) VALUES (?, ?, 'passage', ?, 1)",
                [(index.generation, id_, document.id) for id_ in own],
            )
            if place % 2 < quantised:
                named = {build_vector_id(id_, 0): row for id_, row in own.items()}
                add_quantised(connection, index.generation, document.id, {"passage": named})
        vectors[document] = own
    wanted = list(vectors)[::2]
    queries = drawn.normal(size=(5, SIZE)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    for audiences in ([EVERYONE], [EVERYONE, INSIDE]):
        readable = {id_: row for one in wanted if one.audience in audiences for id_, row in vectors[one].items()}
        ids = [document.id for document in wanted]
        found = find_nearest_within(store.database, index, "passage", queries, audiences, 5, ids)
        for query, ranked in zip(queries, found, strict=True):
            exact = sorted(readable, key=lambda id_: -float(readable[id_] @ query))[:5]
            assert [id_ for id_, _ in ranked] == exact
    index.close()
    store.close()


def test_quantised_vectors_find_the_nearest_of_many_passages(tmp_path: Path) -> None:
    """Use vectors as they occur in practice: clustered around common centres."""
    store, drawn, generation = CorpusStore.open(tmp_path / "corpus.db"), np.random.default_rng(5), "g000001"
    write(store, random.Random(5), "one")
    (document,) = store.documents(ROOT)
    middles = _drawn(drawn, 200, 384)
    rows = middles[drawn.integers(len(middles), size=4_000)] + 0.7 * _drawn(drawn, 4_000, 384)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    queries = middles[:20] + 0.7 * _drawn(drawn, 20, 384)
    queries = (queries / np.linalg.norm(queries, axis=1, keepdims=True)).astype(np.float32)
    named = {build_vector_id(f"p{n}", 0): row.astype(np.float32) for n, row in enumerate(rows)}
    with store.database.writing() as connection:
        add_quantised(connection, generation, document.id, {"passage": named})
    connection = store.database.connection()
    found, unknown = find_nearest_quantised(
        connection, generation, "passage", queries, [document.audience], 10, [document.id]
    )
    assert not unknown
    shared = 0
    for query, ranked in zip(queries, found, strict=True):
        similarities = rows @ query
        exact = np.argsort(-similarities)[:10]
        shared += len({f"p{n}" for n in exact} & {id_ for id_, _ in ranked})
        for id_, similarity in ranked:
            assert similarity == pytest.approx(float(similarities[int(id_[1:])]), abs=1e-3)
    assert shared >= 198  # of 200
    store.close()


def test_quantised_vectors_are_replaced_and_removed_with_their_revision(tmp_path: Path) -> None:
    store, generation = CorpusStore.open(tmp_path / "corpus.db"), "g000001"
    write(store, random.Random(5), "one")
    (document,) = store.documents(ROOT)
    east, north = np.eye(16, dtype=np.float32)[:2]

    def nearest(query: Vectors) -> tuple[list[tuple[str, float]], set[str]]:
        found, unknown = find_nearest_quantised(
            store.database.connection(), generation, "passage", query[np.newaxis], [document.audience], 5, [document.id]
        )
        return found[0], unknown

    def add(**vectors: Vectors) -> None:
        with store.database.writing() as connection:
            named = {build_vector_id(item, 0): row for item, row in vectors.items()}
            add_quantised(connection, generation, document.id, {"passage": named})

    assert nearest(east) == ([], {document.id})
    add(a=east)
    add(b=north)
    assert nearest(east) == ([("a", 1.0), ("b", 0.0)], set())
    add(a=north)
    assert nearest(north) == ([("a", 1.0), ("b", 1.0)], set())
    with store.database.writing() as connection:
        forget_quantised(connection, generation, document.id, "passage", {"a"})
    assert nearest(north) == ([("b", 1.0)], set())
    assert list_documents_without(store.database.connection(), generation, "", 5) == []
    # An earlier Argot replaces the document but leaves the row.
    with store.database.writing() as connection:
        connection.execute("UPDATE documents SET revision = 'another'")
    assert nearest(north) == ([], {document.id})
    assert list_documents_without(store.database.connection(), generation, "", 5) == [document.id]
    store.close()


def _drawn(drawn: np.random.Generator, count: int, size: int) -> Vectors:
    rows = drawn.normal(size=(count, size)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)
