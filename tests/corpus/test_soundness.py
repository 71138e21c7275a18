"""Damage that no error reveals: changed vectors and graphs without links; and how to repair it."""

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from repository import ROOT
from serving import Served, argot, run
from tiny_base import TinyBase

from argot.corpus.corpus import Corpus
from argot.corpus.index.embedded_index import EmbeddedIndex
from argot.corpus.index.generations import check_pages
from argot.corpus.index.soundness import find_vector_faults, sketch_vectors
from argot.corpus.index.vector_graphs import check_graphs
from argot.errors import DamagedStore
from argot.types import EVERYONE, Principal

EVERYTHING = Principal("root", sees_all=True)
SIZE = 32
LOSES_LINKS = 1_000
BENCH = ROOT / "bench" / "damage.py"


def reopened(base: TinyBase) -> Corpus:
    return Corpus.open(base.folder, base.settings, embedder=base.corpus.embedder, for_repair=True)


def damaged(home: Path, change: str) -> None:
    """Change Chroma's database so that each of its pages stays valid."""
    with closing(sqlite3.connect(next(home.rglob("chroma.sqlite3")))) as connection, connection:
        assert connection.execute(change).rowcount


@pytest.mark.parametrize(
    "change",
    [
        # the sign of one number of one vector, which keeps the length
        "UPDATE embeddings_queue SET vector = CAST(substr(vector, 1, 399) || x'bf' || substr(vector, 401) AS BLOB) "
        "WHERE seq_id = (SELECT seq_id FROM embeddings_queue WHERE substr(vector, 400, 1) = x'3d' LIMIT 1)",
        # the last vector replaced by the first one
        "UPDATE embeddings_queue SET vector = (SELECT vector FROM embeddings_queue ORDER BY seq_id LIMIT 1) "
        "WHERE seq_id = (SELECT max(seq_id) FROM embeddings_queue)",
    ],
    ids=["a number", "a whole vector"],
)
def test_a_changed_vector_is_detected_and_rebuilt(tiny_kb: TinyBase, change: str) -> None:
    tiny_kb.corpus.close()
    damaged(tiny_kb.folder, change)
    corpus = reopened(tiny_kb)
    (problem,) = corpus.check()
    assert "1 vectors are not as they were written" in problem.message
    assert problem.remedy == f"argot reindex --home {tiny_kb.folder}"
    corpus.reindex()
    assert corpus.check() == []
    corpus.close()


def test_vectors_older_than_sketches_pass_the_check(tiny_kb: TinyBase) -> None:
    with tiny_kb.corpus.store.database.writing() as connection:
        connection.execute("UPDATE vectors SET sketch = NULL")
    assert tiny_kb.corpus.check() == []


def test_normalising_by_chroma_does_not_change_a_sketch() -> None:
    vectors = np.random.default_rng(1).normal(size=(200, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    again = vectors / np.sqrt((vectors.astype(np.float64) ** 2).sum(1, keepdims=True)).astype(np.float32)
    assert np.allclose(
        np.frombuffer(sketch_vectors(vectors), "<f4"), np.frombuffer(sketch_vectors(again), "<f4"), atol=1e-5
    )


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """Return a saved graph of 2,000 vectors and their sketches; tests must copy it before opening."""
    root = tmp_path_factory.mktemp("graph") / "vectors"
    rows = np.random.default_rng(7).normal(size=(2_000, SIZE)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    index = EmbeddedIndex(root, "g000001", "f")
    index.upsert(index.collection_name("passage", EVERYONE), {f"p{n}:0": row for n, row in enumerate(rows)})
    index.close()
    return root, {f"p{n}:0": sketch_vectors(row[np.newaxis]) for n, row in enumerate(rows)}


def faults(root: Path, written: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    index = EmbeddedIndex(root, "g000001", "f")
    expected = {index.collection_name("passage", EVERYONE): written}
    monkeypatch.setattr("argot.corpus.index.soundness.read_expected_vectors", lambda *_: expected)
    try:
        return list(find_vector_faults(sqlite3.connect(":memory:"), index))
    finally:
        index.close()


def test_a_graph_without_links_is_detected(
    graph: tuple[Path, dict[str, bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, written = graph
    root = shutil.copytree(whole, tmp_path / "vectors")
    assert faults(root, written, monkeypatch) == []
    file = np.memmap(next(root.rglob("data_level0.bin")), np.uint8, "r+").reshape(-1, 132 + 4 * SIZE + 8)
    file[LOSES_LINKS:, :4] = 0
    file[:, 4:132].view("<u4")[:] %= LOSES_LINKS  # nobody has a neighbour among those
    file.flush()
    check_graphs(root, "g000001", thoroughly=True)
    (fault,) = faults(root, written, monkeypatch)
    assert "searches do not find" in fault


def test_flipped_bits_are_detected_and_do_not_crash_the_process(
    graph: tuple[Path, dict[str, bytes]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, written = graph
    chosen = np.random.default_rng(3)
    for trial in range(24):
        root = shutil.copytree(whole, tmp_path / f"{trial}")
        level = next(root.rglob("data_level0.bin"))
        content = bytearray(level.read_bytes())
        row = chosen.integers(len(content) // (140 + 4 * SIZE)) * (140 + 4 * SIZE)
        at = row + 132 + 4 * int(chosen.integers(SIZE)) + 3  # the sign and the exponent's upper bits
        content[at] ^= 1 << int(chosen.integers(8))
        level.write_bytes(content)
        try:
            check_pages(root, "g000001")
            check_graphs(root, "g000001")
            assert "1 vectors are not as they were written" in faults(root, written, monkeypatch)[0]
        except DamagedStore as found:
            assert "argot reindex" in str(found)


def test_a_rebuild_in_the_same_process_repairs_an_open_damaged_index(tiny_kb: TinyBase) -> None:
    corpus = tiny_kb.corpus
    query = corpus.embedder.embed_queries(["tariff"])
    before = corpus.search_semantic(EVERYTHING, "passage", query, 3)
    database = next(tiny_kb.folder.rglob("chroma.sqlite3"))
    database.write_bytes(b"\xff" * database.stat().st_size)
    with pytest.raises(DamagedStore, match="argot reindex"):
        corpus.search_semantic(EVERYTHING, "passage", query, 3)
    assert "argot reindex" in corpus.check()[0].message
    corpus.reindex()
    assert corpus.check() == []
    assert [id_ for id_, _ in corpus.search_semantic(EVERYTHING, "passage", query, 3)] == [id_ for id_, _ in before]


def test_a_service_reports_damage_with_the_remedy_and_keeps_running(tiny_home: Path, tmp_path: Path) -> None:
    home = shutil.copytree(tiny_home, tmp_path / "kb")
    question = ("ask", "What does a late tariff filing cost?", "--home", home)
    with Served(home) as server:
        argot(*question)
        database = next(home.rglob("chroma.sqlite3"))
        database.write_bytes(b"\xff" * database.stat().st_size)
        refused = run(*question)
        assert refused.returncode == 1
        assert f"argot reindex --home {home}" in refused.stderr
        found = run("doctor", "--home", home)
        assert found.returncode == 1
        assert f"-> argot reindex --home {home}" in found.stdout
        argot("reindex", "--home", home)
        argot(*question)
        assert server.running
        assert "Traceback" not in "".join(server.said)


@pytest.mark.slow
def test_the_remedy_repairs_damage_to_any_knowledge_base_file() -> None:
    """Check one kind of damage per file; `bench/damage.py` itself tries many."""
    done = subprocess.run([sys.executable, str(BENCH), "--places", "0"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
