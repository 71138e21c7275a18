"""Tests of the knowledge base: one process owns it, it survives any kill, and damage is found at the start."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from argot.databases import Stores
from argot.errors import DamagedStore, InvalidInput, KnowledgeBaseBusy, NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.storage import home_folder as layout
from argot.service.storage.damage import check_database
from argot.service.storage.home_lock import HomeLock
from argot.service.threads.thread_store import Threads
from argot.settings import Settings
from argot.sqlite_database import SqliteStores
from argot.ui.cli.main import app

SETTINGS = Settings()


def in_process(code: str, *arguments: object) -> subprocess.Popen[str]:
    """Run Python code in another process, which reports its progress on standard output."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def wait_for(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdout
    assert process.stdout.readline().strip() == word


HOLD = """
    import sys, time
    from pathlib import Path
    from argot.service.knowledge_base import KnowledgeBase
    from argot.settings import Settings
    kb = KnowledgeBase.open(Path(sys.argv[1]), Settings(), create=True)
    print("open", flush=True)
    time.sleep(600)
"""


def test_the_error_of_a_second_owner_names_the_first(tmp_path: Path) -> None:
    holder = in_process(HOLD, tmp_path / "kb")
    try:
        wait_for(holder, "open")
        with pytest.raises(KnowledgeBaseBusy, match=f"process {holder.pid}") as refused:
            KnowledgeBase.open(tmp_path / "kb", SETTINGS, patience=0)
        assert f"kill {holder.pid}" in str(refused.value)
    finally:
        holder.kill()
        holder.wait()


async def test_a_command_waits_for_another_one_to_finish(tmp_path: Path) -> None:
    async with KnowledgeBase.open(tmp_path / "kb", SETTINGS, create=True):
        pass
    lock = HomeLock(tmp_path / "kb")
    # As long as a command that only reads takes.
    end = threading.Timer(2, lock.release)
    end.start()
    async with KnowledgeBase.open(tmp_path / "kb", SETTINGS):
        end.join()


async def test_a_base_can_be_opened_after_its_owner_was_killed(tmp_path: Path) -> None:
    holder = in_process(HOLD, tmp_path / "kb")
    wait_for(holder, "open")
    holder.send_signal(signal.SIGKILL)
    holder.wait()

    async with KnowledgeBase.open(tmp_path / "kb", SETTINGS, patience=0) as kb:
        assert json.loads((tmp_path / "kb" / "owner.json").read_text())["pid"] == os.getpid()
    kb.lock.release()  # a second release has no effect
    assert not (tmp_path / "kb" / "owner.json").exists()


FORK = """
    import os, sys, time
    from pathlib import Path
    from argot.service.knowledge_base import KnowledgeBase
    from argot.settings import Settings
    kb = KnowledgeBase.open(Path(sys.argv[1]), Settings(), create=True)
    child = os.fork()
    if child == 0:
        print(os.getpid(), flush=True)
    time.sleep(600)
"""


async def test_the_lock_does_not_outlive_its_owner_in_a_forked_child(tmp_path: Path) -> None:
    holder = in_process(FORK, tmp_path / "kb")
    assert holder.stdout
    child = int(holder.stdout.readline())
    try:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        async with KnowledgeBase.open(tmp_path / "kb", SETTINGS, patience=0) as again:
            assert again.home == tmp_path / "kb"
    finally:
        os.kill(child, signal.SIGKILL)


def test_the_error_for_a_folder_without_a_base_shows_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=f"argot init --home {tmp_path}"):
        KnowledgeBase.open(tmp_path, SETTINGS)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InvalidInput, match=r"notes\.txt"):
        KnowledgeBase.open(tmp_path, SETTINGS, create=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt"]
    with pytest.raises(InvalidInput, match="is a file"):
        KnowledgeBase.open(tmp_path / "notes.txt", SETTINGS)


async def test_the_folder_is_accessible_to_its_owner_only(tmp_path: Path) -> None:
    async with KnowledgeBase.open(tmp_path / "kb", SETTINGS, create=True) as kb:
        assert kb.home.stat().st_mode & 0o077 == 0


async def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    async with KnowledgeBase.open(tmp_path, SETTINGS, create=True):
        pass
    (tmp_path / layout.MARKER).write_text('{"format": 99}')
    with pytest.raises(DamagedStore, match="format 99"):
        KnowledgeBase.open(tmp_path, SETTINGS)
    (tmp_path / layout.MARKER).write_text("{")
    with pytest.raises(DamagedStore, match="rm "):
        KnowledgeBase.open(tmp_path, SETTINGS)


def filled_database(path: Path) -> bytes:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE things (name TEXT)")
    connection.executemany("INSERT INTO things VALUES (?)", [("x" * 500,)] * 100)
    connection.execute("CREATE INDEX by_name ON things (name)")
    connection.commit()
    connection.close()
    return path.read_bytes()


@pytest.mark.parametrize("name", layout.DATABASES)
async def test_a_truncated_store_is_found_at_start_and_the_remedy_shown(tmp_path: Path, name: str) -> None:
    async with KnowledgeBase.open(tmp_path, SETTINGS, create=True):
        pass
    whole = filled_database(tmp_path / name)
    for length in (
        0 if name != layout.CORPUS else 1,
        1,
        50,
        100,
        1000,
        len(whole) // 2,
        len(whole) - 4096,
        len(whole) - 1,
    ):
        (tmp_path / name).write_bytes(whole[:length])
        with pytest.raises(DamagedStore, match=name) as found:
            KnowledgeBase.open(tmp_path, SETTINGS, patience=0)
        assert f"argot restore --force --home {tmp_path}" in str(found.value)
    (tmp_path / name).write_bytes(whole)
    check_database(tmp_path / name)


@pytest.mark.parametrize("name", [layout.GLOSSARY, layout.PEOPLE, layout.THREADS])
async def test_a_missing_store_is_reported_instead_of_created_anew(tmp_path: Path, name: str) -> None:
    """Check it because a new empty store without notice would lose all passwords and the glossary."""
    async with KnowledgeBase.open(tmp_path, SETTINGS, create=True) as kb:
        kb.people.add("ann")
        kb.glossary.senses.add("PUC", "NAND", "peripheral under cell")
        await kb.threads()
    (tmp_path / name).unlink()
    with pytest.raises(DamagedStore, match=rf"{name} is damaged: it is missing.*argot restore") as found:
        KnowledgeBase.open(tmp_path, SETTINGS, patience=0)
    assert f"without one, with: argot init --home {tmp_path}" in str(found.value)
    made = await asyncio.to_thread(CliRunner().invoke, app, ["init", "--home", str(tmp_path)])
    assert made.exit_code == 0
    async with KnowledgeBase.open(tmp_path, SETTINGS, patience=0) as kb:
        assert kb.people.users() == [] or name != layout.PEOPLE


async def test_overwritten_pages_are_found_at_start(tmp_path: Path) -> None:
    async with KnowledgeBase.open(tmp_path, SETTINGS, create=True):
        pass
    whole = filled_database(tmp_path / layout.GLOSSARY)
    half = len(whole) // 2 // 4096 * 4096
    (tmp_path / layout.GLOSSARY).write_bytes(whole[:half] + b"\xff" * 4096 + whole[half + 4096 :])
    with pytest.raises(DamagedStore, match=r"glossary\.db"):
        KnowledgeBase.open(tmp_path, SETTINGS)


def test_pages_still_in_the_write_ahead_log_are_not_damage(tmp_path: Path) -> None:
    """Check a main file that is shorter than the database, as after a kill: the rest is in the write-ahead log."""
    connection = sqlite3.connect(tmp_path / "people.db")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE things (name TEXT)")
    connection.executemany("INSERT INTO things VALUES (?)", [("x" * 500,)] * 100)
    connection.commit()
    copy = tmp_path / "killed"
    copy.mkdir()
    for name in ("people.db", "people.db-wal"):
        (copy / name).write_bytes((tmp_path / name).read_bytes())
    connection.close()

    check_database(copy / "people.db")

    assert sqlite3.connect(copy / "people.db").execute("SELECT count(*) FROM things").fetchone() == (100,)


# -- threads --------------------------------------------------------------------------------------------------------


@pytest.fixture
async def threads(stores: Stores):
    store = await Threads.open(stores)
    yield store
    await store.close()


async def test_a_thread_is_visible_to_its_owner_only(threads: Threads) -> None:
    thread = await threads.start("ann", "What is\n a PUC?")

    assert (await threads.own("ann", thread.id)).title == "What is a PUC?"
    assert [one.id for one in await threads.of("ann")] == [thread.id]
    assert await threads.of("bob") == []
    for attempt in (
        threads.own("bob", thread.id),
        threads.rename("bob", thread.id, "mine now"),
        threads.delete("bob", thread.id),
        threads.give_feedback("bob", thread.id, 0, 1, ""),
        threads.feedback("bob", thread.id),
    ):
        with pytest.raises(NotFound) as refused:
            await attempt
        with pytest.raises(NotFound) as unknown:
            await threads.own("bob", "t0")
        assert str(refused.value).replace(thread.id, "t0") == str(unknown.value)
    assert (await threads.own("ann", thread.id)) == thread


async def test_feedback_is_replaced_by_later_feedback_and_deleted_with_its_thread(threads: Threads) -> None:
    thread = await threads.start("ann", "q")
    await threads.give_feedback("ann", thread.id, 0, -1, "wrong")
    await threads.give_feedback("ann", thread.id, 0, 1, "")

    assert [(one.turn, one.value) for one in await threads.feedback("ann", thread.id)] == [(0, 1)]
    await threads.delete("ann", thread.id)
    (row,) = await threads.read("SELECT count(*) FROM feedback", ())
    assert row[0] == 0


async def test_long_titles_are_cut(threads: Threads) -> None:
    thread = await threads.start("ann", "word " * 100)

    assert len(thread.title) == 80
    assert (await threads.rename("ann", thread.id, "Short")).title == "Short"


START_THREADS = """
    import asyncio, sys
    from pathlib import Path
    from argot.service.threads.thread_store import Threads
    from argot.sqlite_database import SqliteStores
    async def main():
        threads = await Threads.open(SqliteStores(Path(sys.argv[1]).parent))
        for number in range(1000):
            thread = await threads.start("ann", f"question {number}")
            print(thread.id, flush=True)
    asyncio.run(main())
"""


async def test_reported_threads_survive_a_kill(tmp_path: Path) -> None:
    process = in_process(START_THREADS, tmp_path / "threads.db")
    assert process.stdout
    reported = [process.stdout.readline().strip() for _ in range(5)]
    process.send_signal(signal.SIGKILL)
    reported += process.stdout.read().split()
    process.wait()
    reported = [one for one in reported if len(one) == len(reported[0])]

    check_database(tmp_path / "threads.db", thoroughly=True)
    threads = await Threads.open(SqliteStores(tmp_path))
    try:
        found = {thread.id for thread in await threads.of("ann")}
    finally:
        await threads.close()
    assert set(reported) <= found
    assert len(found) <= len(reported) + 1


async def test_a_closed_knowledge_base_can_be_opened_again(tmp_path: Path) -> None:
    for _ in range(2):
        async with KnowledgeBase.open(tmp_path, SETTINGS, create=True, patience=0) as kb:
            await kb.threads()
            kb.people.add("ann")
            assert [context.name for context in kb.glossary.contexts.all(kb.principal("ann"))] == []


async def test_loading_a_checkpoint_runs_no_code(tmp_path: Path) -> None:
    """Check it because a supplied backup can contain any checkpoint: a function named in one must not be called."""
    import pickle

    import ormsgpack

    ran = tmp_path / "ran"

    class Touch:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch {ran}",)

    lc = {"lc": 2, "type": "constructor", "id": ["os", "system"], "args": [f"touch {ran}"]}
    calls = [("os", "system", f"touch {ran}"), ("os", "system", [f"touch {ran}"], {}, None)]
    payloads = [("pickle", pickle.dumps(Touch())), ("json", json.dumps(lc).encode())]
    payloads += [("msgpack", ormsgpack.packb(ormsgpack.Ext(n, ormsgpack.packb(c)))) for n in range(6) for c in calls]
    threads = await Threads.open(SqliteStores(tmp_path))
    for payload in payloads:
        with suppress(Exception):
            threads.saver.serde.loads_typed(payload)
    await threads.close()
    assert not ran.exists()
