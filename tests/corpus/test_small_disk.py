"""A corpus on a full disk: a change is refused before it begins, and one that runs out of space loses nothing."""

import shutil
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_disk import SmallDisk, small_disk
from tiny_base import TinyBase, close_base, open_base

from argot.corpus import corpus as corpus_module
from argot.disk_space import RESERVE_BYTES
from argot.errors import ArgotError, StoreUnavailable
from argot.service.identity.people import make_local_principal

LOCAL = make_local_principal()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk") as mounted:
        yield mounted


@pytest.fixture
def base(tiny_home: Path, disk: SmallDisk) -> Iterator[TinyBase]:
    base = open_base(shutil.copytree(tiny_home, disk.folder / "kb"))
    yield base
    disk.make_room()
    close_base(base)


def names(base: TinyBase) -> set[str]:
    return {document.name for document in base.corpus.store.documents(LOCAL)}


def test_no_change_begins_without_free_space(base: TinyBase, disk: SmallDisk) -> None:
    before = names(base)
    disk.fill(RESERVE_BYTES - 1)
    with pytest.raises(StoreUnavailable, match="Free some space"):
        base.corpus.remove(LOCAL, "nand-layout.md")
    with pytest.raises(StoreUnavailable, match="Free some space"):
        base.add("new.md", "# New\n\nThe hatch opens at 4 bar.")
    assert names(base) == before and not base.corpus.check()
    disk.make_room()
    base.corpus.remove(LOCAL, "nand-layout.md")
    assert names(base) == before - {"nand-layout.md"}


def test_writing_works_again_after_many_changes_filled_the_disk(
    base: TinyBase, disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = names(base)
    with monkeypatch.context() as unchecked:
        unchecked.setattr(corpus_module, "require_room", lambda folder: None)
        disk.fill()
        # Chroma has ten connections and keeps one for each of these.
        for number in range(12):
            with pytest.raises((ArgotError, OSError, sqlite3.Error)):
                base.corpus.relabel(LOCAL, "nand-layout.md", frozenset({f"group-{number}"}), None)
        assert names(base) == before
    disk.make_room()
    writing = threading.Thread(target=base.add, args=("new.md", "# New\n\nThe hatch opens at 4 bar."), daemon=True)
    writing.start()
    writing.join(120)
    assert not writing.is_alive(), "the vector index waits for a connection for ever"
    assert names(base) == {*before, "new.md"} and not base.corpus.check()
