"""Tests of the document and library pages: what they show and do, for each role, with any file name."""

import re
import shutil
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import httpx
import pytest
from desk import CSRF, at_desk
from fastapi import FastAPI
from jinja2 import DictLoader
from repository import ROOT as REPOSITORY

from argot.corpus.ingestion.source import Source
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents import fetch, uploads
from argot.service.usecases.documents.listing import DocumentFilter, document_find
from argot.service.usecases.documents.passages import document_text
from argot.settings import Settings
from argot.types import Document, Principal
from argot.ui.pages import document_pages
from argot.ui.pages.page_base import load_templates
from argot.ui.pages.page_routes import build_pages
from argot.ui.pages.source_pages import build_source_pages
from argot.ui.rendering.document_text import render_document_text
from argot.ui.web.asker_identity import asker
from argot.ui.web.routers import add_routes

ADMIN = Principal("ada", sees_all=True)
MIA = Principal("mia", frozenset({"managers"}))
NINA = Principal("nina", manages=frozenset({"NAND"}))
ANN = Principal("ann")
HOSTILE = '<img src=x onerror=alert(1)>"&.md'
JSON = {"accept": "application/json"}


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home, max_file_mb=2)) as opened:
        yield opened


def at(kb: KnowledgeBase, who: Principal) -> httpx.AsyncClient:
    return at_desk(build_pages(kb), who)


@pytest.fixture
async def mia(kb: KnowledgeBase) -> AsyncIterator[httpx.AsyncClient]:
    async with at(kb, MIA) as client:
        yield client


async def get(client: httpx.AsyncClient, path: str, /, **query: str) -> str:
    answer = await client.get(path, params=query or None)
    assert answer.status_code == 200, (path, answer.status_code, answer.text[-500:])
    return answer.text


async def post(client: httpx.AsyncClient, path: str, /, **fields: str) -> httpx.Response:
    return await client.post(path, data={"csrf": CSRF, **fields}, follow_redirects=False)


async def send(
    client: httpx.AsyncClient, *files: tuple[str, bytes], script: bool = False, **fields: str
) -> httpx.Response:
    return await client.post(
        "/documents/upload",
        data={"csrf": CSRF, **fields},
        files=[("files", file) for file in files],
        headers=JSON if script else {},
        follow_redirects=False,
    )


async def document(kb: KnowledgeBase, text: str) -> Document:
    (found,) = (await document_find(kb, ADMIN, wanted=DocumentFilter(text=text))).documents
    return found


async def test_the_pages_answer_without_inline_or_remote_content(kb: KnowledgeBase, mia: httpx.AsyncClient) -> None:
    await uploads.upload(
        kb, MIA, name=HOSTILE, data=f"# {HOSTILE}\n\n## {HOSTILE}\n\n{HOSTILE}\n".encode(), tags=[HOSTILE]
    )
    await uploads.upload(kb, MIA, name=HOSTILE, data=f"# {HOSTILE}\n\nnew {HOSTILE}\n".encode())
    odd = await document(kb, "onerror")
    nand = await document(kb, "nand")
    await post(mia, f"/documents/{nand.id}/remove")
    (former,) = set(re.findall(rf"/documents/{odd.id}/revisions/(r\w+)", await get(mia, f"/documents/{odd.id}")))
    for path in (
        "/documents", "/documents?q=tool&order=longest&age=7&state=derived", "/documents/rows?q=x", "/library",
        f"/documents?removed={nand.id}&done=removed", "/documents?tag=%3Cimg", "/documents?start=50", "/library?q=none",
        f"/documents/{odd.id}", f"/documents/{odd.id}/revisions/{former}", f"/library/{odd.id}", "/documents/dustbin",
    ):  # fmt: skip
        answer = await mia.get(path)
        assert answer.status_code == 200, path
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        tags = re.sub(r'"[^"]*"', '""', answer.text)
        assert re.findall(r"<style|<[^>]*\sstyle=|<script>|<img src=x|<[^>]*\son\w+=|hx-on|\bjs:", tags) == [], path
        assert "://" not in answer.text.replace("upload://", ""), path
        for form in re.findall(r'<form[^>]*method="post".*?</form>', answer.text, re.DOTALL):
            assert f'name="csrf" value="{CSRF}"' in form
    assert HOSTILE in unescape(await get(mia, "/documents"))


@pytest.mark.parametrize("script", [True, False])
async def test_files_are_added_and_failures_reported(kb: KnowledgeBase, mia: httpx.AsyncClient, script: bool) -> None:
    labels = {"tags": "ship, deck", "audience": "managers"}
    good, bad = ("gangway.md", b"# Gangway\n\nIt is 40 metres long.\n"), ("broken.pdf", b"%PDF-1.7 no")
    if script:
        added = await send(mia, good, script=True, **labels)
        assert added.status_code == 200
        found = added.json()
        assert (found["kind"], found["name"], found["detail"]) == ("added", "gangway.md", "1 passage")
        refused = await send(mia, bad, script=True)
        assert (refused.status_code, refused.headers["content-type"]) == (400, "text/plain; charset=utf-8")
        assert refused.text.startswith("broken.pdf was not added: damaged")
        assert (await send(mia, good, bad, script=True)).status_code == 400
    else:
        told = unescape((await send(mia, good, bad, **labels)).text)
        assert "gangway.md" in told
        assert "broken.pdf was not added: damaged" in told
        assert "No file was chosen" in (await send(mia)).text
    stored = await document(kb, "gangway")
    assert (stored.tags, stored.audience) == (("deck", "ship"), {"managers"})
    large = await send(mia, ("large.md", b"x" * 3_100_000), script=script)
    assert (large.status_code, "at most 2 MB" in large.text) == (413, True)


async def test_the_list_of_documents_is_filtered_and_paged(kb: KnowledgeBase, mia: httpx.AsyncClient) -> None:
    for number in range(60):
        await uploads.upload(
            kb, MIA, name=f"note-{number:02}.md", data=f"# Note\n\nNumber {number}.\n".encode(), tags=["n"]
        )
    first = await get(mia, "/documents", order="name", tag="n")
    assert "60 of 63 documents" in first
    assert "note-49.md" in first
    assert "note-50.md" not in first
    (more,) = re.findall(r'<a href="([^"]*)">More</a>', first)
    assert "note-50.md" in await get(mia, unescape(more))
    typed = await mia.get("/documents/rows", params={"q": "note-07"}, headers={"hx-request": "true"})
    assert typed.headers["hx-replace-url"] == "/documents?q=note-07"
    assert "<html" not in typed.text
    assert "1 of 63 documents" in typed.text


async def test_labels_are_changed_and_may_hide_a_document_from_oneself(
    kb: KnowledgeBase, mia: httpx.AsyncClient
) -> None:
    one = await document(kb, "tariff")
    saved = await post(mia, f"/documents/{one.id}/labels", tags="law, tariff", audience="")
    assert saved.headers["location"] == f"/documents/{one.id}?done=saved"
    assert (await document(kb, "tariff")).tags == ("law", "tariff")
    wrong = await post(mia, f"/documents/{one.id}/labels", tags="law", audience="not a group!")
    assert (wrong.status_code, 'value="not a group!"' in wrong.text) == (400, True)
    hidden = await post(mia, f"/documents/{one.id}/labels", tags="law", audience="legal")
    assert hidden.headers["location"] == "/documents?done=hidden"
    assert (await mia.get(f"/documents/{one.id}")).status_code == 404


async def test_a_document_is_replaced_compared_restored_and_read_again(
    kb: KnowledgeBase, mia: httpx.AsyncClient
) -> None:
    one = await document(kb, "tariff")
    path = f"/documents/{one.id}"
    file = {
        "file": ("tariff of 2027.md", b"# Tariff filing handbook\n\nA late tariff filing costs 700 dollars a day.\n")
    }
    done = await mia.post(f"{path}/replace", data={"csrf": CSRF}, files=file)
    assert done.headers["location"] == f"{path}?done=replaced"
    shown = await get(mia, path)
    assert "1 former revision" in shown
    assert "700 dollars" in shown
    (compare,) = re.findall(rf'href="({path}/revisions/\w+)"', shown)
    compared = await get(mia, compare)
    assert "<del>" in compared
    assert "<ins>700</ins>" in compared or "700" in compared
    assert (await post(mia, f"{compare}/bring-back")).headers["location"] == f"{path}?done=revision-back"
    assert "500 dollars" in await get(mia, path)
    assert (await post(mia, f"{path}/reread")).headers["location"] == f"{path}?done=reread"
    other = await mia.post(f"{path}/replace", data={"csrf": CSRF}, files={"file": ("a.pdf", b"%PDF-")})
    assert (other.status_code, "another format" in other.text) == (400, True)
    assert "No file was chosen" in (await post(mia, f"{path}/replace")).text


async def test_a_removal_is_undone_at_once_or_later_or_made_permanent(
    kb: KnowledgeBase, mia: httpx.AsyncClient
) -> None:
    one = await document(kb, "tariff")
    removed = await post(mia, f"/documents/{one.id}/remove")
    page = await get(mia, removed.headers["location"])
    assert "tariff-filing.md" not in page
    assert (await post(mia, f"/documents/dustbin/{one.id}/restore")).status_code == 303
    assert f'action="/documents/dustbin/{one.id}/restore"' in page
    assert "500 dollars" in await get(mia, f"/documents/{one.id}")
    await post(mia, f"/documents/{one.id}/remove")
    assert "tariff-filing.md" in await get(mia, "/documents/dustbin")
    assert (await post(mia, "/documents/dustbin/erase", document=one.id)).status_code == 303
    assert "Nothing was removed" in await get(mia, "/documents/dustbin")
    assert 'action="/documents/dustbin/x' not in await get(mia, "/documents", removed='x"><b>')


async def test_the_pages_of_a_pdf_are_shown_beside_its_text(kb: KnowledgeBase, mia: httpx.AsyncClient) -> None:
    pdf = REPOSITORY / "samples/documents/reliability-test/qualification-plan.pdf"
    await uploads.upload(kb, MIA, name=pdf.name, data=pdf.read_bytes())
    one = await document(kb, pdf.name)
    shown = await get(mia, f"/documents/{one.id}")
    (picture,) = re.findall(r'<img src="(/documents/[^"]*)"', shown)
    drawn = await mia.get(picture)
    assert (drawn.status_code, drawn.headers["content-type"]) == (200, "image/png")
    assert drawn.content.startswith(b"\x89PNG")
    saved = await mia.get(f"/documents/{one.id}/original")
    assert saved.content == pdf.read_bytes()
    assert saved.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in saved.headers["content-security-policy"]
    assert (await mia.get(f"/documents/{one.id}?part=77")).status_code == 404
    assert (await mia.get(f"/documents/{one.id}/page-77.png")).status_code == 404


async def test_warnings_of_the_reader_are_stored_and_shown(kb: KnowledgeBase, mia: httpx.AsyncClient) -> None:
    wide = f"# Notes\n\n.. include:: {HOSTILE}\n"
    report = await uploads.upload(kb, MIA, name="wide.rst", data=f"Wide\n====\n\nSome text.\n\n{wide[9:]}".encode())
    assert report.document is not None
    (warning,) = report.document.warnings
    assert "onerror" in warning
    assert warning in unescape(await get(mia, "/documents", state="incomplete"))
    assert "1 of 4 documents" in await get(mia, "/documents", state="incomplete")
    shown = await get(mia, f"/documents/{report.document.id}")
    assert "Not all of it was read." in shown and warning in unescape(shown)
    assert "<img src=x" not in shown
    again = await uploads.upload(kb, MIA, name="wide.rst", data=b"Wide\n====\n\nSome text.\n")
    assert again.document is not None and again.document.warnings == ()
    async with at(kb, ANN) as ann:
        assert "not fully read" not in await get(ann, "/library")


async def test_several_documents_are_tagged_restricted_reread_and_removed(
    kb: KnowledgeBase, mia: httpx.AsyncClient
) -> None:
    chosen = [await document(kb, name) for name in ("tariff", "nand")]

    async def change(what: str, **fields: str) -> httpx.Response:
        data = {"csrf": CSRF, "document": [one.id for one in chosen], "change": what, **fields}
        return await mia.post("/documents/change?order=name", data=data, follow_redirects=False)

    assert (await change("tag", tags="law, late")).headers["location"] == "/documents?order=name&done=all-tag"
    assert [(await document(kb, name)).tags for name in ("tariff", "nand")] == [("late", "law")] * 2
    await change("untag", tags="late")
    unknown = await change("audience", audience="managers, crwe")
    assert "One of these names belongs to no group or person" in await get(mia, unknown.headers["location"])
    await change("audience", audience="managers")
    assert [(await document(kb, name)).audience for name in ("tariff", "nand")] == [frozenset({"managers"})] * 2
    assert (await change("reread")).headers["location"].endswith("done=all-reread")
    assert (await document(kb, "tariff")).tags == ("law",)
    refused = await change("tag", tags=" ")
    assert (refused.status_code, "Which tag?" in refused.text) == (400, True)
    assert "Tick documents first" in (await post(mia, "/documents/change", change="remove")).text
    await change("remove")
    again = await change("remove")
    assert (again.status_code, again.text.count("There is no document")) == (200, 2)
    assert "tariff-filing.md" in await get(mia, "/documents/dustbin")
    async with at(kb, NINA) as nina:
        data = {"csrf": CSRF, "document": [chosen[0].id], "change": "remove"}
        assert (await nina.post("/documents/change", data=data)).status_code == 403


async def test_files_of_the_same_name_in_different_folders_stay_separate(
    kb: KnowledgeBase, mia: httpx.AsyncClient
) -> None:
    for folder in ("plans/2026", "plans/2027", "plans/../2026/<b>"):
        sent = await send(mia, ("readme.md", f"# {folder}\n\nOf {folder}.\n".encode()), script=True, folder=folder)
        assert sent.json()["kind"] == "added", sent.text
    found = (await document_find(kb, ADMIN, wanted=DocumentFilter(text="readme"))).documents
    assert sorted(one.uri for one in found) == [
        "upload://mia/plans/2026/%3Cb%3E/readme.md",
        "upload://mia/plans/2026/readme.md",
        "upload://mia/plans/2027/readme.md",
    ]


async def test_a_file_in_too_many_folders_is_refused(kb: KnowledgeBase, mia: httpx.AsyncClient) -> None:
    deepest = "/".join(map(str, range(20)))
    assert (await send(mia, ("a.md", b"# A\n\nText.\n"), script=True, folder=deepest)).json()["kind"] == "added"
    deeper = await send(mia, ("a.md", b"# A\n\nOther text.\n"), script=True, folder=f"{deepest}/20")
    assert deeper.status_code == 400 and "21 folders deep; at most 20 are accepted" in deeper.text
    assert len((await document_find(kb, ADMIN, wanted=DocumentFilter(text="a.md"))).documents) == 1


async def test_a_web_address_is_fetched_and_added(
    kb: KnowledgeBase, mia: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetched(address: str, most_bytes: int) -> Source:
        if "private" in address:
            return fetched_source(address, most_bytes)
        return Source(address, "anvil.html", lambda: b"<title>Anvils</title><p>An anvil weighs 90 kilos.</p>")

    fetched_source = fetch.fetch_source
    monkeypatch.setattr(fetch, "fetch_source", fetched)
    told = unescape((await post(mia, "/documents/upload", address="https://example.org/anvil", tags="iron")).text)
    assert "anvil" in told and "added" in told
    assert (await document(kb, "anvil")).tags == ("iron",)
    refused = unescape((await post(mia, "/documents/upload", address="https://127.0.0.1/private")).text)
    assert "lies in a private network" in refused
    async with at(kb, NINA) as nina:
        assert "was not added" not in (await post(nina, "/documents/upload", address="https://example.org/x")).text


async def test_an_asker_sees_only_documents_they_may_read(kb: KnowledgeBase) -> None:
    secret, nand = await document(kb, "vault"), await document(kb, "nand")
    async with at(kb, ANN) as ann:
        page = await get(ann, "/library")
        assert "vault" not in page
        assert "3 documents" in page
        names = re.findall(r'class="term"[^>]*>([^<]+)<', page)
        assert len(names) == 3 and names == sorted(names)
        assert "/documents" not in page
        shown = unescape(await get(ann, f"/library/{nand.id}"))
        assert "Word Line</h3>" in shown and "during a read is 4.5 V" in shown
        assert f'href="/?about={nand.id}"' in shown
        for rest in ("", "/original", "/page-1.png"):
            missing = await ann.get(f"/library/{secret.id}{rest}", headers={"Accept": "text/html"})
            assert missing.status_code == 404 and "14 days" not in missing.text, rest
        page = (await ann.get(f"/library/{secret.id}")).text
        assert "All documents" in page and "argot list" not in page
        choices = (await ann.get("/library/choices?q=v")).json()
        assert [one["name"] for one in choices["documents"]] == ["drive-tool.md"]


async def test_the_cited_passage_is_marked_where_it_is_read(kb: KnowledgeBase) -> None:
    kb.people.add("ann", ())
    nand = await document(kb, "nand")
    passages = kb.document_store.passages_of(ADMIN, nand.id)
    one = next(one for one in passages if "4.5 V" in one.text)
    start = one.start + one.text.index("The Word Line voltage")
    span = f"{start}-{start + 44}"
    async with at(kb, ANN) as ann:
        page = await get(ann, f"/library/{nand.id}?passage={one.id}&span={span}")
        assert f'id="{one.id}"' in page and f'href="#{one.id}"' in page
        assert "<mark>The Word Line voltage during a read is 4.5 V</mark>" in page
        gone = await get(ann, f"/library/{nand.id}?passage=p0000000000000000")
        assert "not in this document any more" in gone and "<mark>" not in gone
        assert (await ann.get(f"/library/{nand.id}?part=9")).status_code == 404
        assert "4.5 V" in await get(ann, f"/library/{nand.id}?part=x")
        saved = await ann.get(f"/library/{nand.id}/original")
        assert saved.headers["content-disposition"].startswith("attachment; filename*=UTF-8''nand-layout.md")
        assert "sandbox" in saved.headers["content-security-policy"] and b"# NAND layout guide" in saved.content
    app = FastAPI()
    add_routes(app, build_source_pages(kb))
    token = asker.set("ann")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as tab:
        opened = await tab.get(f"/argot/passages/{one.id}?span={span}", headers={"accept": "text/html,*/*"})
        assert opened.headers["location"] == f"/library/{nand.id}?passage={one.id}&span={span}#{one.id}"
        assert "[Read it in the document](/library/" in (await tab.get(f"/argot/passages/{one.id}")).text
    asker.reset(token)


async def test_a_table_that_is_cut_between_parts_keeps_its_head(kb: KnowledgeBase) -> None:
    rows = "".join(f"| row {number} | {'word ' * 40}|\n" for number in range(400))
    await uploads.upload(kb, MIA, name="rows.md", data=f"# Rows\n\n| one | two |\n|---|---|\n{rows}".encode())
    found = await document_text(kb, ANN, document="rows.md", part=2)
    assert found.text.startswith("| row ") and found.columns == "| one | two |\n|---|---|\n"
    first = found.passages[0]
    html, left = render_document_text(found, first.id, [(first.start + 2, first.start + 7)])
    assert html.startswith("<table>") and "<th>one</th>" in html and f'id="{first.id}"' in html
    assert "<mark>row " in html and left == []
    # Nothing is lost or repeated between the parts.
    whole = [await document_text(kb, ANN, document="rows.md", part=part) for part in found.parts]
    assert "".join(one.text for one in whole) == kb.document_store.markdown(ANN, found.document.revision_id)


async def test_a_manager_of_some_contexts_sees_but_does_not_change_documents(kb: KnowledgeBase) -> None:
    nand = await document(kb, "nand")
    async with at(kb, NINA) as nina:
        pages = [await get(nina, path) for path in ("/documents", f"/documents/{nand.id}")]
        assert all('method="post"' not in page for page in pages)
        for path in (f"/documents/{nand.id}/remove", f"/documents/{nand.id}/reread", "/documents/dustbin/erase"):
            assert (await post(nina, path)).status_code == 403, path
        assert (await send(nina, ("a.md", b"# A\n\ntext\n"), script=True)).status_code == 403
        assert "was not added" not in (await send(nina, ("a.md", b"# A\n\ntext\n"))).text


async def test_an_empty_base_shows_what_to_do(tmp_path: Path) -> None:
    home = tmp_path / "kb"
    async with KnowledgeBase.open(home, Settings(home=home), create=True) as kb, at(kb, MIA) as mia:
        page = await get(mia, "/documents")
        assert '<details class="card add" open>' in page
        assert "There are no documents yet" in page
        assert "Nothing was removed" in await get(mia, "/documents/dustbin")
        assert "Add some" in await get(mia, "/library")


async def test_a_server_error_is_shown_on_a_page_with_a_way_back(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(document_pages, "list_documents", broken)
    async with at(kb, MIA) as client:
        client._transport.raise_app_exceptions = False  # type: ignore[attr-defined]
        answer = await client.get("/documents")
        assert (answer.status_code, answer.headers["content-type"]) == (500, "text/html; charset=utf-8")
        assert "door.css" in answer.text and "Something went wrong" in answer.text and "secret" not in answer.text
        assert 'href="/documents"' in answer.text
        lines = await client.get("/documents", headers={"accept": "*/*"})
        assert (lines.status_code, lines.headers["content-type"]) == (500, "text/plain; charset=utf-8")


def test_templates_are_read_once() -> None:
    made = load_templates()
    assert not made.auto_reload
    # The templates are in memory, whatever happens to the files.
    assert isinstance(made.loader, DictLoader)
    assert {"documents.html", "sources.html"} <= made.loader.mapping.keys()


async def test_a_superseded_document_is_marked_as_such(kb: KnowledgeBase, mia: httpx.AsyncClient) -> None:
    text = b"---\ndate: 2023-02-01\nstatus: Draft\nsuperseded_by: Travel 2025\n---\n# Travel\n\nA night costs 90.\n"
    await uploads.upload(kb, MIA, name="travel.md", data=text)
    one = await document(kb, "travel")
    for path in ("/documents", "/library", f"/documents/{one.id}", f"/library/{one.id}"):
        shown = await get(mia, path)
        assert ">draft</span>" in shown and ">superseded by Travel 2025</span>" in shown, path
        assert "rev. 2023-02-01" in shown, path


async def test_fields_are_edited_on_the_page(kb: KnowledgeBase, mia: httpx.AsyncClient) -> None:
    one = await document(kb, "nand")
    path = f"/documents/{one.id}"
    assert (await post(mia, f"{path}/labels", fields="region: EU\nregion: UK\nstatus: draft")).status_code == 303
    shown = await get(mia, path)
    assert "region: EU\nregion: UK\nstatus: draft</textarea>" in shown and ">draft</span>" in shown
    refused = await post(mia, f"{path}/labels", fields="region EU")
    opened = re.search(r'<details class="act" open>.*?</form>', refused.text, re.DOTALL)
    assert refused.status_code == 400 and opened and "is not a field with a value" in opened[0]
    await post(mia, f"{path}/labels", fields="")
    assert "draft</span>" not in await get(mia, path)


async def test_a_refused_replacement_opens_its_form_again(kb: KnowledgeBase, mia: httpx.AsyncClient) -> None:
    one = await document(kb, "nand")
    file = [("file", ("other.pdf", b"%PDF-1.7 no"))]
    refused = await mia.post(f"/documents/{one.id}/replace", data={"csrf": CSRF}, files=file)
    (opened,) = re.findall(r'<details class="act" open>.*?</form>', refused.text, re.DOTALL)
    assert refused.status_code == 400 and ">Replace</summary>" in opened and 'role="alert"' in opened


async def test_a_documents_text_is_shown_formatted_or_raw(kb: KnowledgeBase, mia: httpx.AsyncClient) -> None:
    text = "# Limits\n\n**Bold** [link](https://evil.example) ![x](https://evil.example/x.png) <b>tag</b>\n\n"
    text += "| a | b |\n|---|---|\n| 1 | 2 |\n"
    await uploads.upload(kb, MIA, name="limits.md", data=text.encode())
    path = f"/documents/{(await document(kb, 'limits')).id}"
    shown = await get(mia, path)
    assert "<strong>Bold</strong>" in shown and "<td>1</td>" in shown
    assert '<a href="http' not in shown and "<b>" not in shown and '<img src="http' not in shown
    raw = await get(mia, path, text="raw")
    assert "**Bold**" in raw and "<strong>Bold" not in raw
    assert (await mia.get(f"{path}/picture")).status_code == 404
