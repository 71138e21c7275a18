"""Removed content is in no file any more: not in a keyword index, a write-ahead log, a free page or Chroma.

Each kind of removal is tested with a made-up word. Word indexes store stems and omit the prefix that a word shares with
the one before it, so files are searched for the middle of the word.
"""

import asyncio
import base64
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from killing import killed, shares, steps_of

from argot.corpus.corpus import Corpus
from argot.service.identity.people import make_local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.operations.retention import erase_old, erase_old_removed
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import Principal

LOCAL, ANN = make_local_principal(), Principal("ann")
WORD, MIDDLE = "quoxtrablings", "xtrabl"
TEXT = f"""# The {WORD} harbour

## On {WORD}

The {WORD} (QXT) of the harbour has 17 cranes. The {WORD} lifts containers and costs 300 euros a day.
"""


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    folder = await asyncio.to_thread(shutil.copytree, tiny_home, tmp_path / "kb")
    async with KnowledgeBase.open(folder, Settings(home=folder)) as opened:
        yield opened


async def do(kb: KnowledgeBase, who: Principal, name: str, /, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, who, name, **parameters)


def left(home: Path) -> list[str]:
    """Return the files that contain the word."""
    forms = [MIDDLE.encode("utf-8"), MIDDLE.encode("utf-16-le"), MIDDLE.encode("utf-16-be")]
    files = [path for path in sorted(home.rglob("*")) if path.is_file()]
    return [str(path.relative_to(home)) for path in files if any(form in path.read_bytes() for form in forms)]


async def added(kb: KnowledgeBase, folder: Path, text: str = TEXT) -> None:
    (folder / "harbour.md").write_text(text)
    await do(kb, LOCAL, "add", paths=[str(folder / "harbour.md")])


async def attached(kb: KnowledgeBase) -> str:
    """Start a conversation of ann about a file of hers that has not been quoted."""
    thread = (await do(kb, ANN, "ask", question="What does a late tariff filing cost?"))["thread"]
    content = base64.b64encode(TEXT.encode()).decode("ascii")
    await do(kb, ANN, "thread_attach", thread=thread, name="harbour.md", content=content)
    assert left(kb.home)
    return str(thread)


async def test_a_removed_document_is_in_no_file(kb: KnowledgeBase, tmp_path: Path) -> None:
    await added(kb, tmp_path)
    await do(kb, LOCAL, "glossary_mine")
    await added(kb, tmp_path, TEXT.replace("17", "18"))
    assert {"corpus.db", "glossary.db"} <= {name.removesuffix("-wal") for name in left(kb.home)}
    await do(kb, LOCAL, "remove", document="harbour.md", forever=True)
    assert left(kb.home) == []
    assert await do(kb, LOCAL, "check") == []


@pytest.mark.parametrize("way", ["erased", "too old", "nothing is kept"])
async def test_an_expired_document_of_the_dustbin_is_in_no_file(kb: KnowledgeBase, tmp_path: Path, way: str) -> None:
    """Check that the document is kept until its time is over; then no file contains any of it."""
    await added(kb, tmp_path)
    await do(kb, LOCAL, "glossary_mine")
    if way == "nothing is kept":
        kb.settings = Settings(home=kb.home, keep_removed_days=0)
    await do(kb, LOCAL, "remove", document="harbour.md")
    assert await do(kb, LOCAL, "check") == []
    if way != "nothing is kept":
        assert {name.partition("/")[0].removesuffix("-wal") for name in left(kb.home)} == {"corpus.db", "blobs"}
        assert await erase_old_removed(kb, datetime.now(UTC) + timedelta(days=29)) == 0
    if way == "erased":
        await do(kb, LOCAL, "removed_erase", document="harbour.md")
    if way == "too old":
        assert await erase_old_removed(kb, datetime.now(UTC) + timedelta(days=31)) == 1
    assert await do(kb, LOCAL, "removed_list") == []
    assert left(kb.home) == []
    assert await do(kb, LOCAL, "check") == []


async def test_a_file_detached_from_a_conversation_is_in_no_file(kb: KnowledgeBase) -> None:
    thread = await attached(kb)
    await do(kb, ANN, "thread_detach", thread=thread, name="harbour.md")
    assert left(kb.home) == []


async def test_a_deleted_conversation_is_in_no_file(kb: KnowledgeBase) -> None:
    thread = await attached(kb)
    await do(kb, ANN, "ask", question=f"What is QXZJ, the {WORD}?", thread=thread)
    await do(kb, ANN, "feedback", thread=thread, turn=0, value=-1, comment=f"No {WORD}")
    await kb.chores.finish()
    await do(kb, ANN, "thread_delete", thread=thread)
    assert left(kb.home) == []


async def test_an_expired_conversation_is_in_no_file(kb: KnowledgeBase) -> None:
    thread = await attached(kb)
    await do(kb, ANN, "ask", question=f"How many cranes has the {WORD} harbour?", thread=thread)
    await kb.chores.finish()
    kb.settings = Settings(home=kb.home, keep_questions_days=30)
    await erase_old(kb, datetime.now(UTC) + timedelta(days=31))
    assert left(kb.home) == []


async def test_an_erased_person_is_in_no_file(kb: KnowledgeBase) -> None:
    await do(kb, LOCAL, "user_add", name="ann", display_name=f"Ann {WORD}")
    thread = await attached(kb)
    await do(kb, ANN, "ask", question=f"How many cranes has the {WORD} harbour?", thread=thread)
    await do(kb, LOCAL, "user_erase", name="ann")
    assert left(kb.home) == []


def remove(home: Path) -> None:
    corpus = Corpus.open(home, Settings(threads=1))
    corpus.remove(LOCAL, "harbour.md")
    corpus.scrub()
    corpus.close()


async def test_a_killed_removal_is_finished_at_the_next_start(kb: KnowledgeBase, tmp_path: Path) -> None:
    await added(kb, tmp_path)
    await kb.close()
    home = await asyncio.to_thread(shutil.copytree, kb.home, tmp_path / "whole")
    steps = await asyncio.to_thread(steps_of, remove, shutil.copytree(home, tmp_path / "counted"))
    outcomes = set()
    for share in shares(6):
        cut = shutil.copytree(home, tmp_path / f"{share}")
        await asyncio.to_thread(killed, remove, cut, share=share, steps=steps)
        corpus = Corpus.open(cut, Settings(threads=1))
        assert corpus.check() == []
        names = {one.uri.rpartition("/")[2] for one in corpus.store.documents(LOCAL)}
        corpus.close()
        assert "harbour.md" in names or left(cut) == []
        outcomes.add("harbour.md" in names)
    assert outcomes == {True, False}
