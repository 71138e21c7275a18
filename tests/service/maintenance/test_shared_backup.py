"""Tests of backups of a knowledge base on PostgreSQL: they hold one moment, and either engine restores them."""

import asyncio
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from argot.errors import Conflict, InvalidInput, KnowledgeBaseBusy
from argot.postgresql.stores import PostgresqlStores
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.backup import restore_backup
from argot.service.maintenance.shared_backup import restore_shared_backup
from argot.service.moving.base_moving import move_base
from argot.service.storage import restore
from argot.service.usecases import catalogue
from argot.settings import Settings

LOCAL = make_local_principal()
QUESTION = "What does a late tariff filing cost?"


async def do(kb: KnowledgeBase, name: str, /, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, LOCAL, name, **parameters)


@pytest.fixture
async def settings(tiny_home: Path, tmp_path: Path, postgresql_url: str) -> Settings:
    """Provide a knowledge base on PostgreSQL with a person, a conversation and a session."""
    home = await asyncio.to_thread(shutil.copytree, tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        await do(kb, "user_add", name="ann", groups=["hr"])
        await do(kb, "ask", question=QUESTION)
        kb.people.sessions.begin("ann", "192.0.2.7", "Browser")
    shared = Settings(home=home, store=postgresql_url)
    told: list[tuple[int, int, str]] = []
    await asyncio.to_thread(
        move_base, (home, Settings(home=home)), (home, shared), progress=lambda *said: told.append(said)
    )
    return shared


async def contents(home: Path, settings: Settings) -> Any:
    async with KnowledgeBase.open(home, settings) as kb:
        documents = [(one.name, kb.document_store.blobs.get(h)) for one, h in await asyncio.to_thread(originals, kb)]
        threads = [one.title for one in await (await kb.threads()).of("local")]
        senses = [(sense.id, sense.term, sense.expansion) for sense in kb.glossary.senses.find(LOCAL)]
        return documents, threads, senses, [user.name for user in kb.people.users()]


def originals(kb: KnowledgeBase) -> list[Any]:
    store = kb.document_store
    rows = store.database.connection().execute("SELECT document, content_hash FROM revisions ORDER BY id").fetchall()
    return [(store.document(LOCAL, document), content) for document, content in rows]


async def test_a_backup_is_restored_on_either_engine(settings: Settings, tmp_path: Path) -> None:
    home, file = settings.home, tmp_path / "monday.tar"
    before = await contents(home, settings)
    async with KnowledgeBase.open(home, settings) as kb:
        stop, written = threading.Event(), []

        def write() -> None:
            while not stop.is_set():
                written.append(kb.people.add(f"during-{len(written)}"))

        writer = threading.Thread(target=write)
        writer.start()
        saved = await do(kb, "backup", path=str(file))
        stop.set()
        await asyncio.to_thread(writer.join)
        await do(kb, "user_add", name="later")
        with pytest.raises(KnowledgeBaseBusy, match="in use by"):
            await asyncio.to_thread(restore_shared_backup, home, settings, file, force=True)
    assert saved["files"] > 6 and not list(home.glob(".backup-*"))

    await asyncio.to_thread(restore_backup, tmp_path / "folder", file)
    in_folder = await contents(tmp_path / "folder", Settings(home=tmp_path / "folder"))
    assert in_folder[:3] == before[:3] and "ann" in in_folder[3] and "later" not in in_folder[3]

    with pytest.raises(Conflict, match="To replace it: argot restore --force"):
        await asyncio.to_thread(restore_shared_backup, home, settings, file)
    await asyncio.to_thread(restore_shared_backup, home, settings, file, force=True)
    assert await contents(home, settings) == in_folder
    async with KnowledgeBase.open(home, settings) as kb:
        assert not kb.people.sessions.of("ann")
        await do(kb, "reindex")
        assert (await do(kb, "ask", question=QUESTION))["status"] == "answered"
        assert not await do(kb, "check")


async def test_an_incomplete_backup_is_refused_without_changes(settings: Settings, tmp_path: Path) -> None:
    home, file = settings.home, tmp_path / "monday.tar"
    async with KnowledgeBase.open(home, settings) as kb:
        await do(kb, "backup", path=str(file))
    before = await contents(home, settings)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(InvalidInput, match="Nothing was changed"):
        await asyncio.to_thread(restore_shared_backup, home, settings, file, force=True)
    assert await contents(home, settings) == before and not (home / ".restoring").exists()
    stores = PostgresqlStores(settings.storage.database)
    with stores.connection() as connection:
        names = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'argot%'").fetchall()
    stores.close()
    assert [name for (name,) in names] == ["argot"]


async def test_the_next_command_undoes_an_interrupted_restore_in_a_new_folder(
    settings: Settings, tmp_path: Path
) -> None:
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    restore.make_staging_folder(fresh)
    async with KnowledgeBase.open(fresh, settings.replace(home=fresh)) as kb:
        assert [user.name for user in kb.people.users()] == ["ann"]
    assert not (fresh / ".restoring").exists()
