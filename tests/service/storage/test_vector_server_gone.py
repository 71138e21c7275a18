"""Tests of answers and of doctor while the Chroma server that holds the vectors is unreachable."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from argot.service.knowledge_base import KnowledgeBase
from argot.service.operations.doctor import diagnose
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import Principal

ROOT = Principal("root", sees_all=True)
GONE = "http://ann:s3cret@127.0.0.1:9"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home, chroma_url=GONE)) as opened:
        yield opened


async def ask(kb: KnowledgeBase, question: str) -> Any:
    return await catalogue.get_result(kb, ROOT, "ask", question=question)


async def test_without_the_vector_server_questions_are_answered_by_keywords_with_a_note(kb: KnowledgeBase) -> None:
    result = await ask(kb, "What is the Word Line voltage during a read?")
    assert "4.5 V" in result["answer"]
    (note,) = [note for note in result["notes"] if "search by meaning" in note]
    assert "argot doctor" in note
    assert "s3cret" not in str(result)


async def test_doctor_names_the_fault_of_the_vector_server_and_its_remedy(kb: KnowledgeBase) -> None:
    home = kb.home
    await kb.close()
    findings = await asyncio.to_thread(diagnose, home, Settings(home=home, chroma_url=GONE))
    (server,) = [one for one in findings if one["name"] == "vector server"]
    assert (server["ok"], "127.0.0.1:9" in server["detail"], "chroma run" in server["remedy"]) == (False, True, True)
    assert not all(one["ok"] for one in findings if one["name"] == "index")
    assert "s3cret" not in str(findings)
