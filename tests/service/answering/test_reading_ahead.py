"""Tests of reading ahead: the passages of a small knowledge base are read before any question, and delay none."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from argot.corpus.ingestion.sources import list_sources
from argot.service.answering import reading_ahead
from argot.service.answering.reading_ahead import read_ahead
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.tools.retrieval.scorer_choice import load_scorer


@pytest.fixture
def home(tiny_home: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_home, tmp_path / "kb"))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the texts that the reader newly reads, in order."""
    texts: list[str] = []
    cache = load_scorer(Settings()).load()._vectors  # type: ignore[attr-defined]
    compute = cache._compute

    def compute_noted(given: Sequence[str]) -> Any:
        texts.extend(given)
        return compute(given)

    monkeypatch.setattr(cache, "_compute", compute_noted)
    monkeypatch.setattr(reading_ahead, "FIRST_SECONDS", 0.0)
    return texts


@contextlib.asynccontextmanager
async def reading(kb: KnowledgeBase, *, busy: bool = False) -> AsyncIterator[None]:
    load_scorer(kb.settings).load()._vectors.clear()  # type: ignore[attr-defined]
    task = asyncio.create_task(read_ahead(kb, lambda: busy))
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def all_read(kb: KnowledgeBase, read: Sequence[str]) -> None:
    store = (await kb.load()).store
    found = store.passages(make_local_principal(), store.passage_ids(1_000)).values()
    wanted = {passage.with_header for passage, _ in found}
    async with asyncio.timeout(60):
        while not wanted <= set(read):  # noqa: ASYNC110  it is written to by another thread
            await asyncio.sleep(0.01)


async def test_all_passages_are_read_by_the_reranker_before_a_question(home: Path, read: list[str]) -> None:
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        async with reading(kb):
            await all_read(kb, read)
        assert len(read) == len(set(read)) > 3
        before = list(read)
        asked = await catalogue.get_result(
            kb, make_local_principal(), "ask", question="What does a late tariff filing cost?"
        )
    assert asked["status"] == "answered"
    # Only texts without a heading line are read with the question: the question itself, and passages compared with a
    # statement. Passages to be ranked have a heading line of their own.
    assert not [text for text in read[len(before) :] if "\n" in text]


async def test_documents_added_later_are_read_ahead_too(
    home: Path, tmp_path: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_ahead, "FOLLOW_SECONDS", 0.01)
    async with KnowledgeBase.open(home, Settings(home=home)) as kb, reading(kb):
        await all_read(kb, read)
        before = list(read)
        (tmp_path / "late.md").write_text("# Late\n\nThe gate closes at nine.", "utf-8")
        corpus = await kb.load()
        await kb.blocking(lambda: list(corpus.add(list_sources([tmp_path / "late.md"]))))
        await all_read(kb, read)
        later = read[len(before) :]
    assert [text for text in later if "closes at nine" in text] and not set(later) & set(before)


async def test_reading_ahead_pauses_while_a_question_is_answered(home: Path, read: list[str]) -> None:
    async with KnowledgeBase.open(home, Settings(home=home)) as kb, reading(kb, busy=True):
        await asyncio.sleep(0.3)
    assert not read


async def test_a_base_larger_than_the_readers_memory_is_not_read_ahead(
    home: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_ahead, "MAX_REMEMBERED_TEXTS", 3)
    async with KnowledgeBase.open(home, Settings(home=home)) as kb, reading(kb):
        await asyncio.sleep(0.5)
    assert not read


async def test_the_meanings_of_terms_are_embedded_ahead_and_later_ones_too(
    home: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_ahead, "FOLLOW_SECONDS", 0.01)
    async with KnowledgeBase.open(home, Settings(home=home)) as kb, reading(kb):
        known = [one for one in kb.glossary.senses.find(make_local_principal()) if one.expansion]
        kb.glossary.senses.add("LATE", known[0].context, "Later Added Tariff Entry", "an entry that came late")
        queries = (await kb.load()).embedder._queries  # type: ignore[attr-defined]
        meanings = {f"{one.expansion}: {one.description}" for one in known} | {
            "Later Added Tariff Entry: an entry that came late"
        }
        async with asyncio.timeout(60):
            while not all(one in queries._known for one in meanings):  # noqa: ASYNC110  another thread writes to it
                await asyncio.sleep(0.01)
    assert len(meanings) > 3
