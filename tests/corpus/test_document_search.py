"""Searches by meaning within some documents: of few their vectors are named, of many it is looked among the nearest."""

import random
from pathlib import Path

import numpy as np
import pytest
from random_documents import ROOT, write

from argot.corpus.index import document_search
from argot.corpus.index.document_search import nearest_within
from argot.corpus.index.embedded_index import FolderGenerations
from argot.corpus.store.document_store import CorpusStore
from argot.corpus.vector_ids import vector_id
from argot.types import EVERYONE

INSIDE = frozenset({"inside"})
SIZE = 16


@pytest.mark.parametrize(("few", "most"), [(1_000, 2_000), (0, 2_000), (0, 10)], ids=["named", "widened", "too wide"])
def test_the_nearest_of_the_documents_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int, most: int
) -> None:
    monkeypatch.setattr(document_search, "FEW_DOCUMENTS", few)
    monkeypatch.setattr(document_search, "MOST_LOOKED_AT", most)
    store, dice, drawn = CorpusStore.open(tmp_path / "corpus.db"), random.Random(3), np.random.default_rng(3)
    index = FolderGenerations(tmp_path / "vectors").make("g000001", "f")
    for name in map(str, range(30)):
        write(store, dice, name)
    vectors = {}
    for document in store.documents(ROOT):
        passages = store.passages_of(ROOT, document.id)
        rows = drawn.normal(size=(len(passages), SIZE)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        own = dict(zip([passage.id for passage in passages], rows, strict=True))
        index.upsert(
            index.collection_name("passage", document.audience), {vector_id(id_, 0): row for id_, row in own.items()}
        )
        with store.database.writing() as connection:
            connection.executemany(
                "INSERT INTO vectors (generation, item, kind, document, windows) VALUES (?, ?, 'passage', ?, 1)",
                [(index.generation, id_, document.id) for id_ in own],
            )
        vectors[document] = own
    wanted = list(vectors)[::2]
    queries = drawn.normal(size=(5, SIZE)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    for audiences in ([EVERYONE], [EVERYONE, INSIDE]):
        readable = {id_: row for one in wanted if one.audience in audiences for id_, row in vectors[one].items()}
        connection = store.database.connection()
        ids = [document.id for document in wanted]
        found = nearest_within(connection, index, "passage", queries, audiences, 5, ids)
        for query, ranked in zip(queries, found, strict=True):
            exact = sorted(readable, key=lambda id_: -float(readable[id_] @ query))[:5]
            assert [id_ for id_, _ in ranked] == exact
    index.close()
    store.close()
