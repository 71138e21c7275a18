"""The document store: what each principal may read by any query, how damage shows, and what a removal leaves."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from corpus_engines import ENGINES, corpus_store

from argot.corpus.corpus import Corpus, Source
from argot.corpus.corpus_schema import MIGRATIONS, NAMES, put_fields
from argot.corpus.database import SqliteCorpusDatabase
from argot.corpus.store.document_store import CorpusStore
from argot.databases import PerEngine
from argot.errors import DamagedStore, InvalidInput, NotFound
from argot.settings import Settings
from argot.sqlite import open_database
from argot.types import EVERYONE, Audience, DerivedText, Passage, Principal, QuestionScope, Triple

OUTSIDER = Principal("olga", frozenset({"sales"}))
MEMBER = Principal("mia", frozenset({"vault"}))
NAMED = Principal("nils")
ROOT = Principal("root", sees_all=True)
SECRET = frozenset({"vault", "@nils"})
TABLES = ("documents", "revisions", "passages", "derived", "derived_passages", "triples", "vectors", "ledger",
          "vector_deletions", "audiences", "document_fields")  # fmt: skip


class PlainDeriver:
    """A deriver of one triple and one question for each passage."""

    name = "plain"

    async def triples(self, passages: Any) -> list[Triple]:
        return [Triple("", "canarytriple", "guards", f"vault {passage.ordinal}", passage.id) for passage in passages]

    async def derived_texts(self, passages: Any) -> list[DerivedText]:
        return [DerivedText("", "question", f"What about canaryderived? {p.ordinal}", (p.id,)) for p in passages]


def source(name: str, text: str) -> Source:
    return Source(f"test:///{name}", name, text.encode)


def add(corpus: Corpus, name: str, text: str, audience: Audience = EVERYONE) -> None:
    events = list(corpus.add([source(name, text)], deriver=PlainDeriver(), audience=audience))
    assert events[1].kind in ("added", "updated"), events[1].detail


@pytest.fixture(params=ENGINES)
def corpus(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Corpus]:
    with corpus_store(request.param, tmp_path / "kb", request) as store:
        opened = Corpus.open(tmp_path / "kb", Settings(threads=1), store=store)
        yield opened
        opened.close()


@pytest.fixture(scope="module", params=ENGINES)
def guarded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """Make a knowledge base with a document for all and one for a group; tests must not change it."""
    folder = tmp_path_factory.mktemp("guarded") / "kb"
    with corpus_store(request.param, folder, request) as store:
        opened = Corpus.open(folder, Settings(threads=1), store=store)
        add(opened, "open.md", "# Opening hours\n\nThe canteen opens at noon.\n")
        add(opened, "secret.md", "# Canary vault\n\nThe canary combination is 4711.\n", SECRET)
        yield opened
        opened.close()


def everything(corpus: Corpus, principal: Principal) -> dict[str, Any]:
    """Return the result of each kind of query; ids are requested by a principal who knows all of them."""
    store = corpus.store
    passages = store.keyword_search(ROOT, "canary", 9)
    derived = store.search_derived_keywords(ROOT, "canaryderived", 9)
    triples = store.search_triple_keywords(ROOT, "canarytriple", 9)
    secret = store.document(ROOT, "secret.md")
    vector = corpus.embedder.embed_queries(["canary combination"])[0]
    names = [document.name for document in store.documents(principal)]
    return {
        "documents": names,
        "passages": list(store.passages(principal, [id_ for id_, _ in passages])),
        "passages of": store.passages_of(principal, secret.id),
        "derived": list(store.derived(principal, [id_ for id_, _ in derived])),
        "triples": list(store.triples(principal, [id_ for id_, _ in triples])),
        "keyword": store.keyword_search(principal, "canary combination", 9),
        "keyword derived": store.search_derived_keywords(principal, "canaryderived", 9),
        "keyword triples": store.search_triple_keywords(principal, "canarytriple", 9),
        "semantic": corpus.search_semantic(principal, "passage", vector, 9),
        "semantic derived": corpus.search_semantic(principal, "derived", vector, 9),
        "semantic triples": corpus.search_semantic(principal, "triple", vector, 9),
        "phrase": store.phrase_count(principal, "canary combination"),
        "phrase passages": store.find_phrase(principal, "canary combination", 9),
        "frequency": store.phrase_count(principal, "canary"),
        "count": store.count_passages(principal),
        "audiences": store.list_audiences(principal),
    }


def test_an_outsider_finds_the_canary_by_no_query(guarded: Corpus) -> None:
    store, secret = guarded.store, guarded.store.document(ROOT, "secret.md")
    met = everything(guarded, OUTSIDER)
    public = {id_ for id_, _ in store.keyword_search(OUTSIDER, "canteen opening hours", 9)}
    assert met["documents"] == ["open.md"]
    for road in ("passages", "passages of", "keyword", "phrase passages"):
        assert met[road] == [], road
    assert (met["phrase"], met["frequency"], met["count"]) == (0, 0, len(public))
    assert met["audiences"] == [EVERYONE]
    assert {id_ for id_, _ in met["semantic"]} == public
    secret_derived = {id_ for id_, _ in store.search_derived_keywords(ROOT, "canaryderived", 9)}
    secret_derived -= {id_ for id_, _ in store.search_derived_keywords(OUTSIDER, "canaryderived", 9)}
    secret_triples = {id_ for id_, _ in store.search_triple_keywords(ROOT, "canarytriple", 9)}
    secret_triples -= {id_ for id_, _ in store.search_triple_keywords(OUTSIDER, "canarytriple", 9)}
    assert len(secret_derived) == len(secret_triples) == 1
    assert not secret_derived & {*met["derived"], *(id_ for id_, _ in met["semantic derived"])}
    assert not secret_triples & {*met["triples"], *(id_ for id_, _ in met["semantic triples"])}
    for wanted in (secret.id, secret.uri, secret.name):
        with pytest.raises(NotFound):
            store.document(OUTSIDER, wanted)
    for read in (store.markdown, store.original, store.revision):
        with pytest.raises(NotFound):
            read(OUTSIDER, secret.revision_id)  # type: ignore[operator]


@pytest.mark.parametrize("insider", [MEMBER, NAMED, ROOT], ids=lambda principal: principal.name)
def test_an_insider_finds_the_canary_by_every_query(guarded: Corpus, insider: Principal) -> None:
    met = everything(guarded, insider)
    assert all(met.values()), [road for road, value in met.items() if not value]
    secret = guarded.store.document(insider, "secret.md")
    assert "4711" in guarded.store.markdown(insider, secret.revision_id)
    assert guarded.store.original(insider, secret.revision_id)[0].startswith(b"# Canary vault")


def test_a_passage_is_read_back_as_it_was_stored(guarded: Corpus) -> None:
    ids = [passage.id for passage in guarded.store.passages_of(ROOT, guarded.store.document(ROOT, "open.md").id)]
    passage, document = guarded.store.passages(ROOT, ids)[ids[0]]
    markdown = guarded.store.markdown(ROOT, passage.revision_id)
    assert isinstance(passage, Passage)
    assert markdown[passage.start : passage.end] == passage.text
    assert passage.heading_path == ("Opening hours",)
    assert document.passages == len(ids)
    assert guarded.store.passages(ROOT, ["pnone", *reversed(ids)]).keys() == set(ids)


def test_a_superseded_revision_serves_citations_but_no_answers(corpus: Corpus) -> None:
    add(corpus, "a.md", "# Limits\n\nThe limit is forty zebras.\n")
    old = corpus.store.document(ROOT, "a.md")
    cited = corpus.store.passages_of(ROOT, old.id)[0]
    add(corpus, "a.md", "# Limits\n\nThe limit is fifty zebras.\n")
    new = corpus.store.document(ROOT, "a.md")
    assert (new.id, new.revision_id != old.revision_id) == (old.id, True)
    assert corpus.store.passages(ROOT, [cited.id]) == {}
    assert corpus.store.phrase_count(ROOT, "forty zebras") == 0
    vector = corpus.embedder.embed_queries([cited.with_header])[0]
    assert cited.id not in dict(corpus.search_semantic(ROOT, "passage", vector, 9))
    gone = corpus.store.revision(ROOT, old.revision_id)
    assert (gone.state, gone.superseded_by) == ("superseded", new.revision_id)
    assert corpus.store.markdown(ROOT, old.revision_id)[cited.start : cited.end] == cited.text
    assert b"forty" in corpus.store.original(ROOT, old.revision_id)[0]
    assert corpus.check() == []


def test_content_that_is_added_again_is_live_again(corpus: Corpus) -> None:
    texts = ("# A\n\nfirst words\n", "# A\n\nsecond words\n")
    for text in (*texts, texts[0]):
        add(corpus, "a.md", text)
    document = corpus.store.document(ROOT, "a.md")
    assert corpus.store.revision(ROOT, document.revision_id).state == "live"
    assert corpus.store.phrase_count(ROOT, "first words") == 1
    assert corpus.store.phrase_count(ROOT, "second words") == 0
    assert corpus.check() == []


def test_removing_a_document_removes_all_its_rows_and_files(corpus: Corpus) -> None:
    add(corpus, "a.md", "# A\n\nfirst zebra\n", SECRET)
    add(corpus, "a.md", "# A\n\nsecond zebra\n")
    assert corpus.remove(ROOT, "a.md").name == "a.md"
    connection = corpus.store.database.connection()
    for table in TABLES:
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0, table
    words = ("passage_vocabulary", "passage_blocks", "passage_readers", "derived_vocabulary", "triple_vocabulary")
    only = ("passage_sequences",)
    if isinstance(corpus.store.database, SqliteCorpusDatabase):
        only = ("passage_words_docsize", "derived_words_docsize", "triple_words_docsize")
    for table in (*words, *only):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0, table
    assert list(corpus.store.blobs) == []
    assert corpus.vectors.counts() == {}
    assert corpus.check() == []
    with pytest.raises(NotFound, match=r"a\.md"):
        corpus.remove(ROOT, "a.md")


def test_an_original_that_two_documents_share_stays_until_both_are_gone(corpus: Corpus) -> None:
    add(corpus, "a.md", "# A\n\nshared\n")
    add(corpus, "b.md", "# A\n\nshared\n", SECRET)
    corpus.remove(ROOT, "a.md")
    kept = corpus.store.document(ROOT, "b.md")
    assert corpus.store.original(ROOT, kept.revision_id)[0] == b"# A\n\nshared\n"
    corpus.remove(ROOT, "b.md")
    assert list(corpus.store.blobs) == []


def test_a_document_is_found_by_id_uri_path_and_name(corpus: Corpus, tmp_path: Path) -> None:
    file = tmp_path / "söme file 100%.md"
    file.write_text("# Title\n\ntext\n")
    list(corpus.add([Source(file.as_uri(), file.name, file.read_bytes)]))
    (document,) = corpus.store.documents(ROOT)
    assert document.name == file.name
    for wanted in (document.id, document.uri, str(file), file.name):
        assert corpus.store.document(ROOT, wanted) == document
    for wanted in ("", "%", "söme", "\x00", "' OR 1=1 --"):
        with pytest.raises(NotFound):
            corpus.store.document(ROOT, wanted)


def test_a_name_of_two_documents_is_refused_and_asks_for_the_uri(corpus: Corpus) -> None:
    add(corpus, "x/a.md", "# A\n\none\n")
    add(corpus, "y/a.md", "# A\n\ntwo\n")
    with pytest.raises(InvalidInput, match=r"test:///y/a\.md"):
        corpus.store.document(ROOT, "a.md")


def test_readers_continue_during_a_write(corpus: Corpus) -> None:
    add(corpus, "a.md", "# A\n\nzebra\n")
    seen: list[int] = []
    begun, stop = threading.Event(), threading.Event()

    def read() -> None:
        while not stop.is_set():
            seen.append(len(corpus.store.keyword_search(ROOT, "zebra", 5)))
            begun.set()

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(120)
    for n in range(5):
        add(corpus, "a.md", f"# A\n\nzebra number {n}\n")
    stop.set()
    for thread in threads:
        thread.join()
    assert set(seen) == {1}


# -- damage ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    opened = Corpus.open(tmp_path / "kb", Settings(threads=1))
    add(opened, "a.md", "# A\n\n" + "zebra crossing " * 200)
    opened.close()
    return tmp_path / "kb" / "corpus.db"


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _other_tables(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE _sqlite_migrations (migration_set, name, applied_at)")
        names = ("m001_documents", "m002_derived", "m003_words", "m004_ingest")
        connection.executemany("INSERT INTO _sqlite_migrations VALUES ('corpus', ?, '')", [(name,) for name in names])
    connection.close()


HARMS: dict[str, Callable[[Path], object]] = {
    "truncated": _truncate,
    "a few bytes left": lambda path: path.write_bytes(path.read_bytes()[:20]),
    "empty": lambda path: path.write_bytes(b""),
    "gone": Path.unlink,
    "another kind of file": lambda path: path.write_bytes(b"hello world " * 500),
    "other tables": _other_tables,
    "first page overwritten": lambda path: path.write_bytes(b"SQLite format 3\x00" + bytes(5000)),
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS.keys())
def test_a_damaged_database_is_found_at_opening(closed: Path, harm: Callable[[Path], object]) -> None:
    harm(closed)
    with pytest.raises(DamagedStore, match="argot restore --force"):
        CorpusStore.open(closed)


def test_a_read_only_store_creates_and_changes_nothing(tmp_path: Path, closed: Path) -> None:
    with pytest.raises(NotFound, match="argot init"):
        CorpusStore.open(tmp_path / "none" / "corpus.db", read_only=True)
    assert not (tmp_path / "none").exists()
    store = CorpusStore.open(closed, read_only=True)
    assert store.phrase_count(ROOT, "zebra crossing") > 0
    with pytest.raises(sqlite3.OperationalError, match="readonly"), store.database.writing() as connection:
        connection.execute("DELETE FROM documents")
    store.close()


def test_a_store_of_an_earlier_version_gets_its_tags_indexed_as_fields(tmp_path: Path) -> None:
    places = (n for n, step in enumerate(MIGRATIONS) if isinstance(step, PerEngine) and step.sqlite is put_fields)
    before = MIGRATIONS[: next(places)]
    with closing(open_database(tmp_path / "corpus.db", before, NAMES)) as old:
        old.execute("INSERT INTO audiences (n, tokens) VALUES (1, '[]')")
        old.execute("INSERT INTO documents VALUES ('d1', 'test:///a', 'A', NULL, '[\"Übung\"]', 1, 'r1', 0)")
    store = CorpusStore.open(tmp_path / "corpus.db")
    assert store.documents_within(ROOT, QuestionScope(tags=("übung",))) == {"d1"}
    assert store.documents_within(ROOT, QuestionScope(tags=("x",))) == frozenset()
    store.close()
