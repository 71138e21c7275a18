"""Tests of the use cases of sources: who may add which, what is stored of them, syncing, and the schedule."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from argot.clock import format_utc, utc_now
from argot.corpus.connectors import connector_choice
from argot.corpus.connectors.source_store import SourceRecord
from argot.errors import Conflict, InvalidInput, NotAllowed, NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.operations.source_schedule import is_sync_due, sync_due
from argot.service.usecases.documents.documents import list_documents
from argot.service.usecases.documents.sources import (
    SyncReport,
    source_add,
    source_list,
    source_remove,
    source_sync,
)
from argot.service.usecases.usecase_registry import get_outcome
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
    return await get_outcome(source_sync(kb, ADMIN, name=name, **more))


async def test_a_folder_is_added_as_a_source_synced_and_removed(kb: KnowledgeBase, folder: Path) -> None:
    made = await source_add(kb, ADMIN, address=str(folder), tags=["x"], every="6h", exclude=["*.tmp"])
    assert (made.name, made.kind, made.every, made.state) == ("docs", "folder", 21_600, "new")
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
async def test_documents_are_kept_or_removed_with_their_source(
    kb: KnowledgeBase, folder: Path, with_documents: bool
) -> None:
    await source_add(kb, ADMIN, address=str(folder))
    await synced(kb, "docs")
    gone = await source_remove(kb, ADMIN, name="docs", with_documents=with_documents)
    assert (gone.removed, gone.kept) == ((1, 0) if with_documents else (0, 1))
    assert len(await list_documents(kb, ADMIN)) == gone.kept


async def test_only_an_admin_may_add_a_source_on_the_servers_own_disk(kb: KnowledgeBase, folder: Path) -> None:
    wiki = "https://wiki.example.org/"
    reaching: list[dict[str, Any]] = [
        {"address": str(folder)},
        {"address": str(folder), "kind": "git"},
        {"address": f"file://{folder}"},
        {"address": f"ssh://{folder}/x.git"},
        {"address": "json:JSONDecoder", "kind": "loader"},
        {"address": wiki, "options": {"private": "yes"}},
        {"address": wiki, "variables": {"password": "HOME"}},
        {"address": "imaps://mail.example.org/", "options": {"user": "ann"}, "variables": {"password": "HOME"}},
    ]
    for given in reaching:
        for refused in (MANAGER, LEO):
            with pytest.raises(NotAllowed, match=refused.name):
                await source_add(kb, refused, name="x", **given)
    assert await source_list(kb, ADMIN) == []
    with pytest.raises(NotAllowed, match="mia"):
        await source_add(kb, MANAGER, address=str(folder), kind="confluence")
    (folder / "space.zip").write_bytes(b"PK")
    made = await source_add(kb, ADMIN, address=str(folder / "space.zip"), kind="confluence")
    assert (made.name, made.kind) == ("space.zip", "confluence")
    with pytest.raises(InvalidInput, match="Add it with: argot add"):
        await source_add(kb, ADMIN, address=str(folder / "space.zip"), name="x")
    made = await source_add(kb, MANAGER, address=wiki, options={"pages": "20"})
    assert (made.name, made.kind) == ("wiki.example.org", "web")
    made = await source_add(kb, MANAGER, address="https://git.example.org/team/hand_book.git")
    assert (made.name, made.kind) == ("hand_book", "git")


async def test_a_secret_is_given_as_a_variables_name_and_not_stored(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiki = "https://wiki.example.org/"
    with pytest.raises(InvalidInput, match="--with-env password=VARIABLE"):
        await source_add(kb, ADMIN, address=wiki, options={"password": "sesame"})
    with pytest.raises(InvalidInput, match="--with-env password=VARIABLE"):
        await source_add(kb, ADMIN, address="https://ann:sesame@wiki.example.org/")
    with pytest.raises(InvalidInput, match="begin with ARGOT_"):
        await source_add(kb, ADMIN, address=wiki, variables={"password": "ARGOT_MODEL_KEY"})
    mail = "imaps://mail.example.org/INBOX"
    made = await source_add(kb, ADMIN, address=mail, options={"user": "ann"}, variables={"password": "WIKI_PASSWORD"})
    assert (made.kind, made.name) == ("imap", "mail.example.org")
    made = await source_add(kb, ADMIN, address=wiki, options={"user": "ann"}, variables={"password": "WIKI_PASSWORD"})
    assert made.options == {"user": "ann", "password": {"variable": "WIKI_PASSWORD"}}
    report = await synced(kb, made.name)
    assert (report.state, report.detail) == (
        "failed",
        "The environment variable WIKI_PASSWORD, which the source needs, is not set here.",
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"address": "docs"}, "is not an absolute path"),
        ({"address": "/there/is/none"}, "no folder"),
        ({"every": "often"}, "30m, 6h or 1d"),
        ({"every": "0m"}, "a minute"),
        ({"options": {"colour": "red"}}, "no option 'colour'.*base_uri"),
        ({"name": "a b"}, "name"),
        ({"address": "/"}, "No name"),
        ({"address": "/", "name": "all"}, "must not contain each other"),
        ({"options": {"include": "x"}}, "no option 'include'"),
        ({"options": {"follow_links": "perhaps"}}, "yes or no"),
        ({"options": {"base_uri": "wiki"}}, "a URI"),
        ({"kind": "git", "options": {"branch": "--upload-pack=x"}}, "name of a branch"),
        ({"kind": "git", "options": {"branch": "a:b"}}, "name of a branch"),
        ({"address": "https://wiki.example.org/", "options": {"pages": "-1"}}, "a number"),
        ({"address": "https://wiki.example.org/", "kind": "folder"}, "cannot be a source of kind 'folder'"),
        ({"address": "ssh://git.example.org/x.git"}, "read by https"),
        ({"address": "ext::sh -c true", "kind": "git"}, "'ext:' is not the beginning of a source's address"),
        ({"address": "git@github.com:a/b.git"}, "read by https"),
        ({"address": "javascript:alert(1)"}, "'javascript:' is not the beginning of a source's address"),
        ({"address": "http://127.0.0.1:8000/"}, "private=yes"),
        ({"address": "http://169.254.169.254/latest/"}, "private=yes"),
        ({"address": "https://[::1]/"}, "private=yes"),
        ({"address": "http://localhost/x.git"}, "private=yes"),
        ({"address": "/proc"}, "the system's own"),
        ({"address": __file__}, "is a file. Add it with: argot add"),
        ({"name": "../x"}, "letters of a to z, digits"),
        ({"address": "imaps://mail.example.org/INBOX"}, "requires a user and a password"),
        ({"address": "imaps://ann:x@mail.example.org/INBOX"}, "not to be stored"),
        ({"address": "imaps://mail.example.org/", "options": {"user": "ann", "password": "x"}}, "password=VARIABLE"),
        ({"kind": "imap", "name": "x"}, "imaps://mail.example.org/INBOX"),
        ({"address": "imaps://mail.example.org/", "kind": "web"}, "cannot be a source of kind 'web'"),
        ({"kind": "web", "name": "x"}, "is not the address of a web site"),
        ({"address": "json:JSONDecoder", "kind": "loader"}, "no loader of LangChain"),
        ({"address": "x:Y", "kind": "loader", "include": ["*"]}, "takes no patterns"),
    ],
)
async def test_an_invalid_source_is_refused(kb: KnowledgeBase, folder: Path, given: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        await source_add(kb, ADMIN, **{"address": str(folder), **given})


async def test_the_knowledge_bases_own_folder_cannot_be_a_source(kb: KnowledgeBase) -> None:
    (kb.home / "docs").mkdir()
    for folder in (kb.home, kb.home.parent, kb.home / "docs"):
        with pytest.raises(InvalidInput, match="must not contain each other"):
            await source_add(kb, ADMIN, address=str(folder), name="own")


async def test_a_source_is_synced_once_at_a_time(kb: KnowledgeBase, folder: Path) -> None:
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
    # A sync stopped half way is continued.
    assert (await synced(kb, "docs")).state == "synced"


# -- the schedule -----------------------------------------------------------------------------------------------------


async def test_the_service_syncs_sources_that_are_due(kb: KnowledgeBase, folder: Path, tmp_path: Path) -> None:
    await source_add(kb, ADMIN, address=str(folder), every="6h")
    await source_add(kb, ADMIN, address=str(folder), name="by-hand")
    assert await sync_due(kb) == ["docs"]
    assert await sync_due(kb) == []
    assert len(await list_documents(kb, ADMIN)) == 1
    later = utc_now() + timedelta(hours=6, seconds=1)
    (tmp_path / "docs").rename(tmp_path / "away")
    assert await sync_due(kb, later) == ["docs"]
    (failed,) = [one for one in await source_list(kb, ADMIN) if one.name == "docs"]
    assert (failed.state, failed.failures) == ("failed", 1)
    assert await sync_due(kb) == []
    # This is earlier than its regular schedule.
    (tmp_path / "away").rename(folder)
    assert await sync_due(kb, utc_now() + timedelta(minutes=2, seconds=1)) == ["docs"]
    assert [one.failures for one in await source_list(kb, ADMIN)] == [0, 0]


@pytest.mark.parametrize(
    ("every", "failures", "waits"),
    [(60, 0, 60), (21_600, 0, 21_600), (60, 1, 120), (60, 3, 480), (60, 99, 86_400), (604_800, 99, 604_800)],
)
def test_the_wait_grows_with_each_failed_sync(every: int, failures: int, waits: int) -> None:
    tried = utc_now()
    record = SourceRecord("x", "folder", "/x", {}, every=every, failures=failures, tried_at=format_utc(tried))
    assert not is_sync_due(record, tried + timedelta(seconds=waits - 1))
    assert is_sync_due(record, tried + timedelta(seconds=waits + 1))
    assert not is_sync_due(replace(record, every=0), tried + timedelta(days=9))


async def test_one_failing_source_does_not_stop_the_others(
    kb: KnowledgeBase, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.md").write_text("# B\n\nThe bolt.\n")
    await source_add(kb, ADMIN, address=str(folder), every="1h")
    await source_add(kb, ADMIN, address=str(tmp_path / "more"), every="1h")
    made = connector_choice.make_connector

    def broken(record: SourceRecord) -> Any:
        return 1 / 0 if record.name == "docs" else made(record)

    monkeypatch.setattr(connector_choice, "make_connector", broken)
    assert await sync_due(kb) == ["docs", "more"]
    assert [(one.name, one.state, one.failures) for one in await source_list(kb, ADMIN)] == [
        ("docs", "syncing", 1),
        ("more", "synced", 0),
    ]
    assert await sync_due(kb) == []
