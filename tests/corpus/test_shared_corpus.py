"""Several processes with one corpus on PostgreSQL: none undoes another's pending change, and all search alike."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import shared_corpus as support
from chroma_server import ChromaRun
from shared_corpus import put_in, shared_corpus

from argot.corpus.corpus import Corpus
from argot.corpus.ingestion import compaction
from argot.errors import StoreUnavailable
from argot.types import Principal

ROOT = Principal("root", sees_all=True)


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ChromaRun(tmp_path_factory.mktemp("chroma")) as running:
        yield running.url


@pytest.fixture
def store(postgresql_server: Any, postgresql_url: str) -> str:
    return support.as_ordinary_user(postgresql_server, postgresql_url)


@pytest.fixture
def corpus(store: str, chroma: str, tmp_path: Path) -> Iterator[Corpus]:
    with shared_corpus(store, chroma, tmp_path / "here") as opened:
        put_in(opened, "a.md", "b.md")
        yield opened


def found(corpus: Corpus) -> list[str]:
    vector = corpus.embedder.embed_queries(["Which pump is checked?"])[0]
    ids = [id_ for id_, _ in corpus.search_semantic(ROOT, "passage", vector, 9)]
    return sorted(passage.text.split()[-3] for passage, _ in corpus.store.passages(ROOT, ids).values())


class Adder:
    """A process that adds a document, and stops in the middle of its group."""

    def __init__(self, store: str, chroma: str, home: Path, *names: str) -> None:
        command = [sys.executable, support.__file__, store, chroma, str(home), *names]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "under way\n"

    def goes_on(self) -> str:
        said, _ = self.process.communicate("\n", timeout=300)
        return said.split()[-1]

    def is_killed(self) -> None:
        self.process.kill()
        self.process.communicate()


def left(corpus: Corpus) -> int:
    rows = corpus.store.database.connection().execute("SELECT count(*) FROM vector_deletions").fetchall()
    return int(rows[0][0])


# -- one writer among all processes -----------------------------------------------------------------------------------


def test_opening_the_corpus_keeps_the_pending_change_of_another_process(
    corpus: Corpus, store: str, chroma: str, tmp_path: Path
) -> None:
    adder = Adder(store, chroma, tmp_path / "there", "c.md")
    with shared_corpus(store, chroma, tmp_path / "third") as beside:
        assert found(beside) == ["a.md", "b.md"] and left(beside) > 0
        assert adder.goes_on() == "added"
        assert found(beside) == found(corpus) == ["a.md", "b.md", "c.md"]
        put_in(beside, "d.md")
    assert (found(corpus), corpus.check(), left(corpus)) == (["a.md", "b.md", "c.md", "d.md"], [], 0)


def test_the_pending_change_of_a_killed_process_is_undone(
    corpus: Corpus, store: str, chroma: str, tmp_path: Path
) -> None:
    adder = Adder(store, chroma, tmp_path / "there", "c.md")
    adder.is_killed()
    corpus.remove(ROOT, "b.md")  # waits until PostgreSQL has noticed the end of that process
    assert (found(corpus), corpus.check(), left(corpus)) == (["a.md"], [], 0)
    assert len(list(corpus.store.blobs)) == 1


def test_closing_does_not_wait_for_another_writer(
    corpus: Corpus, store: str, chroma: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "MIN_GONE_VECTORS", 0)
    adder = Adder(store, chroma, tmp_path / "there", "c.md")
    with shared_corpus(store, chroma, tmp_path / "third") as beside:
        beside.vectors.gone = 100
        beside.compacting.start_if_due()
        closing = threading.Thread(target=beside.close, daemon=True)
        closing.start()
        closing.join(timeout=60)
        waits = closing.is_alive()
        assert adder.goes_on() == "added"
    assert not waits
    assert (found(corpus), corpus.check()) == (["a.md", "b.md", "c.md"], [])


def test_a_change_that_lost_its_lock_is_discarded(
    corpus: Corpus, store: str, chroma: str, tmp_path: Path, postgresql_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    upsert = corpus.vectors.upsert

    def upserted_and_cut_off(*given: Any) -> None:
        upsert(*given)
        end_lock(postgresql_server, store)

    monkeypatch.setattr(corpus.vectors, "upsert", upserted_and_cut_off)
    with pytest.raises(StoreUnavailable, match="Do it again"):
        put_in(corpus, "c.md")
    monkeypatch.undo()
    with shared_corpus(store, chroma, tmp_path / "there") as beside:
        assert (found(beside), beside.check()) == (["a.md", "b.md"], [])
    put_in(corpus, "c.md")
    assert (found(corpus), corpus.check()) == (["a.md", "b.md", "c.md"], [])


def end_lock(server: Any, store: str) -> None:
    """End the connections of this database that hold a session lock, as a network failure does."""
    database = store.rpartition("/")[2]
    server.execute(
        "SELECT pg_terminate_backend(l.pid, 60000) FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid "
        f"WHERE l.locktype = 'advisory' AND a.state = 'idle' AND a.datname = '{database}'"
    )


# -- one live generation for all --------------------------------------------------------------------------------------


def test_other_processes_continue_with_vectors_rebuilt_by_one(
    corpus: Corpus, store: str, chroma: str, tmp_path: Path
) -> None:
    with shared_corpus(store, chroma, tmp_path / "there") as beside:
        before = corpus.vectors.generation
        beside.reindex()
        assert found(corpus) == ["a.md", "b.md"] and corpus.vectors.generation > before
        beside.compacting.run(beside.vectors)
        put_in(corpus, "c.md")
        assert found(beside) == found(corpus) == ["a.md", "b.md", "c.md"]
        assert corpus.vectors.generation == beside.vectors.generation
        assert corpus.check() == []
