"""A whole knowledge base on PostgreSQL: nothing of it in the folder but what is the process's own."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from argot.service.identity.people import local_principal
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents import add
from argot.service.usecases.questions import ask
from argot.settings import Settings

LOCAL = local_principal()


async def finished(events: AsyncIterator[Any]) -> Any:
    found = [event async for event in events]
    return found[-1].data


async def test_what_one_process_put_in_another_one_with_an_empty_folder_answers(
    tmp_path: Path, postgresql_url: str
) -> None:
    text = tmp_path / "rules.md"
    text.write_text("# Tariffs\n\nA late tariff filing costs 40 euros a day.\n")
    first = Settings(home=tmp_path / "first", store=postgresql_url)
    async with KnowledgeBase.open(first.home, first, create=True) as kb:
        await finished(add(kb, LOCAL, paths=[str(text)]))
        answer = await finished(ask(kb, LOCAL, question="What does a late tariff filing cost?"))
        assert "40 euros" in answer.answer
    assert not list(first.home.glob("*.db")) and not (first.home / "blobs").exists()
