"""The vector index: collections by reader, windows folded to items, and damage found when it is opened."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromadb.api.models.Collection import Collection
from chromadb.errors import InternalError

from argot.corpus.index.generations import (
    check_graphs,
    current_generation,
    make_current,
    next_generation,
    remove_generations,
)
from argot.corpus.index.vectors import IndexClosed, VectorIndex
from argot.errors import DamagedStore
from argot.protocols import Vectors
from argot.types import EVERYONE

SIZE = 16
INSIDE = frozenset({"inside"})


def unit(*values: float) -> Vectors:
    vector = np.zeros(SIZE, np.float32)
    vector[: len(values)] = values
    return vector / np.linalg.norm(vector)


def random_vectors(count: int) -> dict[str, Vectors]:
    rows = np.random.default_rng(7).normal(size=(count, SIZE)).astype(np.float32)
    return {f"p{n}:0": row / np.linalg.norm(row) for n, row in enumerate(rows)}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[VectorIndex]:
    opened = VectorIndex(tmp_path, "g000001", "f")
    yield opened
    opened.close()


def test_an_item_is_as_near_as_its_nearest_window(index: VectorIndex) -> None:
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


def test_several_searches_at_once_find_what_each_finds_alone(index: VectorIndex) -> None:
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


def test_writing_again_replaces_and_deleting_the_unknown_is_no_error(index: VectorIndex) -> None:
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


def test_a_search_that_met_a_deletion_is_made_again(index: VectorIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """So Chroma fails a search now and then while vectors are deleted."""
    index.upsert(index.collection_name("passage", EVERYONE), {"a:0": unit(1)})
    queried, failures = Collection.query, iter(["Internal error: Error finding id"] * 3)

    def query(self: Collection, *given: Any, **more: Any) -> Any:
        if failure := next(failures, ""):
            raise InternalError(failure)
        return queried(self, *given, **more)

    monkeypatch.setattr(Collection, "query", query)
    assert [item for item, _ in index.search("passage", unit(1), [EVERYONE], 1)] == ["a"]
    failures = iter(["Internal error: the disk burns"])
    with pytest.raises(InternalError, match="burns"):
        index.search("passage", unit(1), [EVERYONE], 1)


def test_names_of_readers_are_nowhere_in_the_folder(tmp_path: Path, index: VectorIndex) -> None:
    index.upsert(index.collection_name("passage", frozenset({"merger-team"})), {"a:0": unit(1)})
    index.close()
    for file in filter(Path.is_file, tmp_path.rglob("*")):
        assert b"merger-team" not in file.read_bytes()


def test_a_closed_index_says_so(index: VectorIndex) -> None:
    index.close()
    with pytest.raises(IndexClosed):
        index.search("passage", unit(1), [EVERYONE], 1)


def test_generations(tmp_path: Path) -> None:
    assert current_generation(tmp_path) is None
    assert next_generation(tmp_path) == "g000001"
    VectorIndex(tmp_path, "g000001", "f").close()
    make_current(tmp_path, "g000001")
    assert current_generation(tmp_path) == "g000001"
    assert next_generation(tmp_path) == "g000002"
    (tmp_path / "g000002").mkdir()
    remove_generations(tmp_path, but="g000001")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["CURRENT", "g000001"]


@pytest.mark.parametrize("pointer", ["", "../outside", "g000009"])
def test_a_pointer_to_nothing_is_damage(tmp_path: Path, pointer: str) -> None:
    (tmp_path / "CURRENT").write_text(pointer)
    with pytest.raises(DamagedStore, match="argot reindex"):
        current_generation(tmp_path)


def _shorten(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


@pytest.mark.parametrize(
    "harm", [_shorten, lambda file: os.truncate(file, 0), Path.unlink], ids=["half", "empty", "gone"]
)
@pytest.mark.parametrize(
    "name",
    ["chroma.sqlite3", "data_level0.bin", "header.bin", "length.bin", "link_lists.bin", "index_metadata.pickle"],
)
def test_a_harmed_file_is_found_at_opening(
    large_index: Path, tmp_path: Path, name: str, harm: Callable[[Path], None]
) -> None:
    import shutil

    root = shutil.copytree(large_index, tmp_path / "vectors")
    harm(next(root.rglob(name)))
    with pytest.raises(DamagedStore, match="argot reindex"):
        _open_and_probe(root)


def test_a_lost_list_of_ids_is_found_whatever_the_log_holds(tmp_path: Path) -> None:
    """The log alone would give as many vectors as the probe wants."""
    index = VectorIndex(tmp_path, "g000001", "f")
    vectors = random_vectors(1300)
    for wanted in (list(vectors)[:1200], list(vectors)[1200:]):
        index.upsert("passages", {id_: vectors[id_] for id_ in wanted})
    index.close()
    make_current(tmp_path, "g000001")
    _open_and_probe(tmp_path)
    next(tmp_path.rglob("index_metadata.pickle")).unlink()
    with pytest.raises(DamagedStore, match="argot reindex"):
        _open_and_probe(tmp_path)


def test_a_graph_never_saved_is_no_damage(tmp_path: Path) -> None:
    index = VectorIndex(tmp_path, "g000001", "f")
    index.upsert("passages", random_vectors(90))
    index.close()
    make_current(tmp_path, "g000001")
    assert not list(tmp_path.rglob("index_metadata.pickle"))
    _open_and_probe(tmp_path)


def test_an_unharmed_index_passes(large_index: Path) -> None:
    check_graphs(large_index, "g000001")


@pytest.fixture(scope="module")
def large_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Above a thousand vectors Chroma saves graphs as files of their own. To be copied, not opened."""
    root = tmp_path_factory.mktemp("large") / "vectors"
    index = VectorIndex(root, "g000001", "f")
    index.upsert(index.collection_name("passage", EVERYONE), random_vectors(2500))
    index.close()
    make_current(root, "g000001")
    return root


def _open_and_probe(root: Path) -> None:
    generation = current_generation(root)
    assert generation is not None
    index = VectorIndex(root, generation, "f")
    try:
        index.probe(SIZE)
    finally:
        index.close()
