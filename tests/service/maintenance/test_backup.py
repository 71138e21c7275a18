"""Tests of backup and restore: everything is restored, and only a complete backup is accepted."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path

import pytest
from killing import killed, shares, stepping, steps_of

from argot import files
from argot.errors import ArgotError, Conflict, DamagedStore, InvalidInput, KnowledgeBaseBusy, NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance import backup as backup_module
from argot.service.maintenance.backup import MANIFEST, restore_backup, write_backup
from argot.service.storage import home_folder as layout
from argot.service.storage import restore
from argot.settings import Settings

SETTINGS = Settings()


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """Provide a small knowledge base with a user, a thread, a sense and an original."""
    async with KnowledgeBase.open(tmp_path / "kb", SETTINGS, create=True) as kb:
        kb.people.add("ann", ("hr",))
        await (await kb.threads()).start("ann", "What is a PUC?")
        kb.glossary.senses.add("PUC", "NAND", "peripheral under cell")
        (kb.home / "blobs" / "ab").mkdir(parents=True)
        (kb.home / "blobs" / "ab" / "ab12").write_bytes(b"original")
        (kb.home / "vectors").mkdir()
        (kb.home / "vectors" / "index.bin").write_bytes(b"rebuilt, never copied")
    return tmp_path / "kb"


async def contents(home: Path) -> object:
    async with KnowledgeBase.open(home, SETTINGS) as kb:
        principal = kb.principal(None)
        threads = await kb.threads()
        senses = [(sense.term, sense.expansion) for sense in kb.glossary.senses.find(principal)]
        blobs = {path.name: path.read_bytes() for path in (home / "blobs").rglob("*") if path.is_file()}
        return kb.people.users(), senses, [one.title for one in await threads.of("ann")], blobs


async def test_a_backup_restores_everything_but_the_vectors(home: Path, tmp_path: Path) -> None:
    written = write_backup(home, tmp_path / "b.tar")
    restored = restore_backup(tmp_path / "new" / "kb", tmp_path / "b.tar")

    assert await contents(tmp_path / "new" / "kb") == await contents(home)
    assert (written.files, written.bytes) == (restored.files, restored.bytes)
    assert not (tmp_path / "new" / "kb" / "vectors").exists()
    assert (tmp_path / "b.tar").stat().st_mode & 0o077 == 0


async def test_a_backup_holds_one_moment_while_others_write(home: Path, tmp_path: Path) -> None:
    async with KnowledgeBase.open(home, SETTINGS) as kb:
        threads = await kb.threads()
        write_backup(home, tmp_path / "b.tar")
        await threads.start("ann", "Later?")

    restore_backup(tmp_path / "copy", tmp_path / "b.tar")

    async with KnowledgeBase.open(tmp_path / "copy", SETTINGS) as kb:
        assert [one.title for one in await (await kb.threads()).of("ann")] == ["What is a PUC?"]


async def test_restoring_into_a_home_in_use_or_not_empty_is_refused(home: Path, tmp_path: Path) -> None:
    write_backup(home, tmp_path / "b.tar")
    before = await contents(home)

    with pytest.raises(Conflict, match=r"restore --force"):
        restore_backup(home, tmp_path / "b.tar")
    async with KnowledgeBase.open(home, SETTINGS):
        with pytest.raises(KnowledgeBaseBusy):
            restore_backup(home, tmp_path / "b.tar", force=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine")
    with pytest.raises(InvalidInput, match=r"thesis\.txt"):
        restore_backup(tmp_path / "other", tmp_path / "b.tar", force=True)
    assert await contents(home) == before


async def test_a_forced_restore_replaces_the_former_contents(home: Path, tmp_path: Path) -> None:
    write_backup(home, tmp_path / "b.tar")
    before = await contents(home)
    async with KnowledgeBase.open(home, SETTINGS) as kb:
        kb.people.add("bob")
        kb.glossary.senses.add("SLA", "Legal", "service level agreement")

    restore_backup(home, tmp_path / "b.tar", force=True)

    assert await contents(home) == before


async def test_a_forced_restore_removes_stores_that_the_backup_lacks(home: Path, tmp_path: Path) -> None:
    async with KnowledgeBase.open(tmp_path / "small", SETTINGS, create=True) as kb:
        kb.people.add("eve")
    write_backup(tmp_path / "small", tmp_path / "b.tar")

    restore_backup(home, tmp_path / "b.tar", force=True)

    assert not any((home / name).exists() for name in (layout.THREADS, layout.GLOSSARY, layout.BLOBS))


async def test_a_damaged_knowledge_base_can_be_replaced_by_a_restore(home: Path, tmp_path: Path) -> None:
    write_backup(home, tmp_path / "b.tar")
    before = await contents(home)
    (home / layout.PEOPLE).write_bytes(b"SQLite format 3\0 and then nothing")

    restore_backup(home, tmp_path / "b.tar", force=True)

    assert await contents(home) == before


async def test_a_truncated_or_altered_backup_is_refused(home: Path, tmp_path: Path) -> None:
    write_backup(home, tmp_path / "b.tar")
    before = await contents(home)
    whole = (tmp_path / "b.tar").read_bytes()
    spoilt = [whole[:length] for length in (0, 10, 600, 5000, len(whole) // 2, len(whole) * 3 // 4)]
    place = whole.index(b"original", 5000)
    spoilt.append(whole[:place] + b"0riginal" + whole[place + 8 :])

    for data in spoilt:
        (tmp_path / "bad.tar").write_bytes(data)
        with pytest.raises(InvalidInput, match="Nothing was changed"):
            restore_backup(home, tmp_path / "bad.tar", force=True)
    with pytest.raises(InvalidInput, match="no file"):
        restore_backup(home, tmp_path / "absent.tar", force=True)
    assert await contents(home) == before
    assert not (home / restore.SCRATCH).exists()


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def archive(path: Path, *entries: tuple[tarfile.TarInfo, bytes], listed: list[dict[str, object]]) -> None:
    with tarfile.open(path, "w") as tar:
        manifest = json.dumps({"format": 1, "files": listed}).encode()
        first = tarfile.TarInfo(MANIFEST)
        first.size = len(manifest)
        tar.addfile(first, io.BytesIO(manifest))
        for entry, data in entries:
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))


@pytest.mark.parametrize(
    "name", ["../evil", "/tmp/evil", "blobs/../../evil", "blobs/..", "lock", "knowledge_base.json", "vectors/x", "a.py"]
)
def test_archive_members_outside_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    archive(tmp_path / "b.tar", (tarfile.TarInfo(name), b"x"), listed=[{"name": name, "size": 1, "hash": ""}])

    with pytest.raises(InvalidInput, match="not part of a backup of Argot"):
        restore_backup(tmp_path / "kb", tmp_path / "b.tar")

    assert not (tmp_path / "evil").exists()
    assert names_in(tmp_path / "kb") <= {"lock"}


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_in_an_archive_are_refused(tmp_path: Path, kind: bytes) -> None:
    entry = tarfile.TarInfo("blobs/ab12")
    entry.type, entry.linkname = kind, "/etc/passwd"
    archive(tmp_path / "b.tar", (entry, b""), listed=[{"name": "blobs/ab12", "size": 0, "hash": ""}])

    with pytest.raises(InvalidInput, match="not part of a backup of Argot"):
        restore_backup(tmp_path / "kb", tmp_path / "b.tar")


@pytest.mark.parametrize("name", [MANIFEST, "blobs/ab12"])
def test_a_member_larger_than_its_archive_is_refused(tmp_path: Path, name: str) -> None:
    """Check GNU sparse files: one block of data that claims to be 8 GB, which unpacking would write."""
    entry = tarfile.TarInfo(name)
    entry.pax_headers = {"GNU.sparse.map": "0,1", "GNU.sparse.size": str(8 << 30)}
    manifest = json.dumps({"format": 1, "files": [{"name": "blobs/ab12", "size": 8 << 30, "hash": ""}]}).encode()
    with tarfile.open(tmp_path / "b.tar", "w", format=tarfile.PAX_FORMAT) as tar:
        if name != MANIFEST:
            first = tarfile.TarInfo(MANIFEST)
            first.size = len(manifest)
            tar.addfile(first, io.BytesIO(manifest))
        entry.size = 1
        tar.addfile(entry, io.BytesIO(b"x"))
    with tarfile.open(tmp_path / "b.tar") as tar:
        assert tar.getmembers()[-1].size == 8 << 30

    with pytest.raises(InvalidInput, match=r"not (part of )?a backup of Argot"):
        restore_backup(tmp_path / "kb", tmp_path / "b.tar")


def test_files_that_are_not_backups_are_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("just notes")
    with tarfile.open(tmp_path / "photos.tar", "w") as tar:
        tar.add(tmp_path / "notes.txt", "notes.txt")
    for name in ("notes.txt", "photos.tar"):
        with pytest.raises(InvalidInput):
            restore_backup(tmp_path / "kb", tmp_path / name)


@pytest.mark.parametrize("step", ["vectors", "corpus.db", "glossary.db", "blobs", "all"])
async def test_an_interrupted_restore_is_completed_at_the_next_start(
    home: Path, tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_backup(home, tmp_path / "b.tar")
    before = await contents(home)
    async with KnowledgeBase.open(home, SETTINGS) as kb:
        kb.people.add("bob")
    real = restore.remove_path

    def killed(path: Path) -> None:
        if path.name == step or step == "all":
            raise KeyboardInterrupt
        real(path)

    monkeypatch.setattr(restore, "remove_path", killed)
    with pytest.raises(KeyboardInterrupt):
        restore_backup(home, tmp_path / "b.tar", force=True)
    monkeypatch.undo()

    assert await contents(home) == before
    assert not (home / restore.SCRATCH).exists()


async def test_an_interrupted_unpacking_keeps_the_old_knowledge_base(home: Path, tmp_path: Path) -> None:
    before = await contents(home)
    scratch = restore.make_staging_folder(home)
    sqlite3.connect(scratch / layout.PEOPLE).execute("CREATE TABLE half (x)")

    assert await contents(home) == before
    assert not scratch.exists()


def restoring(home: Path, backup: Path) -> None:
    """Restore in a process in which every change of the folder is a step."""
    for owner, name in (
        (shutil, "rmtree"), (layout, "write_atomically"), (restore, "write_atomically"), (restore, "flush_folder"),
        (files, "flush_folder"), (Path, "rename"), (Path, "unlink"),
        (Path, "mkdir"), (Path, "replace"), (backup_module, "_unpack_one"),
    ):  # fmt: skip
        stepping(owner, name)
    restore_backup(home, backup, force=True)


@pytest.mark.parametrize("there", [True, False], ids=["over another", "into an empty folder"])
async def test_a_killed_restore_is_completed_or_undone_and_reported(
    home: Path, tmp_path: Path, there: bool, caplog: pytest.LogCaptureFixture
) -> None:
    write_backup(home, tmp_path / "b.tar")
    new = await contents(home)
    before = tmp_path / "before"
    before.mkdir()
    if there:
        async with KnowledgeBase.open(before, SETTINGS, create=True) as kb:
            kb.people.add("bob")
    old = await contents(shutil.copytree(before, tmp_path / "looked at")) if there else None
    steps = await asyncio.to_thread(steps_of, restoring, shutil.copytree(before, tmp_path / "c"), tmp_path / "b.tar")
    seen = set()
    for share in shares(12):
        cut = shutil.copytree(before, tmp_path / f"{share}")
        await asyncio.to_thread(killed, restoring, cut, tmp_path / "b.tar", share=share, steps=steps)
        caplog.clear()
        try:
            found = await contents(cut)
        except NotFound:
            found = None
        assert found in (old, new)
        seen.add((found == new, *(record.getMessage().split(":")[0] for record in caplog.records)))
        assert not restore.cut_off(cut)
        restore_backup(cut, tmp_path / "b.tar", force=True)
        assert await contents(cut) == new
    taken_back, completed = "A restore that was cut off was undone", "A restore that was cut off was completed"
    # no message: killed before the restore began or after it ended
    assert (
        {(False, taken_back), (True, completed)} <= seen <= {(False,), (False, taken_back), (True, completed), (True,)}
    )


def test_the_next_backup_removes_the_remains_of_a_killed_one(home: Path, tmp_path: Path) -> None:
    (home / ".backup-x1y2").mkdir()
    (home / ".backup-x1y2" / "corpus.db").write_bytes(b"half")
    write_backup(home, tmp_path / "b.tar")
    assert not list(home.glob(".backup-*"))


async def test_a_backup_that_cannot_be_written_is_an_error(home: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgotError, match="cannot be written"):
        write_backup(home, tmp_path / "absent" / "b.tar")
    assert not any(name.startswith(".backup-") for name in names_in(home))


async def test_a_backup_into_the_knowledge_base_itself_is_refused(home: Path) -> None:
    before = await contents(home)
    for name in ("b.tar", layout.PEOPLE, "blobs/b.tar"):
        with pytest.raises(InvalidInput, match="lost with it"):
            write_backup(home, home / name)
    assert await contents(home) == before


def where_files_end_at_20_kb(call: str, *arguments: Path) -> str:
    """Return what a function of `argot.service.maintenance.backup` reports if files may not exceed 20 kB."""
    code = (
        "import resource, sys; from pathlib import Path; from argot.service.maintenance import backup\n"
        "from argot.errors import ArgotError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        f"try: backup.{call}\n"
        "except ArgotError as error: print(type(error).__name__, error)\n"
    )
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_full_disk_is_reported_and_leaves_no_partial_backup(home: Path, tmp_path: Path) -> None:
    said = where_files_end_at_20_kb("write_backup(Path(sys.argv[1]), Path(sys.argv[2]))", home, tmp_path / "b.tar")
    assert said.startswith("StoreUnavailable") and "Free some space" in said
    assert names_in(tmp_path) == {"kb"}
    assert not any(name.startswith(".backup-") for name in names_in(home))


def test_a_damaged_store_is_reported_and_not_backed_up(home: Path, tmp_path: Path) -> None:
    whole = (home / layout.PEOPLE).read_bytes()
    (home / layout.PEOPLE).write_bytes(b"\xff" * len(whole))
    with pytest.raises(DamagedStore, match=r"people\.db is damaged"):
        write_backup(home, tmp_path / "b.tar")
    assert names_in(tmp_path) == {"kb"}


def test_a_full_disk_while_unpacking_is_not_blamed_on_the_backup(home: Path, tmp_path: Path) -> None:
    write_backup(home, tmp_path / "b.tar")
    before = (home / layout.PEOPLE).read_bytes()
    call = "restore_backup(Path(sys.argv[1]), Path(sys.argv[2]), force=True)"
    said = where_files_end_at_20_kb(call, home, tmp_path / "b.tar")
    assert said.startswith("StoreUnavailable There is no room") and "Nothing was changed" in said
    assert (home / layout.PEOPLE).read_bytes() == before
    assert not (home / restore.SCRATCH).exists()


@pytest.mark.parametrize("name", [layout.PEOPLE, layout.THREADS])
async def test_a_backup_from_a_newer_argot_is_refused_without_changes(home: Path, tmp_path: Path, name: str) -> None:
    async with KnowledgeBase.open(tmp_path / "newer", SETTINGS, create=True) as kb:
        kb.people.add("eve")
        await kb.threads()
    with closing(sqlite3.connect(tmp_path / "newer" / name)) as connection:
        connection.execute("PRAGMA user_version = 99")
    write_backup(tmp_path / "newer", tmp_path / "b.tar")
    before = await contents(home)

    with pytest.raises(InvalidInput, match="newer Argot"):
        restore_backup(home, tmp_path / "b.tar", force=True)

    assert await contents(home) == before
    assert not (home / restore.SCRATCH).exists()


@pytest.mark.parametrize("manifest", ['{"format": 1e999, "files": []}', "[" * 200_000])
def test_an_invalid_manifest_is_refused(tmp_path: Path, manifest: str) -> None:
    with tarfile.open(tmp_path / "b.tar", "w") as tar:
        first = tarfile.TarInfo(MANIFEST)
        first.size = len(manifest)
        tar.addfile(first, io.BytesIO(manifest.encode()))
    with pytest.raises(InvalidInput, match=r"manifest\.json cannot be read"):
        restore_backup(tmp_path / "kb", tmp_path / "b.tar")


async def test_a_session_ended_after_the_backup_is_not_restored(home: Path, tmp_path: Path) -> None:
    async with KnowledgeBase.open(home, SETTINGS) as kb:
        token = kb.people.sessions.begin("ann")
        write_backup(home, tmp_path / "b.tar")
        kb.people.sessions.end("ann")

    restore_backup(home, tmp_path / "b.tar", force=True)

    async with KnowledgeBase.open(home, SETTINGS) as kb:
        assert kb.people.sessions.find(token) is None
