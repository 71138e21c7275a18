"""A knowledge base whose vectors are on a Chroma server: what is found, also when the server fails."""

import http.server
import json
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from chroma_server import ChromaRun

from argot.corpus.corpus import Corpus, Source
from argot.corpus.index import chroma_index
from argot.corpus.index.chroma_server import ChromaServer, ServerAddress
from argot.corpus.ingestion import ingest_job, live_vectors
from argot.corpus.ingestion.ingest_job import IngestEvent
from argot.errors import InvalidSettings, VectorsUnavailable
from argot.service.maintenance.vector_server_check import check_vector_server
from argot.settings import Settings, load_settings
from argot.types import Principal

ROOT = Principal("root", sees_all=True)
INSIDE = frozenset({"inside"})
NOWHERE = "http://127.0.0.1:9"
LONG_SECONDS = 45
"""More than work takes that waits for nothing, on however busy a machine."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaRun]:
    with ChromaRun(tmp_path_factory.mktemp("chroma")) as running:
        yield running


@pytest.fixture
def corpus(server: ChromaRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Corpus]:
    monkeypatch.setattr(live_vectors, "RETRY_SECONDS", 0.1)
    monkeypatch.setattr(ingest_job, "PAUSE_SECONDS", 0.2)
    with opened(tmp_path / "kb", server.url) as corpus:
        add(corpus, "a.md", "b.md", "c.md")
        yield corpus


@contextmanager
def opened(home: Path, url: str, seconds: float = 60) -> Iterator[Corpus]:
    corpus = Corpus.open(home, Settings(chroma_url=url, chroma_seconds=seconds, threads=1))
    try:
        yield corpus
    finally:
        corpus.close()


def add(corpus: Corpus, *names: str, **labels: Any) -> list[IngestEvent]:
    return list(corpus.add([source(name) for name in names], **labels))


def source(name: str) -> Source:
    return Source(f"test:///{name}", name, f"# {name}\n\nThe pump of {name} is checked.\n".encode)


def found(corpus: Corpus, principal: Principal = ROOT) -> list[tuple[str, float]]:
    vector = corpus.embedder.embed_queries(["Which pump is checked?"])[0]
    return corpus.search_semantic(principal, "passage", vector, 9)


def kinds(events: list[IngestEvent]) -> list[str]:
    return [event.kind for event in events if event.kind not in ("found", "done")]


# -- what is found ----------------------------------------------------------------------------------------------------


def test_a_server_finds_the_same_as_a_folder(corpus: Corpus, tmp_path: Path) -> None:
    add(corpus, "secret.md", audience=INSIDE)
    with opened(tmp_path / "other", "") as here:
        add(here, "a.md", "b.md", "c.md")
        add(here, "secret.md", audience=INSIDE)
        for principal in (ROOT, Principal("ann"), Principal("bob", groups=INSIDE)):
            ours, theirs = found(here, principal), found(corpus, principal)
            assert [id_ for id_, _ in ours] == [id_ for id_, _ in theirs]
            assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], abs=1e-5)
    assert corpus.check() == []


def test_changes_reach_the_server(corpus: Corpus) -> None:
    corpus.remove(ROOT, "a.md")
    corpus.relabel(ROOT, "b.md", INSIDE, None)
    assert (len(found(corpus)), len(found(corpus, Principal("ann")))) == (2, 1)
    corpus.compacting.run(corpus.vectors)
    assert len(found(corpus)) == 2
    before = corpus.vectors.generation
    corpus.reindex()
    assert corpus.vectors.generation > before
    assert (len(found(corpus)), corpus.check()) == (2, [])


def test_knowledge_bases_that_share_a_server_are_separate(corpus: Corpus, server: ChromaRun, tmp_path: Path) -> None:
    shutil.copytree(corpus.home, tmp_path / "restored", ignore=lambda *_: {"vectors"})
    with opened(tmp_path / "restored", server.url) as restored:
        assert (restored.by_words_alone, found(restored)) == (True, [])
        restored.reindex()
        restored.remove(ROOT, "a.md")
        assert (len(found(restored)), len(found(corpus))) == (2, 3)
    assert corpus.check() == []


def test_a_reindex_moves_vectors_to_the_server_and_back(server: ChromaRun, tmp_path: Path) -> None:
    home = tmp_path / "kb"
    with opened(home, "") as corpus:
        add(corpus, "a.md")
    with opened(home, server.url) as corpus:
        with pytest.raises(VectorsUnavailable, match=r"still lie in .*argot reindex"):
            _ = corpus.vectors
        corpus.reindex()
        assert len(found(corpus)) == 1
    assert not [*(home / "vectors").glob("g*")]
    mended = Corpus.open(home, Settings(threads=1), for_repair=True)
    mended.reindex()
    assert len(found(mended)) == 1
    mended.close()


# -- the server goes, and comes back ----------------------------------------------------------------------------------


def test_without_the_server_the_corpus_opens_and_searches_by_words(
    server: ChromaRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "kb"
    monkeypatch.setattr(live_vectors, "RETRY_SECONDS", 2 * LONG_SECONDS)
    with opened(home, server.url) as corpus:
        add(corpus, "a.md")
    with opened(home, NOWHERE) as corpus:
        started = time.monotonic()
        assert (found(corpus), corpus.by_words_alone) == ([], True)
        assert time.monotonic() - started < LONG_SECONDS
        assert len(corpus.store.keyword_search(ROOT, "pump", 5)) == 1
        (problem,) = corpus.check()
        assert NOWHERE in problem.message
        with pytest.raises(VectorsUnavailable, match="cannot be reached"):
            corpus.remove(ROOT, "a.md")


def test_added_documents_wait_for_the_server(corpus: Corpus, server: ChromaRun) -> None:
    server.stop()
    adding = corpus.add([source("d.md"), source("e.md")])
    seen = [next(adding) for _ in range(2)]
    assert (seen[-1].kind, server.url in seen[-1].detail) == ("waiting", True)
    assert found(corpus) == []
    server.start()
    assert {event.kind for event in adding} <= {"waiting", "added", "done"}
    assert (len(found(corpus)), corpus.by_words_alone, corpus.check()) == (5, False, [])


def test_documents_fail_whole_when_the_server_stays_down(
    corpus: Corpus, server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ingest_job.WRITE_WAIT_SECONDS, "documents", 0)
    server.stop()
    try:
        assert kinds(add(corpus, "d.md"))[-1] == "failed"
        assert len(corpus.store.documents(ROOT)) == 3
    finally:
        server.start()
    assert kinds(add(corpus, "a.md", "d.md")) == ["unchanged", "added"]
    assert (len(found(corpus)), corpus.check()) == (4, [])


def test_acknowledged_documents_survive_a_restart_of_the_server(corpus: Corpus, server: ChromaRun) -> None:
    acknowledged = []
    for event in corpus.add([source(f"{n}.md") for n in range(80)]):
        if event.kind == "added":
            acknowledged.append(event.name)
            if len(acknowledged) == 1:
                server.stop()
                server.start()
    assert len(acknowledged) == 80
    assert (corpus.by_words_alone, corpus.check()) == (False, [])


def test_documents_removed_during_an_outage_stay_removed(
    corpus: Corpus, server: ChromaRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    from argot.corpus.ingestion import document_changes

    removing = document_changes.remove_document

    def removed(*given: Any, **more: Any) -> None:
        removing(*given, **more)
        server.stop()

    monkeypatch.setattr(document_changes, "remove_document", removed)
    corpus.remove(ROOT, "a.md")
    assert len(corpus.store.documents(ROOT)) == 2
    server.start()
    time.sleep(live_vectors.RETRY_SECONDS)
    assert (len(found(corpus)), corpus.check()) == (2, [])


def test_a_search_does_not_wait_long_for_a_slow_server(
    server: ChromaRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_vectors, "RETRY_SECONDS", 2 * LONG_SECONDS)
    with opened(tmp_path / "kb", server.url, seconds=60) as corpus:
        add(corpus, "a.md")
    with opened(tmp_path / "kb", server.url, seconds=1) as corpus:
        server.freeze()
        try:
            started = time.monotonic()
            assert [found(corpus) for _ in range(5)] == [[]] * 5
            assert time.monotonic() - started < LONG_SECONDS
            assert corpus.by_words_alone
        finally:
            server.thaw()


def test_a_reindex_restores_vectors_that_the_server_lost(corpus: Corpus, server: ChromaRun) -> None:
    server.stop()
    shutil.rmtree(server.folder / "data")
    server.start()
    assert (found(corpus), corpus.by_words_alone) == ([], True)
    assert set(kinds(add(corpus, "d.md"))) == {"failed"}
    (problem,) = corpus.check()
    assert "argot reindex" in problem.message
    corpus.reindex()
    assert (len(found(corpus)), corpus.check()) == (3, [])
    assert kinds(add(corpus, "d.md")) == ["added"]


def test_vectors_lost_by_the_server_are_detected_at_opening(corpus: Corpus, server: ChromaRun) -> None:
    index = corpus.vectors
    (name,) = index.counts()
    index.delete(name, index.ids(name)[:1])
    with opened(corpus.home, server.url) as again:
        assert again.by_words_alone
        (problem,) = again.check()
        assert "2 vectors instead of 3" in problem.message


# -- what answers, and what is said of it -----------------------------------------------------------------------------


class Impostor(http.server.BaseHTTPRequestHandler):
    """A server that answers every request with `said`."""

    said: tuple[int, bytes] = (200, b"<html>Welcome</html>")
    authorised: list[str | None] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.authorised.append(self.headers.get("Authorization"))
        self.send_response(self.said[0])
        self.end_headers()
        self.wfile.write(self.said[1])

    do_POST = do_GET

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def impostor() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Impostor) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield listening.server_port
        listening.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (200, b"<html>Welcome</html>", "no Chroma server"),
        (404, b"Not Found", "no Chroma server"),
        (200, b"{}", "has version"),
        (200, '"\u00b2.0"'.encode(), "has version"),
        (200, json.dumps("0.5.23").encode(), "has version 0.5.23"),
        (401, json.dumps({"error": "AuthError", "message": "Forbidden"}).encode(), "refuses the name and password"),
        (401, b"401 Authorization Required", "refuses the name and password"),
        (500, json.dumps({"error": "InternalError", "message": "disk is full"}).encode(), "Free some space"),
        (500, json.dumps({"error": "InternalError", "message": "out of order"}).encode(), "out of order"),
    ],
)
def test_a_server_that_cannot_be_used_is_reported(
    impostor: int, monkeypatch: pytest.MonkeyPatch, status: int, body: bytes, told: str
) -> None:
    monkeypatch.setattr(Impostor, "said", (status, body))
    server = ChromaServer(ServerAddress.of(f"http://127.0.0.1:{impostor}"), 60, "argot reindex")
    with pytest.raises(VectorsUnavailable, match=told):
        server.version()
    server.close()


def test_a_password_is_sent_and_never_shown(impostor: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    url = f"http://ann:s3cr%40t@127.0.0.1:{impostor}"
    settings = load_settings(chroma_url=url)
    (finding,) = check_vector_server(settings)
    assert Impostor.authorised[-1] == "Basic YW5uOnMzY3JAdA=="
    for shown in (repr(finding), repr(settings), repr(ServerAddress.of(url)), caplog.text):
        assert "s3cr" not in shown
        assert "YW5u" not in shown


@pytest.mark.parametrize("url", ["ann:s3cret@host", "http://", "ftp://h:1", "http://ann:s3cret@h:x", "http://h/path"])
def test_an_invalid_address_is_refused_without_repeating_it(url: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="http://HOST:PORT") as refused:
        Corpus.open(tmp_path, Settings(chroma_url=url))
    assert "s3cret" not in str(refused.value)
    (finding,) = check_vector_server(Settings(chroma_url=url))
    assert not finding["ok"]


def test_the_doctor_checks_the_server(server: ChromaRun) -> None:
    assert list(check_vector_server(Settings())) == []
    (finding,) = check_vector_server(Settings(chroma_url=server.url))
    assert (finding["ok"], server.url in finding["detail"]) == (True, True)
    (finding,) = check_vector_server(Settings(chroma_url=NOWHERE))
    assert (finding["ok"], "chroma run" in finding["remedy"]) == (False, True)


def test_a_larger_collection_is_searched_more_broadly(
    server: ChromaRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "kb", server.url) as corpus:
        add(corpus, "a.md", "b.md", "c.md")
    monkeypatch.setattr(chroma_index, "VECTORS_OF_BREADTH", 0.01)
    for _ in range(2):
        with opened(tmp_path / "kb", server.url) as corpus:
            (collection,) = corpus.vectors._collections.values()  # type: ignore[attr-defined]
            assert collection.configuration_json["hnsw"]["ef_search"] == 400
            assert not corpus.vectors.fit_breadth(corpus.vectors.counts())  # type: ignore[attr-defined]
