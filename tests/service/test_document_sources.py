"""Sources as use cases: who may name which, what is stored of them, syncing, and the schedule."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from argot.errors import Conflict, InvalidInput, NotAllowed, NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.document_sources import (
    SyncReport,
    source_add,
    source_list,
    source_remove,
    source_sync,
)
from argot.service.usecases.documents import list_documents
from argot.service.usecases.usecase_registry import outcome
from argot.settings import Settings
from argot.types import Principal

MANAGER = Principal("mia", frozenset({"managers"}))
LEO = Principal("leo", manages=frozenset({"Legal"}))
ADMIN = Principal("local", sees_all=True)


@pytest.fixture
async def kb(tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    async with KnowledgeBase.open(tmp_path / "kb", Settings(threads=1), create=True) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nThe anvil weighs 90 kilos.\n")
    return tmp_path / "docs"


async def synced(kb: KnowledgeBase, name: str, **more: Any) -> SyncReport:
    return await outcome(source_sync(kb, ADMIN, name=name, **more))


async def test_a_folder_is_named_synced_and_removed(kb: KnowledgeBase, folder: Path) -> None:
    made = await source_add(kb, ADMIN, address=str(folder), tags=["x"], every="6h", exclude=["*.tmp"])
    assert (made.name, made.kind, made.every, made.state, made.added_by) == ("docs", "folder", 21_600, "new", "local")
    assert made.options == {"exclude": ["*.tmp"]}
    report = await synced(kb, "docs")
    assert (report.state, report.added, report.problems) == ("synced", 1, [])
    (document,) = await list_documents(kb, MANAGER)
    assert document.tags == ("x",)
    (listed,) = await source_list(kb, MANAGER)
    assert (listed.state, listed.documents, listed.tried_at is not None) == ("synced", 1, True)
    (folder / "a.md").unlink()
    assert (await synced(kb, "docs")).state == "held"
    assert (await synced(kb, "docs", confirm=True)).removed == 1
    gone = await source_remove(kb, MANAGER, name="docs")
    assert (gone.removed, gone.kept) == (0, 0)
    with pytest.raises(NotFound, match="argot source list"):
        await synced(kb, "docs")


@pytest.mark.parametrize("with_documents", [False, True])
async def test_documents_stay_or_go_with_their_source(kb: KnowledgeBase, folder: Path, with_documents: bool) -> None:
    await source_add(kb, ADMIN, address=str(folder))
    await synced(kb, "docs")
    gone = await source_remove(kb, ADMIN, name="docs", with_documents=with_documents)
    assert (gone.removed, gone.kept) == ((1, 0) if with_documents else (0, 1))
    assert len(await list_documents(kb, ADMIN)) == gone.kept


async def test_what_lies_on_the_server_takes_an_admin(kb: KnowledgeBase, folder: Path) -> None:
    for refused in (MANAGER, LEO):
        with pytest.raises(NotAllowed, match=refused.name):
            await source_add(kb, refused, address=str(folder))
    assert await source_list(kb, ADMIN) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"address": "docs"}, "no whole path"),
        ({"address": "/there/is/none"}, "no folder"),
        ({"every": "often"}, "30m, 6h or 1d"),
        ({"every": "0m"}, "a minute"),
        ({"options": {"colour": "red"}}, "no option 'colour'.*base_uri"),
        ({"name": "a b"}, "name"),
        ({"address": "/"}, "No name"),
        ({"address": "/", "name": "all"}, "must not lie in each other"),
    ],
)
async def test_what_is_no_source_is_refused(kb: KnowledgeBase, folder: Path, given: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        await source_add(kb, ADMIN, **{"address": str(folder), **given})


async def test_the_knowledge_base_is_no_source_of_itself(kb: KnowledgeBase) -> None:
    (kb.home / "docs").mkdir()
    for folder in (kb.home, kb.home.parent, kb.home / "docs"):
        with pytest.raises(InvalidInput, match="must not lie in each other"):
            await source_add(kb, ADMIN, address=str(folder), name="own")


async def test_one_sync_of_a_source_at_a_time(kb: KnowledgeBase, folder: Path) -> None:
    await source_add(kb, ADMIN, address=str(folder))
    with pytest.raises(Conflict, match="another name"):
        await source_add(kb, ADMIN, address=str(folder))
    running = source_sync(kb, ADMIN, name="docs")
    await anext(running)
    with pytest.raises(Conflict, match="is being synced"):
        await synced(kb, "docs")
    with pytest.raises(Conflict, match="is being synced"):
        await source_remove(kb, ADMIN, name="docs")
    await running.aclose()
    # Stopped half way, it goes on there.
    assert (await synced(kb, "docs")).state == "synced"
