"""The behaviour of every vector index, in a folder and on a Chroma server."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from chroma_server import ChromaRun

from argot.corpus.index.chroma_server import ChromaServer, ServerAddress
from argot.corpus.index.embedded_index import FolderGenerations
from argot.corpus.index.server_index import ServerGenerations
from argot.corpus.index.vector_index import Generations, IndexClosed, VectorIndex
from argot.corpus.vector_ids import parse_item
from argot.errors import DamagedStore, VectorsUnavailable
from argot.protocols import Vectors
from argot.types import EVERYONE

SIZE = 16
INSIDE = frozenset({"inside"})


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaRun]:
    with ChromaRun(tmp_path_factory.mktemp("chroma")) as running:
        yield running


@pytest.fixture(params=["folder", "server"])
def generations(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Generations]:
    if request.param == "folder":
        kept: Generations = FolderGenerations(tmp_path)
    else:
        kept = on_server(request.getfixturevalue("server"), tmp_path)
    yield kept
    kept.close()


@pytest.fixture
def index(generations: Generations) -> Iterator[VectorIndex]:
    made = generations.make(generations.unused_name([]), "f")
    yield made
    made.close()


def on_server(server: ChromaRun, root: Path) -> ServerGenerations:
    return ServerGenerations(ChromaServer(ServerAddress.of(server.url), 60, "argot reindex"), root)


def unit(*values: float) -> Vectors:
    vector = np.zeros(SIZE, np.float32)
    vector[: len(values)] = values
    return vector / np.linalg.norm(vector)


def random_vectors(count: int) -> dict[str, Vectors]:
    rows = np.random.default_rng(7).normal(size=(count, SIZE)).astype(np.float32)
    return {f"p{n}:0": row / np.linalg.norm(row) for n, row in enumerate(rows)}


def test_the_distance_of_an_item_is_that_of_its_nearest_window(index: VectorIndex) -> None:
    index.upsert(
        index.collection_name("passage", EVERYONE),
        {"a:0": unit(0, 1), "a:1": unit(1, 0.1), "b:0": unit(1, 1), "c:0": unit(0, 0, 1)},
    )
    found = index.search("passage", unit(1), [EVERYONE], 3)
    assert [item for item, _ in found] == ["a", "b", "c"]
    assert found[0][1] == pytest.approx(1 / np.hypot(1, 0.1), abs=1e-5)
    assert found[1][1] == pytest.approx(2**-0.5, abs=1e-5)


def test_windows_of_one_item_do_not_crowd_out_others(index: VectorIndex) -> None:
    windows = {f"long:{n}": unit(1, 0.001 * n) for n in range(50)}
    index.upsert(index.collection_name("passage", EVERYONE), {**windows, "short:0": unit(1, 1)})
    assert [item for item, _ in index.search("passage", unit(1), [EVERYONE], 2)] == ["long", "short"]


def test_batched_searches_equal_single_searches(index: VectorIndex) -> None:
    crowd = {f"long:{n}": unit(1, 0.001 * n) for n in range(50)}
    index.upsert(index.collection_name("passage", EVERYONE), {**random_vectors(1500), **crowd})
    index.upsert(index.collection_name("passage", INSIDE), {"secret:0": unit(1, 0.5)})
    queries = np.stack([unit(1), *list(random_vectors(7).values()), unit(0, 1)])
    alone = [index.search("passage", query, [EVERYONE, INSIDE], 20) for query in queries]
    assert index.searches("passage", queries, [EVERYONE, INSIDE], 20) == alone
    assert index.searches("passage", queries[:0], [EVERYONE], 20) == []
    assert index.searches("derived", queries, [EVERYONE], 20) == [[]] * len(queries)


def test_a_search_stays_within_kind_and_audiences(index: VectorIndex) -> None:
    index.upsert(index.collection_name("passage", EVERYONE), {"open:0": unit(1, 1)})
    index.upsert(index.collection_name("passage", INSIDE), {"secret:0": unit(1)})
    index.upsert(index.collection_name("triple", EVERYONE), {"triple:0": unit(1)})
    assert [item for item, _ in index.search("passage", unit(1), [EVERYONE], 5)] == ["open"]
    assert [item for item, _ in index.search("passage", unit(1), [INSIDE, EVERYONE], 5)] == ["secret", "open"]
    assert index.search("derived", unit(1), [EVERYONE], 5) == []
    assert index.search("passage", unit(1), [], 5) == []


def test_writing_replaces_and_deleting_an_unknown_id_is_no_error(index: VectorIndex) -> None:
    name = index.collection_name("passage", EVERYONE)
    index.upsert(name, {"a:0": unit(0, 1)})
    index.upsert(name, {"a:0": unit(1)})
    assert index.counts() == {name: 1}
    assert index.search("passage", unit(1), [EVERYONE], 1)[0][1] == pytest.approx(1)
    index.delete(name, ["a:0", "never:0"])
    index.delete("passage-none", ["a:0"])
    assert index.counts() == {}


def test_search_is_nearly_exact(index: VectorIndex) -> None:
    vectors = random_vectors(3000)
    index.upsert(index.collection_name("passage", EVERYONE), vectors)
    matrix, names = np.stack(list(vectors.values())), [name.partition(":")[0] for name in vectors]
    shares = []
    for query in list(vectors.values())[::300]:
        exact = {names[n] for n in np.argsort(-(matrix @ query))[:50]}
        shares.append(len(exact & {item for item, _ in index.search("passage", query, [EVERYONE], 50)}) / 50)
    assert np.mean(shares) > 0.98


@pytest.mark.parametrize("share", [0.5, 0.02], ids=["half of all", "a small part"])
def test_a_search_among_many_given_items_is_nearly_exact(
    index: VectorIndex, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("argot.corpus.index.chroma_index.MAX_FILTERED_IDS", 50)
    vectors = random_vectors(6000)
    index.upsert(index.collection_name("passage", EVERYONE), vectors)
    only = list(vectors)[: int(share * len(vectors))]
    matrix, names = np.stack([vectors[name] for name in only]), [name.partition(":")[0] for name in only]
    shares = []
    for query in list(vectors.values())[::300]:
        exact = {names[n] for n in np.argsort(-(matrix @ query))[:10]}
        ranked = index.searches("passage", query[np.newaxis], [EVERYONE], 10, {EVERYONE: only})[0]
        assert {item for item, _ in ranked} <= set(names)
        shares.append(len(exact & {item for item, _ in ranked}) / 10)
    assert np.mean(shares) > 0.97


def test_a_search_among_few_given_items_is_exact(index: VectorIndex) -> None:
    vectors = random_vectors(4000)
    vectors |= {id_.replace(":0", ":1"): vectors[f"p{n + 50}:0"] for n, id_ in enumerate(list(vectors)[:40])}
    # Chroma stores directions only, so lengths must not count here either.
    index.upsert(index.collection_name("passage", EVERYONE), {id_: 3 * row for id_, row in vectors.items()})
    few = [id_ for id_ in vectors if int(parse_item(id_)[1:]) < 40]
    queries = np.stack([vectors[f"p{n}:0"] for n in range(0, 4000, 400)])
    found = index.searches("passage", queries, [EVERYONE], 10, {EVERYONE: [*few, "gone:0"]})
    for query, ranked in zip(queries, found, strict=True):
        best: dict[str, float] = {}
        for id_ in few:
            best[parse_item(id_)] = max(float(vectors[id_] @ query), best.get(parse_item(id_), -1.0))
        exact = sorted(best.items(), key=lambda pair: -pair[1])[:10]
        assert [item for item, _ in ranked] == [item for item, _ in exact]
        assert [similarity for _, similarity in ranked] == pytest.approx([value for _, value in exact], abs=1e-5)
    assert index.searches("passage", queries[:1], [EVERYONE], 10, {EVERYONE: []}) == [[]]
    assert index.searches("passage", queries[:1], [EVERYONE], 10, {EVERYONE: ["gone:0"]}) == [[]]


def test_stored_vectors_are_read_back(index: VectorIndex) -> None:
    vectors = random_vectors(1500)
    index.upsert("passages", vectors)
    assert index.ids("passages") == sorted(vectors)
    assert index.counts() == {"passages": 1500}
    found = index.get("passages", [*vectors, "never:0"])
    assert found.keys() == vectors.keys()
    assert all(np.allclose(found[id_], vectors[id_], atol=1e-6) for id_ in vectors)
    ((ids, distances),) = index.nearest("passages", vectors["p7:0"][np.newaxis], 3)
    assert (ids[0], distances[0]) == ("p7:0", pytest.approx(0, abs=1e-6))
    index.probe(SIZE)
    assert (index.ids("none"), index.get("none", ["p1:0"])) == ([], {})


def test_writes_also_go_into_the_copy(generations: Generations, index: VectorIndex) -> None:
    index.copy = generations.make(generations.unused_name([index.generation]), "f")
    index.upsert("passages", random_vectors(3))
    index.delete("passages", ["p1:0"])
    assert index.copy.ids("passages") == index.ids("passages") == ["p0:0", "p2:0"]
    assert index.gone == 1
    index.copy.close()


def test_a_closed_index_refuses_searches(index: VectorIndex) -> None:
    index.close()
    with pytest.raises(IndexClosed):
        index.search("passage", unit(1), [EVERYONE], 1)


def test_the_current_generation_is_reopened_and_others_are_removed(generations: Generations) -> None:
    assert generations.current() is None
    first = generations.unused_name([])
    made = generations.make(first, "f")
    made.upsert("passages", random_vectors(5))
    made.close()
    generations.make_current(first)
    second = generations.unused_name([first])
    generations.make(second, "f").close()
    assert (second != first, generations.current()) == (True, first)
    generations.remove_others(first)
    again = generations.open(first, "f")
    assert again.counts() == {"passages": 5}
    assert again.search("passage", unit(1), [EVERYONE], 5) == []
    again.close()
    with pytest.raises((DamagedStore, VectorsUnavailable), match="argot reindex"):
        generations.open(second, "f")
    generations.check(first)


def test_both_indexes_find_the_same(server: ChromaRun, tmp_path: Path) -> None:
    found = []
    for kept in (FolderGenerations(tmp_path / "a"), on_server(server, tmp_path / "b")):
        made = kept.make(kept.unused_name([]), "f")
        made.upsert(made.collection_name("passage", EVERYONE), random_vectors(1800))
        queries = np.stack(list(random_vectors(40).values()))
        found.append(made.searches("passage", queries, [EVERYONE], 20))
        made.close()
        kept.close()
    for here, there in zip(*found, strict=True):
        assert [item for item, _ in here] == [item for item, _ in there]
        assert [score for _, score in here] == pytest.approx([score for _, score in there], abs=1e-5)
