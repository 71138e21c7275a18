"""Freeing the space of deleted vectors: nothing is lost, others go on, and a kill leaves no partial state."""

import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import killing
import numpy as np
import pytest

from argot.corpus.corpus import Corpus, Source
from argot.corpus.index.embedded_index import EmbeddedIndex, FolderGenerations
from argot.corpus.index.vector_graphs import count_saved_elements
from argot.corpus.index.vector_index import VectorIndex
from argot.corpus.ingestion import compaction
from argot.errors import NotFound
from argot.settings import Settings
from argot.types import EVERYONE, Audience, Principal

ROOT = Principal("root", sees_all=True)
ANN = Principal("ann")
INSIDE = frozenset({"inside"})
SETTINGS = Settings(threads=1)
BOUND_SECONDS = 60


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    opened = _opened(tmp_path / "kb")
    yield opened
    opened.close()


def _opened(home: Path) -> Corpus:
    corpus = Corpus.open(home, SETTINGS)
    _add(corpus, *(f"{n}.md" for n in range(6)))
    _add(corpus, "secret.md", audience=INSIDE)
    return corpus


def _add(corpus: Corpus, *names: str, audience: Audience = EVERYONE, text: str = "checked") -> None:
    sources = [Source(f"test:///{name}", name, f"# {name}\n\nThe pump is {text}.\n".encode) for name in names]
    list(corpus.add(sources, audience=audience))


def _compact(corpus: Corpus) -> None:
    corpus.compacting.run(corpus.vectors)


def _found(corpus: Corpus, principal: Principal = ROOT) -> list[tuple[str, float]]:
    return corpus.search_semantic(principal, "passage", corpus.embedder.embed_queries(["Which pump is checked?"])[0], 9)


def _ids(found: Sequence[tuple[str, float]]) -> list[str]:
    return [id_ for id_, _ in found]


def _folders(corpus: Corpus) -> list[str]:
    return sorted(path.name for path in (corpus.home / "vectors").glob("g*"))


# -- what is found ----------------------------------------------------------------------------------------------------


def test_searches_find_the_same_after_compaction(corpus: Corpus) -> None:
    """Compare similarities approximately: Chroma normalises a vector at each write, which may change the last bit."""
    before, of_ann, old = _found(corpus), _found(corpus, ANN), corpus.vectors
    _compact(corpus)
    assert corpus.vectors.generation > old.generation
    for found, expected in ((_found(corpus), before), (_found(corpus, ANN), of_ann)):
        assert _ids(found) == _ids(expected)
        assert [near for _, near in found] == pytest.approx([near for _, near in expected], abs=1e-6)
    assert len(before) == len(of_ann) + 1 == 7
    assert corpus.check() == []
    assert _folders(corpus) == [corpus.vectors.generation]


def test_compaction_copies_vectors_without_embedding_again(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    name = corpus.vectors.collection_name("passage", EVERYONE)
    before = corpus.vectors.get(name, corpus.vectors.ids(name))
    monkeypatch.setattr(corpus.embedder, "embed_passages", None)
    _compact(corpus)
    after = corpus.vectors.get(name, corpus.vectors.ids(name))
    assert before.keys() == after.keys()
    assert all(np.allclose(before[id_], after[id_], rtol=0, atol=1e-6) for id_ in before)


def test_a_compacted_corpus_can_be_changed_and_reopened(corpus: Corpus) -> None:
    _compact(corpus)
    _add(corpus, "late.md")
    before = _found(corpus)
    corpus.close()
    again = Corpus.open(corpus.home, SETTINGS)
    assert again.check() == []
    assert _found(again) == before
    again.close()


# -- when -------------------------------------------------------------------------------------------------------------


def test_compaction_starts_when_more_vectors_are_deleted_than_left(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "MIN_GONE_VECTORS", 5)
    old = corpus.vectors
    _add(corpus, *(f"{n}.md" for n in range(6)), text="oiled")
    corpus.compacting.wait()
    assert (corpus.vectors, old.gone) == (old, 6)  # of seven that are left
    _add(corpus, "0.md", "1.md", text="painted")
    corpus.compacting.wait()
    assert corpus.vectors.generation > old.generation
    assert corpus.vectors.gone == 0
    assert corpus.check() == []


def test_removing_documents_starts_compaction(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "MIN_GONE_VECTORS", 3)
    old = corpus.vectors
    for number in range(4):
        corpus.remove(ROOT, f"{number}.md")
    corpus.compacting.wait()
    assert corpus.vectors.generation > old.generation
    assert corpus.check() == []


def test_remaining_vectors_are_counted_rarely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Delete 200 vectors one after the other, and add one now and then."""
    monkeypatch.setattr(compaction, "MIN_GONE_VECTORS", 5)
    index = EmbeddedIndex(tmp_path, "g000001", "f")
    vectors = {f"p{n}:0": row for n, row in enumerate(np.eye(200, dtype=np.float32))}
    index.upsert("passages", vectors)
    counts, counted = index.counts, []
    monkeypatch.setattr(index, "counts", lambda: counted.append(index.gone) or counts())
    for gone, name in enumerate(vectors, start=1):
        index.delete("passages", [name])
        if gone % 10 == 0:
            index.upsert("passages", {f"new{gone}:0": vectors[name]})
        left = 200 - gone + gone // 10
        assert compaction.is_due(index) == (gone > left)
        if gone > left:
            break
    assert gone > 100
    assert len(counted) < 20
    index.close()


def test_the_number_of_deleted_vectors_is_known_after_a_restart(tmp_path: Path) -> None:
    """Check it with a saved graph: above a thousand vectors Chroma saves it, deleted ones included."""
    rows = np.random.default_rng(7).normal(size=(1200, 16)).astype(np.float32)
    vectors = {f"p{n}:0": row / np.linalg.norm(row) for n, row in enumerate(rows)}
    index = EmbeddedIndex(tmp_path, "g000001", "f")
    index.upsert("passages", vectors)
    index.delete("passages", [f"p{n}:0" for n in range(1100)])
    index.upsert("passages", {f"new{id_}": row for id_, row in vectors.items()})
    assert index.gone == 1100
    index.close()
    assert count_saved_elements(tmp_path, "g000001") > 1300  # that are left


def test_a_generation_that_was_just_replaced_is_not_due(corpus: Corpus) -> None:
    old = corpus.vectors
    old.gone = 5_000
    assert compaction.is_due(old)
    corpus.reindex()
    assert not compaction.is_due(old)


# -- beside others ----------------------------------------------------------------------------------------------------


def _in_each_pause(corpus: Corpus, monkeypatch: pytest.MonkeyPatch, *does: Any) -> None:
    """Copy one item per slice, and call the next of these changes after each, as another thread would."""
    monkeypatch.setattr(compaction, "SLICE_ITEMS", 1)
    calls = iter(does)
    slices = compaction.Compactor._copy_slice

    def copied(self: Any, old: VectorIndex, fresh: VectorIndex, after: str) -> str | None:
        found = slices(self, old, fresh, after)
        next(calls, lambda: None)()
        return found

    monkeypatch.setattr(compaction.Compactor, "_copy_slice", copied)


def test_changes_during_compaction_are_in_the_new_generation(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    def hide() -> None:
        _add(corpus, "2.md", audience=INSIDE)

    changes = [
        lambda: _add(corpus, "new.md"),
        lambda: _add(corpus, "0.md", text="changed"),
        lambda: corpus.remove(ROOT, "1.md"),
        hide,
        lambda: _add(corpus, "secret.md"),
    ]
    _in_each_pause(corpus, monkeypatch, *changes)
    old = corpus.vectors
    _compact(corpus)
    assert corpus.vectors.generation > old.generation
    assert corpus.check() == []
    assert len(_found(corpus)) == 7
    assert len(_found(corpus, ANN)) == 6


def test_a_document_made_private_during_compaction_is_hidden_at_once(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def hide() -> None:
        _add(corpus, "2.md", audience=INSIDE)
        seen.append(len(_found(corpus, ANN)))

    _in_each_pause(corpus, monkeypatch, hide)
    _compact(corpus)
    assert [*seen, len(_found(corpus, ANN))] == [5, 5]


def test_searches_continue_during_compaction(corpus: Corpus) -> None:
    before, ended, wrong = _ids(_found(corpus)), threading.Event(), []

    def ask() -> None:
        while not ended.is_set():
            if (found := _ids(_found(corpus))) != before:
                wrong.append(found)
            ended.wait(0.005)

    asking = threading.Thread(target=ask)
    asking.start()
    for _ in range(3):
        _compact(corpus)
    ended.set()
    asking.join(BOUND_SECONDS)
    assert wrong == []


def test_a_rebuild_during_compaction_supersedes_it(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    _in_each_pause(corpus, monkeypatch, corpus.reindex)
    with pytest.raises(compaction.CompactionSuperseded):
        _compact(corpus)
    assert corpus.check() == []
    assert _folders(corpus) == [corpus.vectors.generation]


def test_closing_does_not_wait_for_compaction(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "MIN_GONE_VECTORS", 0)
    started = threading.Event()
    _in_each_pause(corpus, monkeypatch, started.set)
    monkeypatch.setattr(compaction, "PAUSE_SECONDS", BOUND_SECONDS)
    old = corpus.vectors
    old.gone = 100
    corpus.compacting.start_if_due()
    assert started.wait(BOUND_SECONDS)
    corpus.close()
    again = Corpus.open(corpus.home, SETTINGS)
    assert again.vectors.generation == old.generation
    assert again.check() == []
    again.close()


# -- faults and kills -------------------------------------------------------------------------------------------------


def test_a_failed_compaction_changes_nothing(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> None:
        raise OSError("disk is full")

    before, old = _found(corpus), corpus.vectors
    _in_each_pause(corpus, monkeypatch, full)
    old.gone = 5_000
    corpus.compacting.start_if_due()
    corpus.compacting.wait()
    assert (corpus.vectors, old.copy, old.gone, _found(corpus)) == (old, None, 0, before)
    assert _folders(corpus) == [old.generation]
    _add(corpus, "after.md")
    assert corpus.check() == []


def work(home: Path) -> None:
    """Compact with a change in the middle, in a process that may be killed (killing.py)."""
    killing.stepping(FolderGenerations, "remove_others")
    killing.stepping(FolderGenerations, "make_current")
    compaction.SLICE_ITEMS = 3
    corpus = Corpus.open(home, SETTINGS)
    slices = compaction.Compactor._copy_slice

    def copied(self: Any, old: VectorIndex, fresh: VectorIndex, after: str) -> str | None:
        found = slices(self, old, fresh, after)
        _add(corpus, "0.md", text="changed")
        with suppress(NotFound):
            corpus.remove(ROOT, "1.md")
        return found

    compaction.Compactor._copy_slice = copied  # type: ignore[method-assign]
    _compact(corpus)
    corpus.close()


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, Any]:
    """Return a knowledge base, the number of steps at which it can be killed, and the expected result."""
    folder = tmp_path_factory.mktemp("compacted")
    _opened(folder / "kb").close()
    home = Path(shutil.copytree(folder / "kb", folder / "clean"))
    return folder / "kb", killing.steps_of(work, home), _state(home)


def _state(home: Path) -> Any:
    corpus = Corpus.open(home, SETTINGS)
    try:
        assert corpus.check() == []
        assert _folders(corpus) == [corpus.vectors.generation]
        return _ids(_found(corpus)), _ids(_found(corpus, ANN))
    finally:
        corpus.close()


@pytest.mark.slow
@pytest.mark.parametrize("share", killing.shares(8))
def test_a_killed_compaction_run_again_equals_one_clean_run(
    clean: tuple[Path, int, Any], share: float, tmp_path: Path
) -> None:
    kb, steps, expected = clean
    assert steps > 12
    home = Path(shutil.copytree(kb, tmp_path / "kb"))
    killing.killed(work, home, share=share, steps=steps)
    _state(home)
    killing.steps_of(work, home)
    assert _state(home) == expected
