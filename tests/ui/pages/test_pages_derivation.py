"""Test of the state of derivation on the document pages and in the API."""

import re
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from desk import at_desk

from argot.corpus.ingestion.derivation import Recipe
from argot.corpus.ingestion.derivation_states import DerivationStates
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.automatic_derivation import describe_wanted_texts
from argot.settings import Settings
from argot.types import Principal
from argot.ui.pages.page_routes import build_pages

MIA = Principal("mia", frozenset({"managers"}))
ANN = Principal("ann")


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    settings = Settings(home=home, model_url="http://127.0.0.1:9/v1", derive_kinds="question")
    async with KnowledgeBase.open(home, settings) as opened:
        yield opened


async def test_states_of_derivation_are_shown_to_managers_only(kb: KnowledgeBase) -> None:
    store = kb.document_store
    found = {one.name: one.id for one in store.documents(MIA)}
    states, wanted = DerivationStates(store.database), describe_wanted_texts(kb.settings)
    why = ["question: <b>no JSON</b>"] * 2
    states.note(found["nand-layout.md"], wanted, [Recipe("question", "p", "m")], why, datetime.now(UTC))
    states.note(found["tariff-filing.md"], wanted, [], [], datetime.now(UTC))
    async with at_desk(build_pages(kb), MIA) as mia:
        listed = (await mia.get("/documents")).text
        shown = (await mia.get(f"/documents/{found['nand-layout.md']}")).text
    told = re.findall(r'<div class="aside" dir="auto">(Texts [^<]*)</div>', listed)
    failed = "Texts could not all be derived from it (tries: 1): question: &lt;b&gt;no JSON&lt;/b&gt;"
    assert sorted(told) == ["Texts are still to be derived from it", failed, "Texts were derived from it"]
    assert failed in shown
    async with at_desk(build_pages(kb), ANN) as ann:
        assert "derived from it" not in (await ann.get("/library")).text
