"""Adding documents: the outcome of each source, that a kill leaves no partial state, and rebuilding the index."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import killing
import pytest

from argot.corpus.corpus import Corpus, Source
from argot.corpus.embedding.embedder import load_embedder
from argot.corpus.ingestion import document_group
from argot.corpus.ingestion.ingest_job import IngestEvent
from argot.corpus.ingestion.sources import list_sources
from argot.corpus.store import blobs
from argot.errors import DamagedStore, ModelUnavailable, NotFound
from argot.settings import Settings
from argot.types import EVERYONE, DerivedText, Principal, Triple

ROOT = Principal("root", sees_all=True)
EVE = Principal("eve")
INSIDE = frozenset({"inside"})
SETTINGS = Settings(threads=1)


class Deriver:
    """A deriver with the output of real ones, which can be down."""

    def __init__(self, name: str = "one", down: bool = False) -> None:
        self.name = name
        self.down = down
        self.loops: set[int] = set()

    async def triples(self, passages: Any) -> list[Triple]:
        if self.down:
            raise ModelUnavailable("no answer")
        self.loops.add(id(asyncio.get_running_loop()))
        return [Triple("x", "menu", "edit", f"image {self.name}", p.id) for p in passages for _ in range(2)]

    async def derived_texts(self, passages: Any) -> list[DerivedText]:
        self.loops.add(id(asyncio.get_running_loop()))
        return [
            DerivedText("x", "summary", f"All about it, says {self.name}.", tuple(p.id for p in passages)),
            DerivedText("y", "question", "Of another document?", ("p0",)),
        ]


def source(name: str, text: str | bytes) -> Source:
    data = text.encode() if isinstance(text, str) else text
    return Source(f"test:///{name}", name, lambda: data, len(data))


def add(corpus: Corpus, *sources: Source, **how: Any) -> list[IngestEvent]:
    events = list(corpus.add(sources, **how))
    assert (events[0].kind, events[-1].kind) == ("found", "done")
    assert [event.done for event in events[1:-1]] == list(range(1, len(sources) + 1))
    return events[1:-1]


def kinds(corpus: Corpus, *sources: Source, **how: Any) -> list[str]:
    return [event.kind for event in add(corpus, *sources, **how)]


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    opened = Corpus.open(tmp_path / "kb", SETTINGS)
    yield opened
    opened.close()


LEFT_OUT = ("added_at", "sketch")


def dump(corpus: Corpus) -> dict[str, Any]:
    """Return every row, vector id and original, without times and sketches: the last bits of a sketch depend on what
    else was embedded at the same time.
    """
    connection = corpus.store.database.connection()
    tables = "audiences documents revisions passages derived derived_passages triples vectors ledger vector_deletions"
    rows = {}
    for table in tables.split():
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[1] not in LEFT_OUT]
        rows[table] = sorted(connection.execute(f"SELECT {', '.join(columns)} FROM {table}"), key=repr)
    index = corpus.vectors
    vectors = {name: index.ids(name) for name in sorted(index.counts())}
    return {"rows": rows, "vectors": vectors, "originals": list(corpus.store.blobs)}


# -- what a source becomes ------------------------------------------------------------------------------------------


def test_sources_are_added_unchanged_or_updated(corpus: Corpus) -> None:
    assert kinds(corpus, source("a.md", "# A\n\none\n"), source("b.md", "# B\n\ntwo\n")) == ["added", "added"]
    before = dump(corpus)
    version = corpus.store.version
    assert kinds(corpus, source("a.md", "# A\n\none\n"), source("b.md", "# B\n\ntwo\n")) == ["unchanged"] * 2
    assert dump(corpus) == before
    assert corpus.store.version == version
    assert kinds(corpus, source("a.md", "# A\n\nchanged\n")) == ["updated"]
    assert corpus.store.version > version


def test_the_same_content_under_another_name_is_a_duplicate(corpus: Corpus) -> None:
    events = add(corpus, source("a.md", "# A\n\none\n"), source("copy.md", "# A\n\none\n"))
    assert [event.kind for event in events] == ["added", "duplicate"]
    assert events[1].document is not None
    assert events[1].document.name == "a.md"
    assert "a.md" in events[1].detail
    assert [document.name for document in corpus.store.documents(ROOT)] == ["a.md"]


def test_a_copy_is_kept_when_its_original_changes_in_the_same_run(corpus: Corpus) -> None:
    """Add the copy first, while the store still has its content as the other document."""
    add(corpus, source("b.md", "# B\n\none\n"))
    sources = source("a.md", "# B\n\none\n"), source("b.md", "# B\n\nchanged\n")
    assert kinds(corpus, *sources) == ["updated", "added"]
    assert corpus.store.phrase_count(ROOT, "one") == 1
    assert kinds(corpus, *sources) == ["unchanged"] * 2
    copies = source("a2.md", "# B\n\nchanged\n"), source("a3.md", "# B\n\nchanged\n"), sources[1]
    assert kinds(corpus, *copies) == ["unchanged", "duplicate", "duplicate"]


def test_the_same_content_for_other_readers_is_a_separate_document(corpus: Corpus) -> None:
    add(corpus, source("a.md", "# A\n\none\n"))
    assert kinds(corpus, source("inside.md", "# A\n\none\n"), audience=INSIDE) == ["added"]
    assert len(corpus.store.documents(ROOT)) == 2
    assert len(corpus.store.documents(EVE)) == 1


def test_a_file_listed_twice_is_added_once(corpus: Corpus) -> None:
    assert kinds(corpus, source("a.md", "# A\n\none\n"), source("a.md", "# A\n\none\n")) == ["added", "unchanged"]
    assert kinds(corpus, source("a.md", "# A\n\ntwo\n"), source("a.md", "# A\n\nthree\n")) == ["updated", "updated"]
    assert corpus.store.phrase_count(ROOT, "three") == 1


def test_changing_the_readers_of_a_document_does_not_read_it_again(corpus: Corpus) -> None:
    text = source("a.md", "# A\n\nzebra words\n")
    add(corpus, text, deriver=Deriver())
    assert kinds(corpus, text, audience=INSIDE, tags=["x", "x"]) == ["updated"]
    (document,) = corpus.store.documents(ROOT)
    assert (document.audience, document.tags) == (INSIDE, ("x",))
    vector = corpus.embedder.embed_queries(["zebra words"])[0]
    for kind in ("passage", "derived", "triple"):
        assert corpus.search_semantic(EVE, kind, vector, 5) == []
        assert len(corpus.search_semantic(ROOT, kind, vector, 5)) == 1
    assert corpus.store.keyword_search(EVE, "zebra", 5) == []
    assert corpus.check() == []
    reopened = dump(corpus)
    corpus.close()
    again = Corpus.open(corpus.home, SETTINGS)
    assert dump(again) == reopened
    again.close()


def test_omitted_labels_are_kept(corpus: Corpus) -> None:
    add(corpus, source("a.md", "# A\n\none\n"), audience=INSIDE, tags=["t"])
    assert kinds(corpus, source("a.md", "# A\n\none\n")) == ["unchanged"]
    assert kinds(corpus, source("a.md", "# A\n\ntwo\n")) == ["updated"]
    (document,) = corpus.store.documents(ROOT)
    assert (document.audience, document.tags) == (INSIDE, ("t",))
    assert kinds(corpus, source("a.md", "# A\n\ntwo\n"), audience=EVERYONE) == ["updated"]
    assert len(corpus.store.documents(EVE)) == 1


def test_one_bad_file_does_not_stop_the_others(corpus: Corpus) -> None:
    def missing() -> bytes:
        raise FileNotFoundError(2, "No such file or directory")

    events = add(
        corpus,
        source("empty.md", ""),
        Source("test:///gone.md", "gone.md", missing),
        source("fake.pdf", b"%PDF-1.4 nonsense"),
        Source("test:///huge.md", "huge.md", missing, size=10**12),
        Source("test:///odd.xyz", "odd.xyz", missing, skip="unknown kind of file"),
        source("good.md", "# Good\n\nwords\n"),
    )
    assert [event.kind for event in events] == ["failed"] * 4 + ["skipped", "added"]
    assert [event.name for event in events[:4]] == ["empty.md", "gone.md", "fake.pdf", "huge.md"]
    assert all(event.detail for event in events)
    assert "ARGOT_MAX_FILE_MB" in events[3].detail
    assert len(list(corpus.store.blobs)) == 1


def test_folders_are_listed_without_hidden_and_unknown_files(tmp_path: Path) -> None:
    for name in ("b.md", "a.txt", ".hidden.md", "sub/c.MD", "sub/.git/d.md", "tool.exe", "sub/z.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    found = list(list_sources([tmp_path]))
    assert [one.name for one in found] == ["a.txt", "b.md", "tool.exe", "c.MD", "z.md"]
    assert [one.name for one in found if one.skip] == ["tool.exe"]
    assert found[0].uri == (tmp_path / "a.txt").as_uri()
    assert found[0].load() == b"a.txt"
    based = list(list_sources([tmp_path], "https://wiki.example/docs/"))
    assert based[3].uri == "https://wiki.example/docs/sub/c.MD"
    (named,) = list_sources([tmp_path / "tool.exe"])
    assert not named.skip, "a file that is named itself is tried, and refused by name"


def test_a_folder_that_cannot_be_opened_is_reported_by_name(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.md").write_text("one")
    walk = list_sources([tmp_path])
    assert next(walk).name == "a.md"
    (tmp_path / "sub").rmdir()
    (found,) = walk
    assert (found.name, found.skip) == ("sub", "")
    with pytest.raises(FileNotFoundError):
        found.load()


# -- derivers -------------------------------------------------------------------------------------------------------


def test_derived_texts_are_stored_once_and_searchable(corpus: Corpus) -> None:
    deriver = Deriver()
    add(corpus, source("a.md", "# A\n\none\n"), source("b.md", "# B\n\ntwo\n"), deriver=deriver)
    assert len(deriver.loops) == 1, "a client kept by a deriver lives in one event loop"
    found = corpus.store.search_triple_keywords(ROOT, "edit image", 9)
    assert len(found) == 2
    triples = corpus.store.triples(ROOT, [id_ for id_, _ in found])
    passages = corpus.store.passages(ROOT, [triple.passage_id for triple in triples.values()])
    assert {document.name for _, document in passages.values()} == {"a.md", "b.md"}
    derived = corpus.store.derived(ROOT, [id_ for id_, _ in corpus.store.search_derived_keywords(ROOT, "about", 9)])
    assert [text.kind for text in derived.values()] == ["summary", "summary"]
    assert corpus.store.search_derived_keywords(ROOT, "another document", 9) == []


def test_another_deriver_replaces_the_derived_texts(corpus: Corpus) -> None:
    text = source("a.md", "# A\n\none\n")
    assert kinds(corpus, text) == ["added"]
    assert kinds(corpus, text, deriver=Deriver("one")) == ["updated"]
    assert kinds(corpus, text, deriver=Deriver("one")) == ["unchanged"]
    assert kinds(corpus, text) == ["unchanged"]
    assert kinds(corpus, text, deriver=Deriver("two")) == ["updated"]
    (triple,) = corpus.store.triples(
        ROOT, [id_ for id_, _ in corpus.store.search_triple_keywords(ROOT, "edit", 9)]
    ).values()
    assert triple.target == "image two"
    assert corpus.check() == []


def test_documents_are_added_while_the_language_model_is_down(corpus: Corpus) -> None:
    text = source("a.md", "# A\n\none\n")
    (event,) = add(corpus, text, deriver=Deriver(down=True))
    assert event.kind == "added"
    assert "without derived texts" in event.detail
    assert kinds(corpus, text, deriver=Deriver()) == ["updated"]
    assert len(corpus.store.search_triple_keywords(ROOT, "edit", 9)) == 1


async def test_documents_are_added_within_a_running_event_loop(corpus: Corpus) -> None:
    assert kinds(corpus, source("a.md", "# A\n\none\n"), deriver=Deriver()) == ["added"]


def test_a_long_line_is_embedded_with_its_progress_and_each_text_once(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("argot.corpus.ingestion.ingest_job.BATCH_WINDOWS", 8)
    embedded: list[str] = []
    embed = corpus.embedder.embed_passages

    def count(texts: Any, *others: Any) -> Any:
        embedded.extend(texts)
        return embed(texts, *others)

    monkeypatch.setattr(corpus.embedder, "embed_passages", count)
    line = "The pump of the hall is oiled daily by the crew of the day. " * 800
    _, *events, added, _ = corpus.add([source("long.txt", line)])
    assert added.document and added.document.passages > 20
    shares = [int(event.detail.removesuffix(" %")) for event in events]
    assert shares == sorted(shares) and 0 < shares[0] < shares[-1] < 100
    assert len(embedded) < added.document.passages and corpus.check() == []


# -- stopping and being killed --------------------------------------------------------------------------------------


def test_stopping_midway_keeps_the_documents_reported_as_added(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("argot.corpus.ingestion.document_group.GROUP_DOCUMENTS", 1)
    events = corpus.add([source(f"{n}.md", f"# {n}\n\nword{n}\n") for n in range(3)])
    reported = next(event.name for event in events if event.kind == "added")
    events.close()  # type: ignore[attr-defined]
    assert [document.name for document in corpus.store.documents(ROOT)] == [reported] == ["0.md"]
    assert corpus.check() == []


def test_an_error_midway_changes_nothing(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    add(corpus, source("a.md", "# A\n\none\n"))
    before = dump(corpus)
    monkeypatch.setattr("argot.corpus.ingestion.document_changes.record_windows", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        add(corpus, source("b.md", "# B\n\ntwo\n"))
    assert dump(corpus) == before
    monkeypatch.undo()
    assert kinds(corpus, source("b.md", "# B\n\ntwo\n")) == ["added"]


class FirstWords:
    """A deriver that can be created again in another process."""

    name = "killed"

    async def triples(self, passages: Any) -> list[Triple]:
        return [Triple("", "menu", "edit", passage.text[:9], passage.id) for passage in passages]

    async def derived_texts(self, passages: Any) -> list[DerivedText]:
        return []


def work(home: Path, folder: Path) -> None:
    """Do two runs with a removal between them, in a process that may be killed (killing.py)."""
    killing.stepping(blobs.FolderBlobs, "put")
    killing.stepping(blobs.FolderBlobs, "remove")
    killing.stepping(blobs.Path, "replace")
    document_group.GROUP_DOCUMENTS = 2
    corpus = Corpus.open(home, SETTINGS)
    list(corpus.add(list_sources([folder / "second"], "test:///"), deriver=FirstWords(), audience=INSIDE))
    with suppress(NotFound):
        corpus.remove(ROOT, "removed.md")
    list(corpus.add(list_sources([folder / "third"], "test:///"), audience=EVERYONE))
    corpus.close()


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a knowledge base and folders of two later runs: new, changed, relabelled, copied and removed documents."""
    folder = tmp_path_factory.mktemp("worked")
    files = {
        "first": {"kept.md": "kept", "changed.md": "before", "opened.md": "opened", "removed.md": "removed"},
        "second": {"changed.md": "after", "new.md": "new", "copy.md": "new", "more.md": "more\n\n## Two\n\nand more"},
        "third": {"opened.md": "opened", "last.md": "last"},
    }
    for part, texts in files.items():
        (folder / part).mkdir()
        for name, text in texts.items():
            (folder / part / name).write_text(f"# {name}\n\n{text}\n" if name != "copy.md" else "# new.md\n\nnew\n")
    corpus = Corpus.open(folder / "kb", SETTINGS)
    list(corpus.add(list_sources([folder / "first"], "test:///"), audience=INSIDE))
    corpus.close()
    return folder


def _dump_of(home: Path) -> Any:
    corpus = Corpus.open(home, SETTINGS)
    try:
        assert corpus.check() == []
        return json.loads(json.dumps(dump(corpus)))
    finally:
        corpus.close()


@pytest.fixture(scope="module")
def clean(worked: Path) -> tuple[int, Any]:
    """Return the number of steps at which a run can be killed, and the result of an uninterrupted run."""
    home = Path(shutil.copytree(worked / "kb", worked / "clean"))
    return killing.steps_of(work, home, worked), _dump_of(home)


@pytest.mark.slow
@pytest.mark.parametrize("share", killing.shares(8))
def test_a_killed_ingest_run_again_equals_one_clean_run(
    worked: Path, clean: tuple[int, Any], share: float, tmp_path: Path
) -> None:
    steps, expected = clean
    assert steps > 12
    home = Path(shutil.copytree(worked / "kb", tmp_path / "kb"))
    killing.killed(work, home, worked, share=share, steps=steps)
    killing.steps_of(work, home, worked)
    assert _dump_of(home) == expected


# -- the index ------------------------------------------------------------------------------------------------------


def test_reindex_restores_the_same_index(corpus: Corpus) -> None:
    add(corpus, source("a.md", "# A\n\none zebra\n"), source("b.md", "# B\n\ntwo\n"), deriver=Deriver())
    add(corpus, source("c.md", "# C\n\nthree\n"), audience=INSIDE)
    before, old = dump(corpus), corpus.vectors
    told: list[tuple[int, int]] = []
    corpus.reindex(lambda done, total: told.append((done, total)))
    assert (told[0], told[-1]) == ((0, 7), (7, 7))
    after = dump(corpus)
    assert after["vectors"] == before["vectors"]
    assert corpus.vectors.generation > old.generation
    assert [path.name for path in (corpus.home / "vectors").glob("g*")] == [corpus.vectors.generation]
    assert corpus.check() == []
    vector = corpus.embedder.embed_queries(["one zebra"])[0]
    assert len(corpus.search_semantic(ROOT, "passage", vector, 9)) == 3


def test_an_interrupted_reindex_changes_nothing(corpus: Corpus) -> None:
    add(corpus, source("a.md", "# A\n\none zebra\n"))
    before = dump(corpus)

    def stop(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        corpus.reindex(stop)
    assert corpus.check() == []
    corpus.close()
    again = Corpus.open(corpus.home, SETTINGS)
    assert dump(again) == before
    assert [path.name for path in (again.home / "vectors").glob("g*")] == [again.vectors.generation]
    again.close()


def test_vectors_of_another_embedder_are_refused_until_rebuilt(corpus: Corpus) -> None:
    class Other:
        fingerprint = "other"

        def __getattr__(self, name: str) -> Any:
            return getattr(load_embedder(SETTINGS), name)

    add(corpus, source("a.md", "# A\n\none zebra\n"))
    corpus.close()
    other: Any = Other()
    with pytest.raises(DamagedStore, match="argot reindex"):
        Corpus.open(corpus.home, SETTINGS, embedder=other)
    mended = Corpus.open(corpus.home, SETTINGS, embedder=other, for_repair=True)
    assert ["another embedding model" in problem.message for problem in mended.check()] == [True]
    with pytest.raises(DamagedStore, match="another embedding model"):
        mended.search_semantic(ROOT, "passage", mended.embedder.embed_queries(["zebra"]), 1)
    mended.reindex()
    assert mended.check() == []
    mended.close()
    Corpus.open(corpus.home, SETTINGS, embedder=other).close()


def _lose_one_vector(home: Path) -> None:
    corpus = Corpus.open(home, SETTINGS)
    (name,) = corpus.vectors.counts()
    corpus.vectors.delete(name, corpus.vectors.ids(name)[:1])
    corpus.close()


def _truncate(home: Path) -> None:
    file = next((home / "vectors").rglob("chroma.sqlite3"))
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.parametrize("harm", [lambda home: shutil.rmtree(home / "vectors"), _truncate, _lose_one_vector])
def test_lost_vectors_are_found_at_opening_and_rebuilt(corpus: Corpus, harm: Any) -> None:
    add(corpus, source("a.md", "# A\n\none zebra\n"), source("b.md", "# B\n\ntwo\n"))
    before = dump(corpus)["vectors"]
    corpus.close()
    harm(corpus.home)
    with pytest.raises(DamagedStore, match="argot reindex"):
        Corpus.open(corpus.home, SETTINGS)
    mended = Corpus.open(corpus.home, SETTINGS, for_repair=True)
    mended.reindex()
    assert dump(mended)["vectors"] == before
    mended.close()
    Corpus.open(corpus.home, SETTINGS).close()


def test_check_reports_each_fault_with_its_remedy(corpus: Corpus) -> None:
    add(corpus, source("a.md", "# A\n\none zebra\n"), source("b.md", "# B\n\ntwo\n"))
    with corpus.store.database.writing() as connection:
        connection.execute("UPDATE passages SET text = text || ' more'")
    (name,) = corpus.vectors.counts()
    corpus.vectors.delete(name, corpus.vectors.ids(name)[:1])
    problems = corpus.check()
    assert [problem.subject for problem in problems] == ["keyword index", "vectors"]
    assert all(problem.remedy.startswith("argot reindex") for problem in problems)
    corpus.reindex()
    assert corpus.check() == []
    corpus.store.blobs.remove(next(iter(corpus.store.blobs)))
    assert [problem.remedy.split()[1] for problem in corpus.check()] == ["restore"]
