"""Documents of an earlier Argot get quantised vectors in the background, and these follow every change."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from argot.corpus.corpus import Corpus, Source
from argot.corpus.index import document_search
from argot.corpus.index.quantised_vectors import add_quantised, find_nearest_quantised, forget_quantised
from argot.corpus.index.vector_index import IndexClosed
from argot.corpus.vector_ids import build_vector_id
from argot.settings import Settings
from argot.types import EVERYONE, Audience, Principal

ROOT = Principal("root", sees_all=True)
ANN = Principal("ann")
INSIDE = frozenset({"inside"})
SETTINGS = Settings(threads=1)
QUESTION = "Which pump is checked?"


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    opened = Corpus.open(tmp_path / "kb", SETTINGS)
    _add(opened, *(f"{n}.md" for n in range(40)))
    _add(opened, "secret.md", audience=INSIDE)
    yield opened
    opened.close()


def _add(corpus: Corpus, *names: str, audience: Audience = EVERYONE, text: str = "checked") -> None:
    sources = [Source(f"test:///{name}", name, f"# {name}\n\nThe pump is {text}.\n".encode) for name in names]
    list(corpus.add(sources, audience=audience))


def _rows(corpus: Corpus) -> dict[tuple[str, str], tuple[str, bytes, Any]]:
    rows = corpus.store.database.connection().execute(
        "SELECT document, kind, vectors, signs, numbers FROM quantised_vectors WHERE generation = ?",
        (corpus.vectors.generation,),
    )
    return {(document, kind): (ids, signs, np.frombuffer(data, "<f2")) for document, kind, ids, signs, data in rows}


def _change(corpus: Corpus, change: str) -> None:
    with corpus.store.database.writing() as connection:
        connection.execute(f"UPDATE quantised_vectors SET {change} WHERE kind = 'passage'")


def _forget(corpus: Corpus, documents: int) -> None:
    with corpus.store.database.writing() as connection:
        connection.execute(
            "DELETE FROM quantised_vectors WHERE document IN (SELECT id FROM documents ORDER BY id LIMIT ?)",
            (documents,),
        )


def _found(corpus: Corpus, principal: Principal = ROOT) -> list[tuple[str, float]]:
    within = frozenset(document.id for document in corpus.store.documents(ROOT))
    return corpus.search_semantic(principal, "passage", corpus.embedder.embed_queries([QUESTION])[0], 50, within)


def test_documents_of_an_earlier_argot_get_quantised_vectors(corpus: Corpus) -> None:
    home, before, found = corpus.home, _rows(corpus), _found(corpus)
    _forget(corpus, 30)
    assert _ids(_found(corpus)) == _ids(found) and corpus.check() == []
    corpus.close()
    again = Corpus.open(home, SETTINGS)
    try:
        again.quantising.wait()
        after = _rows(again)
        assert after.keys() == before.keys()
        for key, (ids, signs, numbers) in before.items():
            assert (after[key][0], after[key][1]) == (ids, signs)
            # Chroma normalises a vector when it is written, which may change the last bit.
            np.testing.assert_allclose(after[key][2].astype(float), numbers.astype(float), atol=1e-3)
        assert _ids(_found(again)) == _ids(found) and again.check() == []
    finally:
        again.close()


def test_quantised_vectors_and_the_graph_find_the_same(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    compared, of_ann = _found(corpus), _found(corpus, ANN)
    assert len(compared) == len(of_ann) + 1 == 41
    monkeypatch.setattr(document_search, "FEW_DOCUMENTS", 0)
    for found, by_graph in ((compared, _found(corpus)), (of_ann, _found(corpus, ANN))):
        assert {id_ for id_, _ in found} == {id_ for id_, _ in by_graph}
        similar = dict(by_graph)
        assert all(similarity == pytest.approx(similar[id_], abs=1e-3) for id_, similarity in found)


def test_quantised_vectors_follow_changes(corpus: Corpus) -> None:
    _add(corpus, "0.md", text="painted")
    corpus.relabel(ROOT, "1.md", INSIDE, None)
    corpus.remove(ROOT, "2.md")
    assert corpus.check() == []
    assert len(_found(corpus)) == 40 and len(_found(corpus, ANN)) == 38
    corpus.compacting.run(corpus.vectors)
    assert corpus.check() == [] and len(_found(corpus)) == 40
    corpus.reindex()
    assert corpus.check() == [] and len(_found(corpus)) == 40
    generations = corpus.store.database.connection().execute("SELECT DISTINCT generation FROM quantised_vectors")
    assert [name for (name,) in generations] == [corpus.vectors.generation]


@pytest.mark.parametrize(
    "change",
    [
        "signs = substr(signs, 2)",
        "signs = x''",
        "numbers = substr(numbers, 2)",
        "numbers = x''",
        "numbers = CAST(hex(numbers) AS TEXT)",
    ],
)
def test_damaged_quantised_vectors_are_reported_and_documents_still_found(corpus: Corpus, change: str) -> None:
    found = _found(corpus)
    _change(corpus, change)
    assert _ids(_found(corpus)) == _ids(found)
    (problem,) = corpus.check()
    assert "quantised vectors of 41 documents" in problem.message and "reindex" in problem.remedy


@pytest.mark.parametrize(
    "change", ["vectors = '', signs = x'', numbers = x''", "numbers = zeroblob(length(numbers))", "vectors = 'p:0'"]
)
def test_wrong_quantised_vectors_are_reported_and_rebuilt(corpus: Corpus, change: str) -> None:
    _change(corpus, change)
    (problem,) = corpus.check()
    assert "quantised vectors of 41 documents" in problem.message
    corpus.reindex()
    assert corpus.check() == []


def test_a_generation_replaced_by_another_service_is_not_searched(corpus: Corpus) -> None:
    """Check it when no rows of the old generation are left."""
    index = corpus.vectors
    with corpus.store.database.writing() as connection:
        for table, column in (("vectors", "generation"), ("quantised_vectors", "generation"), ("generations", "name")):
            connection.execute(f"UPDATE {table} SET {column} = 'another'")
    query = corpus.embedder.embed_queries([QUESTION])
    within = [document.id for document in corpus.store.documents(ROOT)]
    with pytest.raises(IndexClosed):
        document_search.find_nearest_within(corpus.store.database, index, "passage", query, [EVERYONE], 5, within)


def test_closing_does_not_wait_for_another_writer(corpus: Corpus) -> None:
    _forget(corpus, 30)
    corpus.quantising.start_if_due(corpus.vectors)
    with corpus._changing:
        corpus.quantising.close()
    assert corpus.quantising._thread and not corpus.quantising._thread.is_alive()


def test_texts_derived_in_parts_are_quantised_once(corpus: Corpus) -> None:
    (document, *_) = corpus.store.documents(ROOT)
    rows, generation = np.eye(3, corpus.embedder.dimensions, dtype=np.float32), corpus.vectors.generation
    parts = "SELECT part, vectors FROM quantised_vectors WHERE document = ? AND kind = 'derived' ORDER BY part"
    with corpus.store.database.writing() as connection:
        for n, row in enumerate(rows):
            add_quantised(connection, generation, document.id, {"derived": {build_vector_id(f"x{n}", 0): row}})
        assert [tuple(row) for row in connection.execute(parts, (document.id,))] == [
            (0, ""), (1, "x0:0"), (2, "x1:0"), (3, "x2:0")
        ]  # fmt: skip
        forget_quantised(connection, generation, document.id, "derived", {"x1"})
        found, unknown = find_nearest_quantised(connection, generation, "derived", rows, [EVERYONE], 1, [document.id])
    assert not unknown and [ranked[0][0] for ranked in (found[0], found[2])] == ["x0", "x2"]
    assert found[1][0][1] == 0


def _ids(found: list[tuple[str, float]]) -> set[str]:
    return {id_ for id_, _ in found}
