"""What a small knowledge base has in passages is read before anybody asks; no question waits for it."""

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from argot.service.answering import reading_ahead
from argot.service.answering.reading_ahead import read_ahead
from argot.service.identity.people import local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.tools.retrieval.scorer_choice import load_scorer
from argot.tools.retrieval.token_vectors import TokenReader


@pytest.fixture
def home(tiny_home: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_home, tmp_path / "kb"))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the reader has read anew, in their order."""
    texts: list[str] = []
    original = TokenReader._vectors

    def noted(self: TokenReader, given: Sequence[str]) -> Any:
        texts.extend(given)
        return original(self, given)

    monkeypatch.setattr(TokenReader, "_vectors", noted)
    monkeypatch.setattr(reading_ahead, "FIRST_SECONDS", 0.0)
    return texts


async def test_a_question_finds_every_passage_read(home: Path, read: list[str]) -> None:
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        load_scorer(kb.settings).load()._remembered.clear()  # type: ignore[attr-defined]
        await read_ahead(kb, lambda: False)
        assert len(read) == len(set(read)) > 3
        before = list(read)
        asked = await catalogue.result(kb, local_principal(), "ask", question="What does a late tariff filing cost?")
    assert asked["status"] == "answered"
    # The question itself is read, and no passage: those have their headings on a line of their own.
    assert not [text for text in read[len(before) :] if "\n" in text]


async def test_nothing_is_read_beside_a_question(home: Path, read: list[str]) -> None:
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        load_scorer(kb.settings).load()._remembered.clear()  # type: ignore[attr-defined]
        reading = asyncio.create_task(read_ahead(kb, lambda: True))
        await asyncio.sleep(0.3)
        assert not read
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def test_a_base_that_the_reader_cannot_remember_is_not_read(
    home: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_ahead, "REMEMBERED", 3)
    async with KnowledgeBase.open(home, Settings(home=home)) as kb:
        await read_ahead(kb, lambda: False)
    assert not read
