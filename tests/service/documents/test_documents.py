"""Tests of the use cases behind the document pages: find, label, read again, replace, compare, remove and restore."""

import asyncio
import io
import shutil
import zipfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from killing import killed, shares, steps_of
from repository import ROOT as REPOSITORY

from argot.corpus.chunking.headings import find_headings
from argot.corpus.corpus import Corpus
from argot.corpus.store import dustbin
from argot.errors import Conflict, InvalidInput, NotAllowed, NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.service.transport.knowledge_base_client import SocketClient, connect
from argot.service.transport.local_socket import serve_socket
from argot.service.usecases import catalogue
from argot.service.usecases.documents.listing import DocumentFilter
from argot.settings import Settings
from argot.types import Document, Principal

ROOT = Principal("root", sees_all=True)
MIA = Principal("mia", frozenset({"managers"}))
NINA = Principal("nina", manages=frozenset({"NAND"}))
ANN = Principal("ann")
FIRST = b"# Gangway\n\n## Length\n\nThe gangway is 40 metres long.\n\n## Colour\n\nIt is grey.\n"
SECOND = b"# Gangway\n\n## Length\n\nThe gangway is 42 metres long.\n\n## Colour\n\nIt is grey.\n"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        yield opened


async def do(kb: KnowledgeBase, who: Principal, name: str, /, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, who, name, **parameters)


async def put(kb: KnowledgeBase, data: bytes = FIRST, name: str = "gangway.md", **labels: Any) -> Any:
    return await catalogue.uploads.upload(kb, MIA, name=name, data=data, **labels)


async def asked(kb: KnowledgeBase) -> str:
    found = await do(kb, MIA, "ask", question="How long is the gangway?")
    return str(found["answer"])


def names(found: Any) -> list[str]:
    return [one["name"] for one in found["documents"]]


async def test_a_question_may_be_limited_to_one_document_by_name_or_thread(kb: KnowledgeBase) -> None:
    await put(kb)
    await put(kb, name="other.md", data=b"# Other\n\nThe canteen serves pike.\n")
    found = await do(kb, MIA, "ask", question="How long is the gangway?", documents=["gangway.md"])
    assert "40 metres" in found["answer"] and "Only gangway.md was searched" in found["notes"][0]
    other = await do(kb, MIA, "ask", question="What does the canteen serve?", documents=["gangway.md"])
    assert "pike" not in other["answer"]
    kept = await do(kb, MIA, "thread_settings", thread=other["thread"], documents=["other.md"])
    assert len(kept["settings"]["documents"]) == 1
    again = await do(kb, MIA, "ask", question="And what does the canteen serve on the ship?", thread=other["thread"])
    assert {one["document"] for one in again["passages"]} == {"other.md"}
    await do(kb, MIA, "thread_settings", thread=other["thread"])
    free = await do(kb, MIA, "ask", question="How long is the gangway?", thread=other["thread"])
    assert "40 metres" in free["answer"]
    for who, name in ((MIA, "none.md"), (ANN, "vault.md")):
        with pytest.raises(NotFound, match=name):
            await do(kb, who, "ask", question="How long is it?", documents=[name])


async def test_answers_are_counted_and_only_shared_questions_shown(kb: KnowledgeBase) -> None:
    await put(kb)
    began = datetime.now(UTC).date().isoformat()
    for who in (ANN, MIA):
        found = await do(kb, who, "ask", question="How long is the gangway?")
    mine = await do(kb, ANN, "ask", question="How long is the gangway, in metres?")
    await do(kb, ANN, "ask", question="Zzyzx?")
    await kb.chores.finish()
    use = await do(kb, MIA, "document_use", document="gangway.md")
    assert (use["answers"], use["lately"], use["questions"]) == (3, 3, [])
    assert began <= use["last"] <= datetime.now(UTC).date().isoformat()
    await do(kb, ANN, "feedback", thread=mine["thread"], turn=0, value=1, share=True)
    await do(kb, MIA, "feedback", thread=found["thread"], turn=0, value=1)
    use = await do(kb, MIA, "document_use", document="gangway.md")
    assert use["questions"] == ["How long is the gangway, in metres?"]
    with pytest.raises(NotAllowed):
        await do(kb, NINA, "document_use", document="gangway.md")


async def test_documents_are_found_by_words_tag_audience_age_and_state(kb: KnowledgeBase) -> None:
    await put(kb, tags=["ship", "deck"], audience=["crew"])
    await put(kb, name="Köder plan.md", data=b"# Bait\n\nThe bait is red.\n")
    await put(kb, name="Köder plan.md", data=b"# Bait\n\nThe bait is blue.\n")
    both = ["gangway.md", "Köder plan.md"]
    assert names(await do(kb, ROOT, "document_find", text="GANG")) == ["gangway.md"]
    assert names(await do(kb, ROOT, "document_find", text="plan köd")) == ["Köder plan.md"]
    assert names(await do(kb, ROOT, "document_find", tag="ship")) == ["gangway.md"]
    assert names(await do(kb, ROOT, "document_find", audience="crew")) == ["gangway.md"]
    assert "Köder plan.md" in names(await do(kb, ROOT, "document_find", audience="everyone"))
    assert names(await do(kb, ROOT, "document_find", state="replaced")) == ["Köder plan.md"]
    assert set(both) <= set(names(await do(kb, ROOT, "document_find", state="not derived")))
    assert names(await do(kb, ROOT, "document_find", text="md", state="derived")) == ["drive-tool.md"]
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    assert names(await do(kb, ROOT, "document_find", added_after=tomorrow)) == []
    assert len(names(await do(kb, ROOT, "document_find", added_before=tomorrow))) == 6
    page = await do(kb, ROOT, "document_find", order="longest", start=5, limit=3)
    assert (page["found"], page["total"], len(page["documents"])) == (6, 6, 1)
    assert page["tags"] == {"deck": 1, "ship": 1}
    assert page["audiences"] == {"crew": 1, "everyone": 4, "vault": 1}


async def test_a_user_neither_finds_nor_counts_documents_closed_to_them(kb: KnowledgeBase) -> None:
    await put(kb, tags=["deck"], audience=["crew"])
    found = await do(kb, ANN, "document_find")
    assert (found["total"], found["tags"], found["audiences"]) == (3, {}, {"everyone": 3})
    gangway = (await do(kb, ROOT, "document_find", text="gangway"))["documents"][0]["id"]
    for name, parameters in (
        ("document_contents", {}), ("document_part", {}), ("document_page", {"page": 1}),
        ("document_pictures", {}), ("document_picture", {"number": 1}), ("document_label", {}),
        ("document_text", {}), ("document_text", {"part": 1}),
        ("document_reread", {}), ("document_revisions", {}), ("document_replace", {"name": "a.md", "data": b"x"}),
        ("document_compare", {"revision": "r"}), ("document_bring_back", {"revision": "r"}), ("remove", {}),
    ):  # fmt: skip
        with pytest.raises(NotFound):
            await do(kb, MIA, name, document=gangway, **parameters)
    await do(kb, ROOT, "remove", document=gangway)
    assert await do(kb, MIA, "removed_list") == []
    for name in ("document_restore", "removed_erase"):
        with pytest.raises(NotFound):
            await do(kb, MIA, name, document=gangway)
    assert await do(kb, MIA, "removed_erase") == []
    assert len(await do(kb, ROOT, "removed_list")) == 1


CHANGES = (
    "remove", "document_label", "document_reread", "document_replace", "document_revisions", "document_compare",
    "document_bring_back", "removed_list", "document_restore", "removed_erase",
)  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
async def test_only_managers_of_everything_change_documents(kb: KnowledgeBase, name: str) -> None:
    for who in (ANN, NINA):
        with pytest.raises(NotAllowed):
            await do(kb, who, name)


async def test_labels_are_changed_singly_and_hide_a_document_at_once(kb: KnowledgeBase) -> None:
    await put(kb, tags=["ship"])
    labelled = await do(kb, MIA, "document_label", document="gangway.md", audience=["crew"])
    assert (labelled["tags"], labelled["audience"]) == (["ship"], ["crew"])
    assert "40 metres" not in await asked(kb)
    labelled = await do(kb, ROOT, "document_label", document="gangway.md", tags=[" deck ", "ship", "", "deck"])
    assert (labelled["tags"], labelled["audience"]) == (["deck", "ship"], ["crew"])
    labelled = await do(kb, ROOT, "document_label", document="gangway.md", audience=[])
    assert (labelled["tags"], labelled["audience"]) == (["deck", "ship"], [])
    assert "40 metres" in await asked(kb)
    assert await do(kb, ROOT, "check") == []


async def test_a_document_is_replaced_compared_and_restored(kb: KnowledgeBase) -> None:
    first = (await put(kb, tags=["ship"])).document
    report = await do(kb, MIA, "document_replace", document="gangway.md", name="gangway of 2027.md", data=SECOND)
    assert (report["kind"], report["document"]["id"], report["document"]["tags"]) == ("updated", first.id, ["ship"])
    assert "42 metres" in await asked(kb)
    live, former = await do(kb, MIA, "document_revisions", document="gangway.md")
    assert (live["state"], former["state"], former["id"]) == ("live", "superseded", first.revision_id)
    compared = await do(kb, MIA, "document_compare", document="gangway.md", revision=former["id"])
    (difference,) = compared["differences"]
    assert difference == {
        "line": 5, "before": "## Length\n", "older": "The gangway is 40 metres long.",
        "newer": "The gangway is 42 metres long.", "after": "\n## Colour",
    }  # fmt: skip
    assert (await do(kb, MIA, "document_bring_back", document="gangway.md", revision=former["id"]))["kind"] == "updated"
    assert "40 metres" in await asked(kb)
    with pytest.raises(Conflict, match="is the current one already"):
        await do(kb, MIA, "document_bring_back", document="gangway.md", revision=former["id"])
    with pytest.raises(InvalidInput, match="another format"):
        await do(kb, MIA, "document_replace", document="gangway.md", name="gangway.pdf", data=b"%PDF-")
    with pytest.raises(NotFound, match="has no revision"):
        await do(kb, MIA, "document_compare", document="nand-layout.md", revision=former["id"])
    assert await do(kb, ROOT, "check") == []


async def test_a_document_that_is_read_again_keeps_its_ids(kb: KnowledgeBase) -> None:
    await put(kb, tags=["ship"])
    before = await do(kb, MIA, "show", document="gangway.md")
    assert (await do(kb, MIA, "document_reread", document="gangway.md"))["kind"] == "updated"
    after = await do(kb, MIA, "show", document="gangway.md")
    assert [one["id"] for one in after["passages"]] == [one["id"] for one in before["passages"]]
    assert {**after["document"], "added_at": ""} == {**before["document"], "added_at": ""}
    assert await do(kb, ROOT, "check") == []


async def test_a_removed_document_is_restored_with_its_labels_and_revisions(kb: KnowledgeBase) -> None:
    await put(kb, tags=["ship"])
    document: Document = (await put(kb, SECOND)).document
    shown = await do(kb, MIA, "show", document=document.id)
    await do(kb, MIA, "remove", document=document.id)
    assert "metres" not in await asked(kb)
    (removed,) = await do(kb, MIA, "removed_list")
    assert (removed["name"], removed["tags"], removed["passages"]) == ("gangway.md", ["ship"], document.passages)
    assert (await do(kb, MIA, "document_restore", document="gangway.md"))["kind"] == "added"
    assert "42 metres" in await asked(kb)
    again = await do(kb, MIA, "show", document=document.id)
    assert {**again["document"], "added_at": ""} == {**shown["document"], "added_at": ""}
    assert [one["id"] for one in again["passages"]] == [one["id"] for one in shown["passages"]]
    assert len(await do(kb, MIA, "document_revisions", document=document.id)) == 2
    assert await do(kb, MIA, "removed_list") == []
    with pytest.raises(NotFound, match="argot documents removed"):
        await do(kb, MIA, "document_restore", document="gangway.md")
    assert await do(kb, ROOT, "check") == []


async def test_restoring_does_not_overwrite_a_document_added_again(kb: KnowledgeBase) -> None:
    await put(kb)
    await do(kb, MIA, "remove", document="gangway.md")
    await put(kb, SECOND)
    with pytest.raises(Conflict, match="added again"):
        await do(kb, MIA, "document_restore", document="gangway.md")
    await do(kb, MIA, "remove", document="gangway.md")  # replaces the first removed version
    assert len(await do(kb, MIA, "removed_list")) == 1
    await do(kb, MIA, "document_restore", document="gangway.md")
    assert "42 metres" in await asked(kb)
    assert await do(kb, ROOT, "check") == []


async def test_fields_given_by_managers_are_restored_with_the_document(kb: KnowledgeBase) -> None:
    await put(kb)
    await do(kb, MIA, "document_label", document="gangway.md", fields={"owner": ["Deck Team"]})
    await do(kb, MIA, "remove", document="gangway.md")
    found = (await do(kb, MIA, "document_restore", document="gangway.md"))["document"]
    assert [(one["name"], one["value"]) for one in await fields_of(kb, found)] == [
        ("language", "English"),
        ("owner", "Deck Team"),
    ]
    assert await do(kb, ROOT, "check") == []


async def fields_of(kb: KnowledgeBase, document: dict[str, Any]) -> list[dict[str, str]]:
    return (await do(kb, MIA, "document_contents", document=document["id"]))["document"]["fields"]


def restored(home: Path) -> None:
    async def work() -> None:
        async with KnowledgeBase.open(home, Settings(home=home, threads=1)) as kb:
            await do(kb, MIA, "document_restore", document="gangway.md")

    asyncio.run(work())


async def test_a_killed_restoration_can_be_repeated(kb: KnowledgeBase, tmp_path: Path) -> None:
    await put(kb)
    await do(kb, MIA, "remove", document="gangway.md")
    await kb.close()
    steps = await asyncio.to_thread(steps_of, restored, shutil.copytree(kb.home, tmp_path / "counted"))
    for share in shares(4):
        cut = shutil.copytree(kb.home, tmp_path / f"{share}")
        await asyncio.to_thread(killed, restored, cut, share=share, steps=steps)
        corpus = Corpus.open(cut, Settings(threads=1))
        assert corpus.check() == []
        live = any(one.name == "gangway.md" for one in corpus.store.documents(MIA))
        assert live or dustbin.list_removed(corpus.store, MIA)
        corpus.close()


async def test_a_documents_text_is_shown_in_parts_under_its_headings(kb: KnowledgeBase) -> None:
    part = await do(kb, NINA, "document_part", document="nand-layout.md")
    assert [(one["heading"], one["depth"]) for one in part["sections"]] == [
        ("NAND layout guide", 0), ("Peripheral Under Cell", 1), ("Word Line", 1),
    ]  # fmt: skip
    assert (part["paged"], part["parts"], part["part"]) == (False, [1], 1)
    (passage,) = (await do(kb, NINA, "document_part", document="drive-tool.md"))["passages"]
    assert {one["passage_id"] for one in passage["triples"]} == {passage["passage"]["id"]}
    assert (await do(kb, NINA, "document_part", document="nand-layout.md", part=9))["passages"] == []
    long = "".join(f"## Part {number}\n\n{'word ' * 200}\n\n" for number in range(60))
    await put(kb, f"# Long\n\n{long}".encode(), "long.md")
    part = await do(kb, NINA, "document_part", document="long.md", part=2)
    assert (part["parts"][:2], len(part["passages"])) == ([1, 2], 25)
    assert {one["passage"] for one in part["sections"] if one["part"] == 2} <= {
        one["passage"]["id"] for one in part["passages"]
    }
    contents = await do(kb, ANN, "document_contents", document="long.md")
    assert len(contents["sections"]) == 61


def test_headings_are_found_outside_code_blocks() -> None:
    text = "# A\n\n```\n# no\n~~~\n```\nB\n===\n\n### **C** #\n- x\n---\n| a |\n---\n#tag\n\nD\n---\n\n## \n"
    assert [(one.depth, one.text) for one in find_headings(text)] == [(0, "A"), (0, "B"), (1, "C"), (1, "D")]
    assert [text[one.start] for one in find_headings(text)] == ["#", "B", "#", "D"]


async def test_the_pages_of_a_pdf_are_shown_with_the_places_of_their_passages(kb: KnowledgeBase) -> None:
    pdf = REPOSITORY / "samples/documents/reliability-test/qualification-plan.pdf"
    await put(kb, pdf.read_bytes(), pdf.name)
    part = await do(kb, NINA, "document_part", document=pdf.name)
    assert part["paged"]
    assert part["parts"][0] == 1
    assert part["passages"][0]["passage"]["boxes"]
    drawn = await do(kb, NINA, "document_page", document=pdf.name, page=1)
    assert (drawn["page"], drawn["media_type"]) == (1, "image/png")
    with pytest.raises(NotFound):
        await do(kb, NINA, "document_page", document=pdf.name, page=400)
    with pytest.raises(NotFound, match="PDF"):
        await do(kb, NINA, "document_page", document="nand-layout.md", page=1)


async def test_a_file_replaces_a_document_through_the_services_socket(kb: KnowledgeBase) -> None:
    await put(kb)

    def through() -> Any:
        with connect(kb.home, Settings(home=kb.home)) as client:
            assert isinstance(client, SocketClient)
            replacing = catalogue.revisions.document_replace
            return client.call(replacing, document="gangway.md", name="new.md", data=SECOND)

    async with serve_socket(kb):
        report = await asyncio.to_thread(through)
    assert (report.kind, report.document.name) == ("updated", "gangway.md")
    assert "42 metres" in await asked(kb)


async def test_an_uploaded_archive_adds_the_files_in_it(kb: KnowledgeBase) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in {"bilge.md": FIRST, "../deck.md": SECOND, "logo.xyz": b"?"}.items():
            archive.writestr(name, data)
    report = await put(kb, packed.getvalue(), "manuals.zip", tags=["ship"])
    assert (report.kind, report.detail) == ("added", "2 added, 1 skipped")
    assert {one.name: one.kind for one in report.files} == {
        "manuals.zip!/bilge.md": "added",
        "manuals.zip!/deck.md": "added",
        "manuals.zip!/logo.xyz": "skipped",
    }
    found = await catalogue.listing.document_find(kb, MIA, wanted=DocumentFilter(tag="ship"))
    assert [one.uri for one in found.documents] == [f"upload://mia/manuals.zip!/{one}.md" for one in ("bilge", "deck")]
    assert [one.listed_name for one in found.documents] == ["manuals.zip!/bilge.md", "manuals.zip!/deck.md"]
    with pytest.raises(InvalidInput, match=r"worse.zip was not added: .*damaged"):
        await put(kb, b"PK?", "worse.zip")
    with zipfile.ZipFile(packed := io.BytesIO(), "w") as archive:
        for name in ("a.md", "b.md", "c.md"):
            archive.writestr(name, b"")
        archive.writestr("d.pdf", b"%PDF-1.7")
    with pytest.raises(InvalidInput) as caught:
        await put(kb, packed.getvalue(), "none.zip")
    assert str(caught.value) == (
        "none.zip was not added: 4 failed; none.zip!/a.md and 2 more: empty;"
        " none.zip!/d.pdf: damaged or cut off: not a complete PDF."
    )


async def test_tags_from_a_files_metadata_are_found_in_any_case(kb: KnowledgeBase) -> None:
    await put(kb, b"---\ntags: [Fuel, winter]\n---\n\n# Bunker\n\nThe bunker holds diesel.\n", "bunker.md")
    await put(kb, tags=["Winter", "winter"])
    found = await do(kb, MIA, "document_find", wanted=DocumentFilter(tag="fuel"))
    assert names(found) == ["bunker.md"] and found["tags"] == {"Fuel": 1, "Winter": 2}
    assert len(names(await do(kb, MIA, "document_find", wanted=DocumentFilter(tag="WINTER")))) == 2
    assert (await do(kb, MIA, "show", document="gangway.md"))["document"]["tags"] == ["Winter"]
    await do(kb, MIA, "document_change", documents=["gangway.md"], change="untag", values=["WINTER"])
    assert names(await do(kb, MIA, "document_find", wanted=DocumentFilter(tag="winter"))) == ["bunker.md"]


async def test_an_invalid_date_is_refused(kb: KnowledgeBase) -> None:
    await put(kb)
    with pytest.raises(InvalidInput, match=r"added after \('yesterday'\).*2025-03-01"):
        await do(kb, MIA, "document_find", added_after="yesterday")
    for when in ("2025", "2025-03-01", "2025-03-01T09:30:00Z"):
        assert "gangway.md" in names(await do(kb, MIA, "document_find", added_after=when))


async def test_audiences_without_any_reader_are_reported(kb: KnowledgeBase) -> None:
    kb.people.add("ann", ("deck",))
    assert (await put(kb, audience=["deck", "@ann"])).notices == []
    (told,) = (await put(kb, name="secret.md", data=SECOND, audience=["@nobody"])).notices
    assert told == "no group or person '@nobody' exists: nobody but administrators can read it now"
    labelled = await do(kb, ROOT, "document_label", document="gangway.md", audience=["bridge"])
    assert labelled["name"] == "gangway.md" and "'bridge'" in labelled["notices"][0]
