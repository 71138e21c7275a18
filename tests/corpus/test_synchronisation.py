"""Synchronising documents with a folder: what is read, renamed and removed, what is not, and recovery from a kill."""

import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import killing
import pytest
from older_base import before_sources

from argot.corpus.connectors import folder_connector, synchronisation
from argot.corpus.connectors.folder_connector import FolderConnector
from argot.corpus.connectors.listing import ListedDocument, Patterns, SourceDown
from argot.corpus.connectors.source_store import SourceRecord, SourceStore
from argot.corpus.connectors.synchronisation import Synchronisation, compute_retry_time, remove_documents
from argot.corpus.corpus import Corpus, Source
from argot.corpus.ingestion import document_group, ingest_job
from argot.settings import Settings
from argot.types import Principal

ROOT = Principal("root", sees_all=True)
SETTINGS = Settings(threads=1)


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    opened = Corpus.open(tmp_path / "kb", SETTINGS)
    yield opened
    opened.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "docs"
    made.mkdir()
    return made


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def page(path: Path, word: str) -> None:
    write(path, f"# About {word}\n\nThe {word} is here.\n")


def settled() -> None:
    """Wait until a change made now gets a different file time."""
    time.sleep(folder_connector.UNSETTLED_NANOSECONDS / 1e9 * 1.5)


def named(corpus: Corpus, name: str = "docs", **more: Any) -> SourceRecord:
    store = SourceStore(corpus.store.database)
    found = {one.name: one for one in store.list_sources()}
    return found.get(name) or store.add(SourceRecord(name, "folder", "", {}, **more))


def sync(
    corpus: Corpus, folder: Path, *, confirmed: bool = False, patient: bool = False, **more: Any
) -> Synchronisation:
    settled()
    patterns = Patterns(more.pop("include", ()), more.pop("exclude", ()))
    run = Synchronisation(
        corpus,
        named(corpus, **more),
        lambda: FolderConnector(folder, patterns),
        by=ROOT,
        confirmed=confirmed,
        patient=patient,
    )
    list(run.run())
    return run


def counts(run: Synchronisation) -> dict[str, int]:
    return {kind: count for kind, count in run.counts.items() if count}


def names(corpus: Corpus) -> list[str]:
    return [document.name for document in corpus.store.documents(ROOT)]


def ids(corpus: Corpus) -> dict[str, str]:
    return {document.name: document.id for document in corpus.store.documents(ROOT)}


def record(corpus: Corpus) -> SourceRecord:
    return SourceStore(corpus.store.database).get_source("docs")


# -- what is read -----------------------------------------------------------------------------------------------------


def test_a_sync_adds_updates_and_removes_documents(corpus: Corpus, folder: Path) -> None:
    for name in ("a", "b", "c"):
        page(folder / "sub" / f"{name}.md", name)
    assert counts(sync(corpus, folder)) == {"added": 3}
    before = ids(corpus)
    page(folder / "sub" / "b.md", "bolt")
    (folder / "sub" / "c.md").unlink()
    page(folder / "d.md", "d")
    assert counts(sync(corpus, folder)) == {"added": 1, "updated": 1, "removed": 1, "unchanged": 1}
    assert names(corpus) == ["d.md", "a.md", "b.md"]
    assert ids(corpus)["b.md"] == before["b.md"]
    assert corpus.store.phrase_count(ROOT, "bolt") == 1
    assert corpus.check() == []
    assert (record(corpus).state, record(corpus).documents, record(corpus).failures) == ("synced", 3, 0)


def test_a_sync_without_changes_reads_no_file(corpus: Corpus, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page(folder / "a.md", "a")
    write(folder / "NOTES", "Plain text without a suffix.\n")
    shutil.make_archive(str(folder / "packed"), "zip", folder)
    (folder / "picture.png.xyz").write_bytes(b"\0")
    first = counts(sync(corpus, folder))
    assert first["added"] == 2 and first["duplicate"] == 2

    def read(*_: object, **__: object) -> bytes:
        raise AssertionError("a file was read")

    for place in ("sources.read_below", "sources._read_head"):
        monkeypatch.setattr(f"argot.corpus.ingestion.{place}", read)
    assert counts(sync(corpus, folder)) == {"unchanged": 4, "skipped": 1}


def test_a_sync_respects_hidden_files_links_and_patterns(corpus: Corpus, folder: Path, tmp_path: Path) -> None:
    for name in ("a.md", ".hidden.md", ".git/b.md", "drafts/c.md", "keep/d.md", "keep/e.tmp.md"):
        page(folder / name, name)
    page(tmp_path / "secret.md", "secret")
    (folder / "keep" / "loop").symlink_to(folder)
    (folder / "circle.md").symlink_to(folder / "circle.md")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    os.mkfifo(folder / "pipe.md")
    run = sync(corpus, folder, exclude=("drafts/", "*.tmp.md"))
    assert names(corpus) == ["a.md", "d.md"]
    assert [problem.name for problem in run.problems] == ["circle.md"]
    # Newly excluded files are removed.
    assert counts(sync(corpus, folder, include=("keep",)))["removed"] == 1
    assert names(corpus) == ["d.md", "e.tmp.md"]


def test_folders_with_circular_links_are_walked_once(corpus: Corpus, folder: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        page(folder / name / f"{name}.md", name)
    (folder / "a" / "to-b").symlink_to(folder / "b")
    (folder / "b" / "to-a").symlink_to(folder / "a")
    (folder / "up").symlink_to(folder)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "back").symlink_to(folder)
    page(tmp_path / "outside" / "c.md", "c")
    (folder / "out").symlink_to(tmp_path / "outside")
    for follow, expected in ((False, ["a.md", "b.md"]), (True, ["a.md", "b.md", "c.md"])):
        run = Synchronisation(
            corpus,
            named(corpus),
            lambda follow=follow: FolderConnector(folder, Patterns(), follow_links=follow),  # type: ignore[misc]
            by=ROOT,
        )
        list(run.run())
        assert (run.state, run.problems, names(corpus)) == ("synced", [], expected)


def test_a_failed_file_is_reported_and_retried(corpus: Corpus, folder: Path) -> None:
    page(folder / "a.md", "a")
    write(folder / "b.pdf", "%PDF-1.7 cut off")
    run = sync(corpus, folder)
    assert counts(run) == {"added": 1, "failed": 1}
    (problem,) = run.problems
    assert problem.name == "b.pdf" and problem.detail
    assert (record(corpus).state, record(corpus).failed) == ("synced", 1)
    assert counts(sync(corpus, folder)) == {"unchanged": 1, "failed": 1}
    stored = SourceStore(corpus.store.database).load_items("docs")[(folder / "b.pdf").as_uri()]
    assert stored.detail == problem.detail and not stored.stamp


def test_a_scheduled_sync_retries_an_unchanged_failed_file_ever_later(
    corpus: Corpus, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder / "b.pdf", "%PDF-1.7 cut off")
    uri = (folder / "b.pdf").as_uri()
    reads: list[str] = []
    load = ingest_job.IngestJob._load
    monkeypatch.setattr(ingest_job.IngestJob, "_load", lambda self, one: reads.append(one.name) or load(self, one))
    for _ in range(2):
        sync(corpus, folder)  # asked for by a person: tried each time
    assert reads == ["b.pdf", "b.pdf"]
    (problem,) = sync(corpus, folder, patient=True).problems
    assert "failed 2 times, tried again after" in problem.detail and "damaged" in problem.detail
    assert reads == ["b.pdf", "b.pdf"]
    item = SourceStore(corpus.store.database).load_items("docs")[uri]
    for failures, seconds in ((1, 120), (2, 240), (99, 86_400)):
        known = replace(item, failures=failures)
        due = datetime.fromisoformat(item.tried_at) + timedelta(seconds=seconds)
        assert compute_retry_time(known, item.tried_stamp) == due
        assert compute_retry_time(known, "another stamp") is None
    long_ago = replace(item, tried_at="2020-01-01T00:00:00Z")
    SourceStore(corpus.store.database).save_items("docs", [long_ago])
    assert counts(sync(corpus, folder, patient=True)) == {"failed": 1}
    assert SourceStore(corpus.store.database).load_items("docs")[uri].failures == 3
    page(folder / "b.pdf", "x")
    sync(corpus, folder, patient=True)
    assert len(reads) == 4
    (folder / "b.pdf").unlink()
    sync(corpus, folder, patient=True)
    assert SourceStore(corpus.store.database).load_items("docs") == {}


def test_a_changed_file_that_fails_keeps_its_document(corpus: Corpus, folder: Path) -> None:
    page(folder / "a.md", "anvil")
    sync(corpus, folder)
    (folder / "a.md").write_bytes(b"\0\1\2\3" * 100)
    assert counts(sync(corpus, folder)) == {"failed": 1}
    assert corpus.store.phrase_count(ROOT, "anvil") == 1
    page(folder / "a.md", "bolt")
    assert counts(sync(corpus, folder)) == {"updated": 1}


def test_a_file_that_changes_while_it_is_read_is_read_again(folder: Path) -> None:
    page(folder / "a.md", "a")
    settled()
    (listed,) = FolderConnector(folder, Patterns()).list_documents({})
    grown = iter(("one", "one and two", "one and two"))

    def load() -> bytes:
        text = next(grown)
        if (folder / "a.md").read_text() != text:
            (folder / "a.md").write_text(text)
        return text.encode()

    assert folder_connector._load_steadily(folder / "a.md", load)() == b"one and two"

    def restless() -> bytes:
        with (folder / "a.md").open("a") as file:
            file.write("more")
        return b""

    with pytest.raises(OSError, match="changes while it is read"):
        folder_connector._load_steadily(folder / "a.md", restless)()
    assert listed.stamp


def test_a_change_with_the_same_time_and_size_is_detected(corpus: Corpus, folder: Path) -> None:
    page(folder / "a.md", "abc")
    os.utime(folder / "a.md", (1e9, 1e9))
    sync(corpus, folder)
    page(folder / "a.md", "xyz")
    os.utime(folder / "a.md", (1e9, 1e9))
    assert counts(sync(corpus, folder)) == {"updated": 1}


# -- renames and copies -----------------------------------------------------------------------------------------------


def test_a_renamed_file_keeps_its_document(corpus: Corpus, folder: Path) -> None:
    page(folder / "old.md", "anvil")
    page(folder / "other.md", "other")
    sync(corpus, folder, tags=("handbook",))
    (old,) = [one for one in corpus.store.documents(ROOT) if one.name == "old.md"]
    list(corpus.add([_source(folder / "old.md")], audience=frozenset({"hr"}), tags=["mine"]))
    (folder / "new place").mkdir()
    (folder / "old.md").rename(folder / "new place" / "new.md")
    run = sync(corpus, folder)
    assert counts(run) == {"renamed": 1, "unchanged": 1}
    (new,) = [one for one in corpus.store.documents(ROOT) if one.name == "new.md"]
    assert (new.id, new.revision_id, new.title) == (old.id, old.revision_id, "About anvil")
    assert (new.audience, new.tags) == (frozenset({"hr"}), ("mine",))
    assert counts(sync(corpus, folder)) == {"unchanged": 2}
    # Another file of the old name is another document.
    page(folder / "old.md", "bolt")
    assert counts(sync(corpus, folder)) == {"added": 1, "unchanged": 2}
    assert len(set(ids(corpus).values())) == 3
    page(folder / "old.md", "nut")
    assert counts(sync(corpus, folder)) == {"updated": 1, "unchanged": 2}
    (folder / "new place" / "new.md").unlink()
    assert counts(sync(corpus, folder)) == {"removed": 1, "unchanged": 2}
    assert corpus.store.phrase_count(ROOT, "nut") == 1
    assert corpus.check() == []


def test_a_title_from_the_file_name_follows_a_rename(corpus: Corpus, folder: Path) -> None:
    write(folder / "anvil.txt", "It weighs 90 kilos.\n")
    sync(corpus, folder)
    before = corpus.store.documents(ROOT)[0]
    (folder / "anvil.txt").rename(folder / "hammer.txt")
    assert counts(sync(corpus, folder)) == {"renamed": 1}
    (document,) = corpus.store.documents(ROOT)
    assert (document.id, document.title, document.name) == (before.id, "hammer", "hammer.txt")
    assert corpus.check() == []


def test_a_renamed_folder_keeps_its_documents(corpus: Corpus, folder: Path) -> None:
    for n in range(5):
        page(folder / "one" / f"{n}.md", f"word{n}")
    sync(corpus, folder)
    before = sorted(ids(corpus).values())
    (folder / "one").rename(folder / "two")
    run = sync(corpus, folder)
    assert (run.state, counts(run)) == ("synced", {"renamed": 5})
    assert sorted(ids(corpus).values()) == before


def test_a_copy_is_kept_when_its_original_is_removed(corpus: Corpus, folder: Path) -> None:
    page(folder / "a.md", "anvil")
    page(folder / "b.md", "anvil")
    page(folder / "c.md", "c")
    assert counts(sync(corpus, folder)) == {"added": 2, "duplicate": 1}
    (folder / "a.md").unlink()
    sync(corpus, folder)
    assert names(corpus) == ["b.md", "c.md"]
    page(folder / "d.md", "anvil")
    assert counts(sync(corpus, folder))["duplicate"] == 1
    page(folder / "b.md", "bolt")
    sync(corpus, folder)
    assert names(corpus) == ["b.md", "c.md", "d.md"]
    page(folder / "e.md", "c")
    sync(corpus, folder)
    corpus.remove(ROOT, "c.md")
    sync(corpus, folder)
    assert "e.md" in names(corpus)


# -- deletions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("left", [0, 4])
def test_removing_most_of_a_source_needs_confirmation(corpus: Corpus, folder: Path, left: int) -> None:
    for n in range(10):
        page(folder / f"{n}.md", f"word{n}")
    sync(corpus, folder)
    for n in range(left, 10):
        (folder / f"{n}.md").unlink()
    page(folder / "new.md", "new")
    run = sync(corpus, folder)
    assert (run.state, len(names(corpus))) == ("held", 11)
    assert f"{10 - left} of 10" in run.detail and "--confirm" in run.detail
    assert record(corpus).state == "held"
    assert sync(corpus, folder).state == "held"
    assert counts(sync(corpus, folder, confirmed=True))["removed"] == 10 - left
    assert len(names(corpus)) == left + 1
    assert (record(corpus).state, record(corpus).detail) == ("synced", "")


def test_an_unreachable_source_or_folder_loses_no_documents(corpus: Corpus, folder: Path) -> None:
    page(folder / "a.md", "a")
    page(folder / "sub" / "b.md", "b")
    sync(corpus, folder)
    folder.rename(folder.with_name("away"))
    run = sync(corpus, folder, confirmed=True)
    assert run.state == "failed" and "cannot be read" in run.detail
    assert (len(names(corpus)), record(corpus).failures) == (2, 1)
    folder.with_name("away").rename(folder)
    # Like a folder without read permission, which root could still open.
    closed = (folder / "sub").as_uri()

    class HalfOpen:
        def close(self) -> None: ...

        def mark(self) -> str:
            return ""

        def list_documents(self, known: Mapping[str, str]) -> Iterator[ListedDocument]:
            yield from (
                one for one in FolderConnector(folder, Patterns()).list_documents(known) if closed not in one.source.uri
            )
            yield ListedDocument(Source(closed, "sub", bytes), "", "Permission denied")

    run = Synchronisation(corpus, record(corpus), HalfOpen, confirmed=True)
    list(run.run())
    assert (run.state, counts(run), len(names(corpus))) == ("synced", {"unchanged": 1, "failed": 1}, 2)


def test_a_copy_that_cannot_be_checked_is_not_read(corpus: Corpus, folder: Path) -> None:
    for name in ("a", "c", "d"):
        page(folder / f"{name}.md", name)
    shutil.copy(folder / "a.md", folder / "b.md")
    sync(corpus, folder)
    (folder / "a.md").unlink()

    class Unseen(FolderConnector):
        def list_documents(self, known: Mapping[str, str]) -> Iterator[ListedDocument]:
            for one in super().list_documents(known):
                yield replace(one, problem="Input/output error") if one.source.name == "b.md" else one

    run = Synchronisation(corpus, record(corpus), lambda: Unseen(folder, Patterns()))
    list(run.run())
    assert counts(run) == {"unchanged": 2, "failed": 1, "removed": 1}
    assert counts(sync(corpus, folder)) == {"unchanged": 2, "added": 1}
    assert names(corpus) == ["b.md", "c.md", "d.md"]


def test_a_document_of_another_source_is_kept(corpus: Corpus, folder: Path) -> None:
    page(folder / "sub" / "a.md", "a")
    page(folder / "b.md", "b")
    sync(corpus, folder)
    sync(corpus, folder / "sub", name="inner")
    assert list(remove_documents(corpus, "inner", nullcontext)) == []
    assert len(names(corpus)) == 2
    assert len(list(remove_documents(corpus, "docs", nullcontext))) == 2
    assert names(corpus) == []


def test_documents_get_the_readers_of_their_source(corpus: Corpus, folder: Path) -> None:
    page(folder / "a.md", "a")
    list(corpus.add([_source(folder / "a.md")]))
    page(folder / "b.md", "b")
    sync(corpus, folder, audience=frozenset({"hr"}))
    assert [one.audience for one in corpus.store.documents(ROOT)] == [frozenset({"hr"})] * 2
    list(corpus.add([_source(folder / "b.md")], audience=frozenset({"board"})))
    page(folder / "b.md", "bolt")
    sync(corpus, folder)
    assert corpus.store.document(ROOT, "b.md").audience == frozenset({"board"})


# -- marks ------------------------------------------------------------------------------------------------------------


@dataclass
class Marked:
    """A source with a mark for all of it."""

    texts: dict[str, str]
    marked: str = "one"
    listings: int = field(default=0, compare=False)

    def close(self) -> None: ...

    def mark(self) -> str:
        if not self.marked:
            raise SourceDown("It does not answer.")
        return self.marked

    def list_documents(self, known: Mapping[str, str]) -> Iterator[ListedDocument]:
        self.listings += 1
        for name, text in self.texts.items():
            yield ListedDocument(Source(f"test:///{name}", name, text.encode, len(text)), text)


def test_an_unchanged_mark_skips_the_listing_unless_work_is_left(corpus: Corpus) -> None:
    source = Marked({"a.md": "# A\n\none\n"})

    def run() -> dict[str, int]:
        sync = Synchronisation(corpus, named(corpus), lambda: source, by=ROOT)
        list(sync.run())
        return counts(sync)

    assert run() == {"added": 1}
    assert run() == {"unchanged": 1} and source.listings == 1
    source.texts["b.pdf"], source.marked = "no PDF", "two"
    assert run() == {"unchanged": 1, "failed": 1}
    assert run() == {"unchanged": 1, "failed": 1} and source.listings == 3
    source.marked = ""
    assert run() == {} and record(corpus).detail == "It does not answer."


# -- being killed -----------------------------------------------------------------------------------------------------


def _source(path: Path) -> Source:
    return Source(path.as_uri(), path.name, path.read_bytes)


def changes(home: Path, folder: Path) -> None:
    """Do the first sync of a folder and one after many changes, in a process that may be killed (killing.py)."""
    document_group.GROUP_DOCUMENTS = 2
    synchronisation.NOTE_BATCH_DOCUMENTS = 2
    corpus = Corpus.open(home, SETTINGS)
    time.sleep(0.05)
    for part in ("before", "after"):
        if part == "after":
            shutil.rmtree(folder / "now", ignore_errors=True)
        if part == "after" or not (folder / "now").exists():
            shutil.copytree(folder / part, folder / "now")
        time.sleep(0.05)
        run = Synchronisation(corpus, named(corpus), lambda: FolderConnector(folder / "now", Patterns()), by=ROOT)
        list(run.run())
        assert run.state == "synced", run.detail
    corpus.close()


def make_changes(folder: Path) -> None:
    for name in ("kept", "changed", "moved", "gone", "copied", "more"):
        page(folder / "before" / f"{name}.md", name)
    write(folder / "before" / "untitled.txt", "Without a title.\n")
    shutil.copytree(folder / "before", folder / "after")
    page(folder / "after" / "changed.md", "changed for good")
    (folder / "after" / "sub").mkdir()
    (folder / "after" / "moved.md").rename(folder / "after" / "sub" / "moved.md")
    (folder / "after" / "gone.md").unlink()
    shutil.copy(folder / "after" / "copied.md", folder / "after" / "sub" / "copy.md")
    (folder / "after" / "untitled.txt").rename(folder / "after" / "called.txt")
    page(folder / "after" / "new.md", "new")


def told(home: Path) -> Any:
    """Return documents, passages and vectors, and the stored state of the source."""
    corpus = Corpus.open(home, SETTINGS)
    try:
        assert corpus.check() == []
        connection = corpus.store.database.connection()
        items = "SELECT uri, outcome, document, content_hash, stamp != '' FROM source_items ORDER BY uri"
        return (
            sorted(connection.execute("SELECT id, uri, title, tags, revision FROM documents")),
            sorted(connection.execute("SELECT id, document, text, header FROM passages")),
            sorted(connection.execute("SELECT item, windows FROM vectors")),
            list(connection.execute(items)),
            {name: sorted(corpus.vectors.ids(name)) for name in corpus.vectors.counts()},
            list(corpus.store.blobs),
        )
    finally:
        corpus.close()


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, Any]:
    """Return the folder of the documents, and the number of steps and the result of an uninterrupted run."""
    made = tmp_path_factory.mktemp("killed")
    make_changes(made / "docs")
    return made / "docs", killing.steps_of(changes, made / "clean", made / "docs"), told(made / "clean")


@pytest.mark.slow
@pytest.mark.parametrize("share", killing.shares(8))
def test_a_killed_sync_run_again_equals_one_clean_run(
    clean: tuple[Path, int, Any], share: float, tmp_path: Path
) -> None:
    folder, steps, expected = clean
    shutil.rmtree(folder / "now")
    killing.killed(changes, tmp_path / "kb", folder, share=share, steps=steps)
    killing.steps_of(changes, tmp_path / "kb", folder)
    assert told(tmp_path / "kb") == expected


def test_a_store_older_than_sources_is_migrated(tmp_path: Path) -> None:
    """Migrate a knowledge base of the version before sources, with a document in it."""
    corpus = Corpus.open(tmp_path / "kb", SETTINGS)
    list(corpus.add([Source("test:///a.md", "a.md", lambda: b"# A\n\nThe anvil.\n")]))
    with corpus.store.database.writing() as connection:
        before_sources(connection)
    corpus.close()
    corpus = Corpus.open(tmp_path / "kb", SETTINGS)
    assert SourceStore(corpus.store.database).list_sources() == []
    assert names(corpus) == ["a.md"] and corpus.check() == []
    corpus.close()
