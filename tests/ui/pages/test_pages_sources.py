"""Tests of the page of sources: their status, adding, syncing, confirming a large removal, and removing."""

import asyncio
import re
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import httpx
import pytest
from desk import CSRF, at_desk

from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.documents import list_documents
from argot.service.usecases.documents.sources import KINDS, source_add, source_list, source_progress
from argot.settings import Settings
from argot.types import Principal
from argot.ui.pages import document_source_pages as source_pages
from argot.ui.pages.page_routes import build_pages

ADMIN = Principal("ada", sees_all=True)
MIA = Principal("mia", frozenset({"managers"}))
NINA = Principal("nina", manages=frozenset({"NAND"}))
PAGE = "/documents/sources"
HOSTILE = "<img src=x onerror=alert(1)>.md"


@pytest.fixture
async def kb(tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    async with KnowledgeBase.open(tmp_path / "kb", Settings(threads=1), create=True) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for name in "abcd":
        (tmp_path / "docs" / f"{name}.md").write_text(f"# Anvil {name}\n\nThe anvil {name} weighs 90 kilos.\n")
    return tmp_path / "docs"


@pytest.fixture
async def ada(kb: KnowledgeBase) -> AsyncIterator[httpx.AsyncClient]:
    async with at_desk(build_pages(kb), ADMIN) as client:
        yield client


async def post(client: httpx.AsyncClient, path: str, /, **fields: str) -> httpx.Response:
    return await client.post(path, data={"csrf": CSRF, **fields}, follow_redirects=False)


async def synced(kb: KnowledgeBase, client: httpx.AsyncClient, name: str = "docs", **fields: str) -> str:
    """Sync a source on its page, and return the page after the sync."""
    assert (await post(client, f"{PAGE}/{name}/sync", **fields)).headers["location"] == PAGE
    return await rested(kb, client)


async def rested(kb: KnowledgeBase, client: httpx.AsyncClient) -> str:
    while await source_progress(kb, ADMIN):  # noqa: ASYNC110  what is asked is a use case, which has no event
        await asyncio.sleep(0.02)
    return unescape((await client.get(PAGE)).text)


async def test_a_folder_is_added_as_a_source_and_kept_in_sync(
    kb: KnowledgeBase, ada: httpx.AsyncClient, folder: Path
) -> None:
    assert "There are no sources yet" in (await ada.get(PAGE)).text
    added = await post(ada, PAGE, address=str(folder), every="6h", tags="anvils", now="yes")
    assert added.headers["location"] == f"{PAGE}?done=source-added"
    page = await rested(kb, ada)
    assert "up to date" in page
    assert "4 added · every 6 hours" in page
    (folder / "a.md").rename(folder / "z.md")
    (folder / "b.md").unlink()
    (folder / "c.md").write_text("# Anvil c\n\nIt weighs 95 kilos.\n")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    (folder / HOSTILE).write_bytes(b"%PDF\x00\x01")
    page = await synced(kb, ada)
    assert re.search(r"1 updated, 1 renamed, 1 removed, [12] failed", page)
    assert "broken.pdf" in page and "damaged" in page
    assert "Try again now" in page
    assert "<img src=x" not in (await ada.get(PAGE)).text


async def test_each_kind_of_source_has_a_name(kb: KnowledgeBase, ada: httpx.AsyncClient, folder: Path) -> None:
    assert set(source_pages.KINDS) == set(KINDS)
    mail = {"address": "imaps://mail.example.org/INBOX", "options": {"user": "ann"}, "variables": {"password": "PW"}}
    await source_add(kb, ADMIN, name="mail", **mail)
    await source_add(kb, ADMIN, name="wiki", address=str(folder), kind="confluence")
    await source_add(kb, ADMIN, name="library", address=str(folder), kind="sharepoint")
    page = (await ada.get(PAGE)).text
    for named in ("Confluence export", "SharePoint export", "Mail"):
        assert named in page


async def test_a_sync_that_would_empty_a_source_needs_a_confirmation(
    kb: KnowledgeBase, ada: httpx.AsyncClient, folder: Path
) -> None:
    await source_add(kb, ADMIN, address=str(folder))
    await synced(kb, ada)
    for name in "abc":
        (folder / f"{name}.md").unlink()
    page = await synced(kb, ada)
    assert "waits for you" in page
    assert "3 documents of 4 were deleted there." in page
    assert all(f"<bdi>{name}.md</bdi>" in page for name in "abc") and "d.md" not in page
    assert len(await list_documents(kb, ADMIN)) == 4
    page = await synced(kb, ada, confirm="yes")
    assert "3 removed" in page and "waits for you" not in page
    assert len(await list_documents(kb, ADMIN)) == 1


async def test_an_unreachable_source_shows_the_reason_and_can_be_retried(
    kb: KnowledgeBase, ada: httpx.AsyncClient, folder: Path
) -> None:
    await source_add(kb, ADMIN, address=str(folder))
    await synced(kb, ada)
    away = folder.rename(folder.with_name("elsewhere"))  # noqa: ASYNC240
    page = await synced(kb, ada)
    assert "nothing was removed" in page and "Try again now" in page
    away.rename(folder)
    assert "up to date" in await synced(kb, ada)


async def test_at_most_twenty_deleted_files_are_named(kb: KnowledgeBase, ada: httpx.AsyncClient, folder: Path) -> None:
    for number in range(18):
        (folder / f"e{number}.md").write_text(f"# Bollard {number}\n\nBollard {number} stands.\n")
    await source_add(kb, ADMIN, address=str(folder))
    await synced(kb, ada)
    for path in folder.iterdir():  # noqa: ASYNC240
        path.unlink()
    page = await synced(kb, ada)
    assert page.count("<bdi>", page.index("Deleted: "), page.index(" and 2 more</p>")) == 20


@pytest.mark.parametrize("documents", ["keep", "remove"])
async def test_removing_a_source_asks_whether_to_keep_its_documents(
    kb: KnowledgeBase, ada: httpx.AsyncClient, folder: Path, documents: str
) -> None:
    await source_add(kb, ADMIN, address=str(folder))
    assert "What should happen to its 4 documents?" in await synced(kb, ada)
    gone = await post(ada, f"{PAGE}/docs/remove", documents=documents)
    assert gone.headers["location"].startswith(PAGE)
    assert await source_list(kb, ADMIN) == []
    assert len(await list_documents(kb, ADMIN)) == (4 if documents == "keep" else 0)
    assert ("anvil" in (await ada.get("/documents/dustbin")).text.casefold()) == (documents == "remove")


async def test_the_error_for_an_invalid_source_keeps_the_form(
    kb: KnowledgeBase, ada: httpx.AsyncClient, folder: Path
) -> None:
    for given, said in (
        ({"address": str(folder / "nowhere"), "tags": "x<y"}, "There is no folder"),
        ({"address": "https://ann:sesame@wiki.example.org/"}, "holds a name or a password"),
        ({"address": ""}, "Where is it?"),
        ({"address": str(folder), "every": "3 fortnights"}, "cannot be synced every"),
    ):
        refused = await post(ada, PAGE, **given)
        assert (refused.status_code, said in unescape(refused.text)) == (400, True), given
        assert all(f'value="{text}"' in unescape(refused.text) for text in given.values() if "every" not in given)
    await post(ada, PAGE, address=str(folder), name="one")
    assert (await post(ada, PAGE, address=str(folder), name="one")).status_code == 409
    assert (await ada.post(f"{PAGE}/none/sync", data={"csrf": CSRF})).status_code == 404


async def test_folders_require_an_admin_and_the_page_a_manager_of_everything(kb: KnowledgeBase, folder: Path) -> None:
    async with at_desk(build_pages(kb), MIA) as mia:
        refused = await post(mia, PAGE, address=str(folder))
        assert (refused.status_code, "requires the role 'admin'" in unescape(refused.text)) == (403, True)
        assert (await post(mia, PAGE, address="https://wiki.example.org/")).status_code == 303
    async with at_desk(build_pages(kb), NINA) as nina:
        assert (await nina.get(PAGE)).status_code == 403
        assert "/documents/sources" not in (await nina.get("/documents")).text


async def test_options_are_given_and_named_as_on_the_page(kb: KnowledgeBase, ada: httpx.AsyncClient) -> None:
    mail = {"address": "imaps://mail.example.org/INBOX", "kind": "imap"}
    refused = unescape((await post(ada, PAGE, **mail)).text)
    assert "under Options user=NAME under Secrets password=VARIABLE" in refused and "--with" not in refused
    assert "is not an option with a value" in unescape((await post(ada, PAGE, **mail, options="user")).text)
    made = await post(ada, PAGE, **mail, options="user=ann\nencrypted = no", secrets="password=MAIL_PASSWORD")
    assert made.headers["location"] == f"{PAGE}?done=source-named"
    (found,) = await source_list(kb, ADMIN)
    assert found.options == {"user": "ann", "encrypted": "no", "password": {"variable": "MAIL_PASSWORD"}}
