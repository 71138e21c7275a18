"""Tests of terms where people read: their places in texts, the meaning in that text and document, and reports."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tiny_base import TinyBase

from argot.errors import NotFound, TooManyQuestions
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.proposals import glossary_misses
from argot.service.usecases.glossary.term_marks import MAX_REPORTS_PER_HOUR, TermMarks, meaning_report, terms_mark
from argot.settings import Settings
from argot.types import Principal

pytestmark = pytest.mark.asyncio(loop_scope="module")

ANN = Principal("ann")
VERA = Principal("vera", frozenset({"vault"}))
MIA = Principal("mia", frozenset({"managers"}))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kb(tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path_factory.mktemp("marks") / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home)) as opened:
        base = TinyBase(home, opened.settings, opened.corpus, opened.glossary)
        base.add("stack.md", "# Stack review\n\nThe PUC is measured beside the WL. The WL is long.\n")
        base.add("hearing.md", "# Hearing\n\nThe Public Utilities Commission met. The PUC wants more.\n")
        yield opened


def meant(found: TermMarks) -> dict[str, list[str]]:
    return {one.term: [meaning.expansion for meaning in one.meanings] for one in found.terms}


async def mark(kb: KnowledgeBase, *texts: str, who: Principal = ANN, **given: Any) -> TermMarks:
    return await terms_mark(kb, who, texts=list(texts), **given)


async def test_each_term_is_marked_once_in_each_text_where_it_stands(kb: KnowledgeBase) -> None:
    texts = ["😀 A WL and another WL, not the swl.", "Two WLs.", "nothing"]
    found = await mark(kb, *texts)
    assert [(one.text, texts[one.text][one.start : one.end]) for one in found.places] == [(0, "WL"), (1, "WLs")]
    (meaning,) = found.terms[0].meanings
    assert (meaning.expansion, meaning.context, meaning.contact) == ("Word Line", "NAND", "nina@example.com")


async def test_no_term_is_marked_in_names_of_files_paths_and_addresses(kb: KnowledgeBase) -> None:
    hidden = "notes/a/WL.txt, plan.WL.md, /srv/WL/x, WL@example.org, me@WL.example.org and WL.pdf"
    assert (await mark(kb, hidden)).places == []
    shown = await mark(kb, "A WL/BL pair.", "The WL. Next.", f"{'a.' * 9_000} WL")
    assert [one.text for one in shown.places] == [0, 1, 2]


async def test_a_term_has_the_meaning_that_its_text_or_document_speaks_of(kb: KnowledgeBase) -> None:
    both = {"Peripheral Under Cell", "Public Utilities Commission"}
    assert set(meant(await mark(kb, "The PUC is late."))["PUC"]) == both
    assert meant(await mark(kb, "The PUC and its WL."))["PUC"] == ["Peripheral Under Cell"]
    assert meant(await mark(kb, "The Public Utilities Commission (PUC)."))["PUC"] == ["Public Utilities Commission"]
    for name, expansion in (("stack.md", "Peripheral Under Cell"), ("hearing.md", "Public Utilities Commission")):
        document = kb.document_store.document(ANN, name)
        passages = [one.id for one in kb.document_store.passages_of(ANN, document.id)]
        assert meant(await mark(kb, "The PUC.", document=document.id))["PUC"] == [expansion]
        assert meant(await mark(kb, "The PUC.", passages=passages))["PUC"] == [expansion]
    # The reader's own context counts less than what the text says.
    assert meant(await mark(kb, "The PUC.", context="Legal"))["PUC"] == ["Public Utilities Commission"]
    assert meant(await mark(kb, "The PUC and its WL.", context="Legal"))["PUC"] == ["Peripheral Under Cell"]


async def test_a_restricted_meaning_is_marked_for_its_readers_only(kb: KnowledgeBase) -> None:
    assert meant(await mark(kb, "Call the VLT.")) == {}
    assert meant(await mark(kb, "Call the VLT.", who=VERA)) == {"VLT": ["Vault Liaison Team"]}


async def test_a_report_of_a_wrong_meaning_waits_in_the_queue_with_its_place(kb: KnowledgeBase) -> None:
    (sense,) = kb.glossary.lookup.senses(ANN, ["WL"])["WL"]
    document = kb.document_store.document(ANN, "stack.md")
    done = await meaning_report(kb, ANN, sense_id=sense.id, term="WLs", document=document.id, said="water level")
    assert done.recorded
    (miss,) = await glossary_misses(kb, MIA, term="WL")
    assert miss.status == "open"
    assert miss.questions == ("Not “Word Line” (NAND) in stack.md: water level",)
    page = "https://wiki.example.com/tide?session=secret#top"
    await meaning_report(kb, ANN, sense_id=sense.id, term="WL", page=page, of_several=True)
    (miss,) = await glossary_misses(kb, MIA, term="WL")
    assert miss.questions[0] == "Neither “Word Line” (NAND) nor another meaning on https://wiki.example.com/tide"


async def test_a_report_reveals_nothing_to_managers_and_is_limited(kb: KnowledgeBase) -> None:
    (hidden,) = kb.glossary.lookup.senses(VERA, ["VLT"])["VLT"]
    with pytest.raises(NotFound):
        await meaning_report(kb, ANN, sense_id=hidden.id, term="VLT")
    assert not (await meaning_report(kb, VERA, sense_id=hidden.id, term="VLT")).recorded
    secret = kb.document_store.document(VERA, "vault-handbook.md")
    (sense,) = kb.glossary.lookup.senses(ANN, ["MPL"])["MPL"]
    await meaning_report(kb, VERA, sense_id=sense.id, term="MPL", document=secret.id)
    # Nothing is queued under a name that is not the sense's.
    assert not (await meaning_report(kb, VERA, sense_id=sense.id, term="buy this")).recorded
    queued = str(await glossary_misses(kb, MIA, status=None))
    assert "VLT" not in queued and "vault-handbook" not in queued and "buy this" not in queued
    assert "a document that not everybody may read" in queued
    with pytest.raises(TooManyQuestions, match="reports in an hour"):
        for _ in range(MAX_REPORTS_PER_HOUR + 1):
            await meaning_report(kb, VERA, sense_id=sense.id, term="MPL")
