"""Tests of a source with a closed audience: no use case reveals it to outsiders or lets them change it."""

import asyncio
import base64
import inspect
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from argot.errors import ArgotError, NotFound
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.service.usecases.usecase_registry import CASES
from argot.settings import Settings
from argot.types import Principal

LOCAL = make_local_principal()
OUTSIDER = Principal("mona", frozenset({"managers"}))
INSIDER = Principal("hans", frozenset({"managers", "hr"}))
WORD = "brambleton"
"""In the names of the hidden source, of its folder and of its files."""
NO_LOOKING = {"reindex", "removed_erase", "backup", "glossary_mine", "glossary_mine_start", "doctor_findings", "check"}
"""Use cases without parameters that change something, or look at the whole machine and take an admin."""


@pytest.fixture
async def kb(tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = tmp_path / "kb"
    async with KnowledgeBase.open(home, Settings(home=home, threads=1, questions_per_minute=0), create=True) as opened:
        await asyncio.to_thread(write_sources, tmp_path)
        folder = str(tmp_path / f"{WORD}-files")
        await do(opened, LOCAL, "source_add", address=folder, name=f"{WORD}-hr", audience=["hr"])
        await do(opened, LOCAL, "source_add", address=str(tmp_path / "open"), name="open")
        for name in (f"{WORD}-hr", "open"):
            await do(opened, LOCAL, "source_sync", name=name)
        yield opened


def write_sources(folder: Path) -> None:
    (folder / f"{WORD}-files").mkdir()
    (folder / f"{WORD}-files" / f"{WORD}-plan.md").write_text(f"# The {WORD} plan\n\nThe {WORD} plan is of 1998.\n")
    (folder / f"{WORD}-files" / f"{WORD}-broken.pdf").write_bytes(b"%PDF-1.4 no more")
    (folder / "open").mkdir()
    (folder / "open" / "roofs.md").write_text("# Roofs\n\nThe roofs are mended in May.\n")
    (folder / "open" / "pay.md").write_text("# Pay\n\nThe pay band of a keeper is P4.\n")


async def do(kb: KnowledgeBase, who: Principal, name: str, /, **given: Any) -> Any:
    return await catalogue.get_result(kb, who, name, **given)


async def told(kb: KnowledgeBase, who: Principal, name: str, /, **given: Any) -> str:
    try:
        return json.dumps(await do(kb, who, name, **given), default=str)
    except ArgotError as error:
        return str(error)


def cases_without_parameters() -> list[str]:
    """Return every use case that reads something and can be called without parameters."""
    catalogue_names = sorted(CASES)
    found = []
    for name in catalogue_names:
        parameters = list(inspect.signature(CASES[name].function).parameters.values())[2:]
        if name not in NO_LOOKING and all(one.default is not inspect.Parameter.empty for one in parameters):
            found.append(name)
    return found


async def test_no_use_case_reveals_a_hidden_source_to_an_outsider(kb: KnowledgeBase) -> None:
    heard = {name for name in cases_without_parameters() if WORD in (await told(kb, OUTSIDER, name)).casefold()}
    assert heard == set()


async def test_those_who_may_see_a_hidden_source_are_shown_it(kb: KnowledgeBase) -> None:
    """Check that the previous test can find anything at all."""
    for who in (INSIDER, LOCAL):
        heard = {name for name in cases_without_parameters() if WORD in (await told(kb, who, name)).casefold()}
        assert {"source_list", "list_documents"} <= heard
    listed = await do(kb, INSIDER, "source_list")
    assert [one["name"] for one in listed] == [f"{WORD}-hr", "open"]
    assert listed[0]["problems"][0]["name"] == f"{WORD}-broken.pdf"


@pytest.mark.parametrize(
    ("case", "given"),
    [
        ("source_sync", {}),
        ("source_sync", {"confirm": True}),
        ("source_sync_start", {}),
        ("source_remove", {}),
        ("source_remove", {"with_documents": True}),
    ],
)
async def test_an_outsider_cannot_change_a_hidden_source(kb: KnowledgeBase, case: str, given: dict[str, Any]) -> None:
    before = await do(kb, LOCAL, "source_list"), await do(kb, LOCAL, "list_documents")
    with pytest.raises(NotFound) as refused:
        await do(kb, OUTSIDER, case, name=f"{WORD}-hr", **given)
    with pytest.raises(NotFound) as unknown:
        await do(kb, OUTSIDER, case, name="nothing", **given)
    assert str(refused.value).replace(f"{WORD}-hr", "nothing") == str(unknown.value)
    assert (await do(kb, LOCAL, "source_list"), await do(kb, LOCAL, "list_documents")) == before


async def test_an_outsider_neither_sees_nor_changes_a_job_of_a_hidden_source(kb: KnowledgeBase) -> None:
    await do(kb, LOCAL, "source_sync_start", name=f"{WORD}-hr")
    (job,) = await do(kb, LOCAL, "job_list")
    assert await do(kb, OUTSIDER, "job_list") == await do(kb, OUTSIDER, "source_progress") == []
    for case in ("job_show", "job_cancel", "job_retry"):
        with pytest.raises(NotFound):
            await do(kb, OUTSIDER, case, job=job["id"])
    shown = await do(kb, INSIDER, "job_show", job=job["id"])
    # Its outcome names documents and is shown to the person who asked for it only.
    assert shown["job"]["label"] == f"{WORD}-hr" and shown["outcome"] is None


async def test_a_document_with_fewer_readers_than_its_source_stays_hidden(kb: KnowledgeBase) -> None:
    await do(kb, LOCAL, "document_label", document="pay.md", audience=["hr"])
    (listed,) = [one for one in await do(kb, OUTSIDER, "source_list") if one["name"] == "open"]
    assert listed["documents"] == 1
    (Path(listed["address"]) / "pay.md").unlink()
    report = await do(kb, OUTSIDER, "source_sync", name="open")
    assert "pay.md" not in json.dumps(report)
    (listed,) = [one for one in await do(kb, OUTSIDER, "source_list") if one["name"] == "open"]
    assert listed["gone"] == []


async def test_removing_a_source_removes_only_documents_its_remover_may_read(kb: KnowledgeBase) -> None:
    await do(kb, LOCAL, "document_label", document="pay.md", audience=["hr"])
    gone = await do(kb, OUTSIDER, "source_remove", name="open", with_documents=True)
    assert (gone["removed"], gone["kept"]) == (1, 0)
    assert {one["name"] for one in await do(kb, LOCAL, "list_documents")} == {"pay.md", f"{WORD}-plan.md"}


async def test_a_hidden_name_is_refused_in_the_same_words_everywhere(kb: KnowledgeBase) -> None:
    """Check that the refusal says neither that something has the name, nor how that is spelt."""
    await do(kb, LOCAL, "context_add", name="Vault", audience=["hr"])
    refusal = "The name 'vault' cannot be used here. Choose another, or ask the person who runs this machine."
    for new in (True, False):
        assert await told(kb, OUTSIDER, "context_add", name="vault", new=new) == refusal
    site = "https://example.com/handbook"
    said = await told(kb, OUTSIDER, "source_add", address=site, name=f"{WORD}-hr")
    assert said == refusal.replace("vault", f"{WORD}-hr")
    row = base64.b64encode(b"term,expansion,context\nVLT,vault,vault\n").decode()
    preview = await told(kb, OUTSIDER, "glossary_preview", data=row, name="g.csv")
    imported = await told(kb, OUTSIDER, "glossary_import_file", data=row, name="g.csv")
    for text in (preview, imported):
        assert "the name 'vault' cannot be used here; choose another" in text
        assert "Vault" not in text and "not yours" not in text
    # Who may know it is told what to do instead.
    assert "already" in await told(kb, INSIDER, "source_add", address=site, name=f"{WORD}-hr")
    assert "already" in await told(kb, INSIDER, "context_add", name="Vault", new=True)
