"""Tests of files whose reader hangs or needs too much memory: they are refused, and the service still answers."""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from argot.corpus.readers.reader_process import _HOSTS
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import Principal

ROOT = Principal("root", sees_all=True)
QUESTION = "What does a late tariff filing cost?"


@pytest.fixture(params=[2])
async def kb(tiny_home: Path, tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[KnowledgeBase]:
    """Provide a knowledge base; the parameter is the number of seconds a file may take."""
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    settings = Settings(home=home, parse_seconds=request.param, parse_memory_mb=256)
    async with KnowledgeBase.open(home, settings) as opened:
        yield opened
    # A process that has grown would have room for what other tests expect to be too much.
    _HOSTS["documents"].child.stop()


async def do(kb: KnowledgeBase, name: str, /, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, ROOT, name, **parameters)


async def added(kb: KnowledgeBase, path: Path) -> Any:
    return await do(kb, "add", paths=[str(path)])


async def test_a_hanging_file_reader_does_not_hold_up_other_files(kb: KnowledgeBase, tmp_path: Path) -> None:
    first, second, third = (tmp_path / f"{name}.md" for name in ("first", "second", "third"))
    for path in (first, second, third):
        path.write_text(f"# The {path.stem} harbour\n\nThe {path.stem} harbour has 17 cranes.\n")
    await added(kb, first)
    await do(kb, "ask", question=QUESTION)
    process = _HOSTS["documents"].child.process
    assert process
    os.kill(process.pid, signal.SIGSTOP)
    reading = asyncio.create_task(added(kb, second))
    began = time.monotonic()
    assert (await do(kb, "ask", question=QUESTION))["answer"]
    assert not reading.done(), time.monotonic() - began
    report = await reading
    assert process.poll() is not None
    assert "took longer than 2 seconds" in str(report)
    assert (await added(kb, third))["added"] == 1
    documents = {one.name for one in (await kb.load()).store.documents(ROOT)}
    assert {"first.md", "third.md"} <= documents and "second.md" not in documents


@pytest.mark.parametrize("kb", [120], indirect=True)
async def test_a_file_that_needs_too_much_memory_is_refused_and_the_service_answers(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    (tmp_path / "greedy.html").write_bytes(b"<p>some text</p>" * 600_000)
    (tmp_path / "fine.md").write_text("# Fine\n\nThe fine harbour has 9 cranes.\n")
    assert "more than 256 MB of memory" in str(await added(kb, tmp_path / "greedy.html"))
    assert (await added(kb, tmp_path / "fine.md"))["added"] == 1
    assert (await do(kb, "ask", question=QUESTION))["answer"]
