"""Vectors in a folder: generations, and damage detected at opening. All else is in the conformance suite."""

import os
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromadb.errors import InternalError

from argot.corpus.index import chroma_index
from argot.corpus.index.embedded_chroma import EmbeddedCollection
from argot.corpus.index.embedded_index import EmbeddedIndex, FolderGenerations
from argot.corpus.index.generations import (
    blank_unsaved,
    check_pages,
    convert_errors,
    make_current,
    name_next_generation,
    remove_generations,
)
from argot.corpus.index.vector_graphs import check_graphs
from argot.errors import DamagedStore, StoreUnavailable
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
def index(tmp_path: Path) -> Iterator[EmbeddedIndex]:
    opened = EmbeddedIndex(tmp_path, "g000001", "f")
    yield opened
    opened.close()


def test_graphs_stay_in_memory_under_a_low_open_file_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check it because Chroma sizes its cache by the limit and fails on a graph evicted before it was saved."""
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (600, 600))
    index = EmbeddedIndex(tmp_path, "g000001", "f")
    audiences = [frozenset({f"team{number}"}) for number in range(100)]
    for audience in audiences:
        index.upsert(index.collection_name("passage", audience), {f"{min(audience)}:0": unit(1)})
    # The first search builds a graph from Chroma's log; later searches expect it in memory.
    for audience in audiences * 2:
        assert [item for item, _ in index.search("passage", unit(1), [audience], 1)] == list(audience)
    index.close()


def test_a_search_that_fails_because_of_a_deletion_is_retried(
    index: EmbeddedIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check the retry, since Chroma sometimes fails a search like this while vectors are deleted."""
    index.upsert(index.collection_name("passage", EVERYONE), {"a:0": unit(1)})
    queried, failures = EmbeddedCollection.query, iter(["Internal error: Error finding id"] * 3)

    def query(self: EmbeddedCollection, *given: Any, **more: Any) -> Any:
        if failure := next(failures, ""):
            raise InternalError(failure)
        return queried(self, *given, **more)

    monkeypatch.setattr(EmbeddedCollection, "query", query)
    assert [item for item, _ in index.search("passage", unit(1), [EVERYONE], 1)] == ["a"]
    failures = iter(["Internal error: the disk burns"])
    with pytest.raises(DamagedStore, match=r"burns.*argot reindex"):
        index.search("passage", unit(1), [EVERYONE], 1)


def test_names_of_readers_are_not_stored_in_the_folder(tmp_path: Path, index: EmbeddedIndex) -> None:
    index.upsert(index.collection_name("passage", frozenset({"merger-team"})), {"a:0": unit(1)})
    index.close()
    for file in filter(Path.is_file, tmp_path.rglob("*")):
        assert b"merger-team" not in file.read_bytes()


def test_files_of_an_unsaved_graph_are_zeroed_without_harm(tmp_path: Path) -> None:
    """Check every file in which Chroma allocates space: it holds earlier contents of the process's memory."""
    index = EmbeddedIndex(tmp_path, "g000001", "f")
    vectors = random_vectors(1100)
    name = index.collection_name("passage", EVERYONE)
    index.upsert(name, dict(list(vectors.items())[:50]))
    assert index.search("passage", vectors["p7:0"], [EVERYONE], 1)[0][0] == "p7"  # the first search makes the files
    allocated = {file.name: file for file in tmp_path.rglob("*.bin") if file.name != "header.bin"}
    for file in allocated.values():
        file.write_bytes(b"valve" * 20 + file.read_bytes()[100:] if file.stat().st_size else b"")
    blank_unsaved(tmp_path, "g000001")
    assert {name: file.read_bytes().strip(b"\0") for name, file in allocated.items()} == {
        "data_level0.bin": b"", "length.bin": b"", "link_lists.bin": b""
    }  # fmt: skip
    index.upsert(name, dict(list(vectors.items())[50:]))  # enough to be saved
    index.close()
    check_graphs(tmp_path, "g000001")
    reopened = FolderGenerations(tmp_path).open("g000001", "f")
    assert reopened.search("passage", vectors["p7:0"], [EVERYONE], 1)[0][0] == "p7"
    assert next(tmp_path.rglob("index_metadata.pickle")).is_file()
    reopened.close()


def test_generations_are_numbered_and_old_ones_removed(tmp_path: Path) -> None:
    assert FolderGenerations(tmp_path).current() is None
    assert name_next_generation(tmp_path) == "g000001"
    EmbeddedIndex(tmp_path, "g000001", "f").close()
    make_current(tmp_path, "g000001")
    assert FolderGenerations(tmp_path).current() == "g000001"
    assert name_next_generation(tmp_path) == "g000002"
    (tmp_path / "g000002").mkdir()
    remove_generations(tmp_path, but="g000001")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["CURRENT", "g000001"]


@pytest.mark.parametrize("pointer", ["", "../outside", "g000009"])
def test_a_pointer_to_a_missing_generation_is_damage(tmp_path: Path, pointer: str) -> None:
    (tmp_path / "CURRENT").write_text(pointer)
    with pytest.raises(DamagedStore, match="argot reindex"):
        FolderGenerations(tmp_path).current()


def _shorten(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


@pytest.mark.parametrize(
    "harm", [_shorten, lambda file: os.truncate(file, 0), Path.unlink], ids=["half", "empty", "gone"]
)
@pytest.mark.parametrize(
    "name",
    ["chroma.sqlite3", "data_level0.bin", "header.bin", "length.bin", "link_lists.bin", "index_metadata.pickle"],
)
def test_a_damaged_file_is_detected_at_opening(
    large_index: Path, tmp_path: Path, name: str, harm: Callable[[Path], None]
) -> None:
    root = shutil.copytree(large_index, tmp_path / "vectors")
    harm(next(root.rglob(name)))
    with pytest.raises(DamagedStore, match="argot reindex"):
        _open_and_probe(root)


@pytest.mark.parametrize(
    ("name", "at", "bit"),
    [
        *(("header.bin", at, 6) for at in (15, 20, 27, 36, 44, 52, 57, 60, 71, 76, 91, 99)),
        ("data_level0.bin", 0, 6),  # of the number of neighbours, then of one of them, a vector's number, a label
        ("data_level0.bin", 7, 4),
        ("data_level0.bin", 132 + 3, 6),
        ("data_level0.bin", 132 + 4 * SIZE, 5),
        ("length.bin", 403, 6),
    ],
)
def test_a_flipped_bit_is_detected_before_the_graph_is_loaded(
    large_index: Path, tmp_path: Path, name: str, at: int, bit: int
) -> None:
    """Check it before loading: most such graphs crash the process when loaded, and some keep it busy for ever."""
    root = shutil.copytree(large_index, tmp_path / "vectors")
    file = next(root.rglob(name))
    _write(file, at, bytes([file.read_bytes()[at] ^ 1 << bit]))
    with pytest.raises(DamagedStore, match=r"(truncated|not as it was written) \(.*argot reindex"):
        check_graphs(root, "g000001")


def test_a_missing_neighbour_on_an_upper_level_is_detected(large_index: Path, tmp_path: Path) -> None:
    root = shutil.copytree(large_index, tmp_path / "vectors")
    links = next(root.rglob("link_lists.bin"))
    content, at = links.read_bytes(), 0
    while content[at : at + 4] == bytes(4):  # elements of the lowest level alone
        at += 4
    _write(links, at + 8, b"\xff\xff\xff\x7f")
    with pytest.raises(DamagedStore, match=r"link_lists\.bin.*argot reindex"):
        check_graphs(root, "g000001")


@pytest.mark.parametrize("page", range(0, 30, 3))
def test_a_zeroed_page_of_the_chroma_database_is_detected(large_index: Path, tmp_path: Path, page: int) -> None:
    root = shutil.copytree(large_index, tmp_path / "vectors")
    _write(next(root.rglob("chroma.sqlite3")), page * 4096, bytes(4096))
    with pytest.raises(DamagedStore, match="argot reindex"):
        _open_and_probe(root)


def test_small_tables_are_checked_in_a_database_of_any_size(
    large_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("argot.corpus.index.generations.SMALL_BYTES", 0)
    root = shutil.copytree(large_index, tmp_path / "vectors")
    check_pages(root, "g000001")
    _write(next(root.rglob("chroma.sqlite3")), 4096 * _page_of(root, "tenants"), bytes(4096))
    with pytest.raises(DamagedStore, match="argot reindex"):
        check_pages(root, "g000001")


def test_a_panic_of_chroma_is_damage_and_affects_no_other_index(large_index: Path, tmp_path: Path) -> None:
    """Check that a panic, which is no `Exception`, is handled and does not affect the rebuilt index in this process."""
    root = shutil.copytree(large_index, tmp_path / "vectors")
    _write(next(root.rglob("chroma.sqlite3")), 9 * 4096, bytes(4096))  # of the schema
    with pytest.raises(DamagedStore, match=r"argot reindex") as found:
        EmbeddedIndex(root, "g000001", "f")
    assert type(found.value.__cause__).__module__ == "pyo3_runtime"
    fresh = EmbeddedIndex(root, "g000002", "f")
    fresh.upsert("passages", random_vectors(20))
    assert fresh.counts() == {"passages": 20}
    fresh.close()


def test_damage_to_an_open_index_is_reported(large_index: Path, tmp_path: Path) -> None:
    root = shutil.copytree(large_index, tmp_path / "vectors")
    index = EmbeddedIndex(root, "g000001", "f")
    name = index.collection_name("passage", EVERYONE)
    database = next(root.rglob("chroma.sqlite3"))
    _write(database, 0, b"\xff" * database.stat().st_size)
    for use in (
        lambda: index.search("passage", unit(1), [EVERYONE], 5),
        lambda: index.get(name, ["p1:0"]),
        lambda: index.upsert(name, {"new:0": unit(1)}),
        lambda: index.delete(name, ["p1:0"]),
    ):
        with pytest.raises(DamagedStore, match="argot reindex"):
            use()
    index.close()


def test_an_operating_system_error_is_not_reported_as_damage(tmp_path: Path) -> None:
    for code, remedy in (
        ("(code: 8) attempt to write a readonly database", "read and write"),
        ("(code: 5) busy", "Wait"),
    ):
        with pytest.raises(StoreUnavailable, match=remedy), convert_errors(tmp_path):
            raise InternalError(f"error returned from database: {code}")
    with pytest.raises(KeyboardInterrupt), convert_errors(tmp_path):
        raise KeyboardInterrupt


def test_a_lost_list_of_ids_is_detected_whatever_the_log_contains(tmp_path: Path) -> None:
    """Check it although the log alone holds as many vectors as the probe asks for."""
    index = EmbeddedIndex(tmp_path, "g000001", "f")
    vectors = random_vectors(1300)
    for wanted in (list(vectors)[:1200], list(vectors)[1200:]):
        index.upsert("passages", {id_: vectors[id_] for id_ in wanted})
    index.close()
    make_current(tmp_path, "g000001")
    _open_and_probe(tmp_path)
    next(tmp_path.rglob("index_metadata.pickle")).unlink()
    with pytest.raises(DamagedStore, match="argot reindex"):
        _open_and_probe(tmp_path)


def test_a_graph_never_saved_is_not_damage(tmp_path: Path) -> None:
    index = EmbeddedIndex(tmp_path, "g000001", "f")
    index.upsert("passages", random_vectors(90))
    index.close()
    make_current(tmp_path, "g000001")
    assert not list(tmp_path.rglob("index_metadata.pickle"))
    _open_and_probe(tmp_path)


def test_a_larger_collection_is_searched_more_broadly(
    large_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(shutil.copytree(large_index, tmp_path / "vectors"))
    assert [chroma_index.choose_breadth(count) for count in (0, 15_000, 15_001, 500_000, 9_000_000)] == [
        *(200, 200, 400, 3_200, 3_200)
    ]
    monkeypatch.setattr(chroma_index, "VECTORS_OF_BREADTH", 2)
    generations, (query, *_) = FolderGenerations(root), random_vectors(2500).values()
    with closing(EmbeddedIndex(root, "g000001", "f")) as before:
        found = before.search("passage", query, [EVERYONE], 10)
    with closing(generations.open("g000001", "f")) as wider:
        (collection,) = wider._collections.values()
        assert collection.configuration_json["hnsw"]["ef_search"] == 1_600
        assert not wider.fit_breadth(wider.counts())
        ranked = wider.search("passage", query, [EVERYONE], 10)
    assert ranked[0] == found[0] and {item for item, _ in ranked} >= {item for item, _ in found[:5]}
    rows = np.stack([*random_vectors(2500).values()])
    exact = [f"p{place}" for place in np.argsort(-(rows @ query))[:10]]
    assert [item for item, _ in ranked] == exact


def test_an_undamaged_index_passes_the_check(large_index: Path) -> None:
    check_graphs(large_index, "g000001")


def test_an_altered_list_of_ids_is_detected_by_a_thorough_check(large_index: Path, tmp_path: Path) -> None:
    check_graphs(large_index, "g000001", thoroughly=True)
    root = shutil.copytree(large_index, tmp_path / "vectors")
    ids = next(root.rglob("index_metadata.pickle"))
    _write(ids, ids.read_bytes().rindex(b"p7:0"), b"p8")
    check_graphs(root, "g000001")
    with pytest.raises(DamagedStore, match=r"index_metadata\.pickle.*argot reindex"):
        check_graphs(root, "g000001", thoroughly=True)


def _write(file: Path, at: int, content: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(at)
        opened.write(content)


def _page_of(root: Path, table: str) -> int:
    """Return the page number of a table, counted from 0."""
    with closing(sqlite3.connect(next(root.rglob("chroma.sqlite3")))) as connection:
        return int(connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]) - 1


@pytest.fixture(scope="module")
def large_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an index of more than 1,000 vectors, whose graphs Chroma saves as files; tests must copy it first."""
    root = tmp_path_factory.mktemp("large") / "vectors"
    index = EmbeddedIndex(root, "g000001", "f")
    index.upsert(index.collection_name("passage", EVERYONE), random_vectors(2500))
    index.close()
    make_current(root, "g000001")
    return root


def _open_and_probe(root: Path) -> None:
    generation = FolderGenerations(root).current()
    assert generation is not None
    check_pages(root, generation)
    check_graphs(root, generation)
    index = EmbeddedIndex(root, generation, "f")
    try:
        index.probe(SIZE)
    finally:
        index.close()
