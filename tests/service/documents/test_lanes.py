"""Tests of lanes: nobody waits for another person's file, because changes wait only while its rows are written."""

import asyncio
import base64
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from argot.corpus.embedding.embedding_process import _FairLock
from argot.corpus.read_limits import Lane
from argot.errors import InvalidInput, NotFound, TooManyQuestions
from argot.protocols import Embedder, Vectors
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases import catalogue
from argot.settings import Settings
from argot.types import Principal

ROOT = Principal("root", sees_all=True)
LONG = b"# Long\n\nThe longest file there is.\n"
SHORT = b"# Short\n\nThe gangway is 40 metres long.\n"


@pytest.fixture
async def kb(tiny_home: Path, tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    home = Path(shutil.copytree(tiny_home, tmp_path / "kb"))
    async with KnowledgeBase.open(home, Settings(home=home, max_attachment_passages=50)) as kb:
        for name in ("ann", "bob"):
            kb.people.add(name)
        for name in ("mia", "mona"):
            kb.people.add(name, ("managers",))
        yield kb


class Held:
    """An embedder that waits on certain texts until it may continue."""

    def __init__(self, embedder: Embedder, holds: Callable[[str], bool] = lambda _: True) -> None:
        self._embedder = embedder
        self._holds = holds
        self.begun, self.may_go_on = threading.Event(), threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if any(map(self._holds, texts)):
            self.begun.set()
            assert self.may_go_on.wait(600)
        return self._embedder.embed_passages(texts)


@pytest.fixture
async def held(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Held]:
    corpus = await kb.load()
    holder = Held(corpus.embedder, lambda text: "longest" in text)
    monkeypatch.setattr(corpus, "embedder_of", lambda lane: holder)
    yield holder
    holder.may_go_on.set()


async def call(kb: KnowledgeBase, who: str, case: str, /, **parameters: Any) -> Any:
    return await catalogue.get_result(kb, kb.principal(who), case, **parameters)


async def attach(kb: KnowledgeBase, who: str, name: str, data: bytes, thread: str = "") -> Any:
    thread = thread or (await (await kb.threads()).start(who, "Files")).id
    return await call(kb, who, "thread_attach", thread=thread, name=name, content=base64.b64encode(data).decode())


async def until(begun: threading.Event) -> None:
    assert await asyncio.to_thread(begun.wait, 600)


def names(kb: KnowledgeBase) -> list[str]:
    rows = kb.document_store.database.connection().execute("SELECT uri FROM documents ORDER BY uri")
    return [uri.rsplit("/", 1)[-1] for (uri,) in rows]


async def test_an_askers_file_does_not_hold_up_a_manager(kb: KnowledgeBase, held: Held, tmp_path: Path) -> None:
    slow = asyncio.create_task(attach(kb, "ann", "long.md", LONG))
    await until(held.begun)
    done = await call(kb, "mia", "upload", name="short.md", data=SHORT)
    assert done["kind"] == "added"
    (tmp_path / "other.md").write_bytes(SHORT + b"And steep.\n")
    assert (await call(kb, "mia", "add", paths=[str(tmp_path / "other.md")]))["added"] == 1
    await call(kb, "mia", "remove", document="short.md")
    assert (await attach(kb, "bob", "short.md", SHORT))["file"]["name"] == "short.md"
    assert not slow.done()
    held.may_go_on.set()
    assert (await slow)["file"]["name"] == "long.md"
    assert kb.corpus.check() == []


async def test_a_managers_folder_does_not_hold_up_an_asker(kb: KnowledgeBase, held: Held) -> None:
    slow = asyncio.create_task(call(kb, "mia", "upload", name="long.md", data=LONG))
    await until(held.begun)
    assert (await attach(kb, "ann", "short.md", SHORT))["file"]["name"] == "short.md"
    assert (await call(kb, "mona", "upload", name="short.md", data=SHORT))["kind"] == "added"
    assert not slow.done()
    held.may_go_on.set()
    assert (await slow)["kind"] == "added"


async def test_a_backup_is_a_snapshot_of_one_moment(kb: KnowledgeBase, held: Held) -> None:
    """Check that a file being embedded is written after whoever has stopped all changes allows them again."""
    slow = asyncio.create_task(call(kb, "mia", "upload", name="long.md", data=LONG))
    await until(held.begun)
    async with kb.writing:
        held.may_go_on.set()
        await asyncio.sleep(0.2)
        assert "long.md" not in names(kb)
    assert (await slow)["kind"] == "added"


async def test_the_same_file_sent_twice_at_once_is_added_once(kb: KnowledgeBase, held: Held) -> None:
    twice = [asyncio.create_task(call(kb, "mia", "upload", name="long.md", data=LONG)) for _ in range(2)]
    await until(held.begun)
    held.may_go_on.set()
    assert sorted([(await one)["kind"] for one in twice]) == ["added", "unchanged"]
    assert names(kb).count("long.md") == 1
    assert kb.corpus.check() == []


async def test_an_audience_changed_while_a_file_is_embedded_stays_changed(kb: KnowledgeBase, held: Held) -> None:
    """Check that adding a file again without an audience does not make it public."""
    first = await call(kb, "mia", "upload", name="plan.md", data=SHORT)
    again = asyncio.create_task(call(kb, "mia", "upload", name="plan.md", data=LONG))
    await until(held.begun)
    await call(kb, "mia", "upload", name="plan.md", data=SHORT, audience=["board"])
    held.may_go_on.set()
    assert (await again)["kind"] == "updated"
    found = kb.document_store.document(ROOT, first["document"]["id"])
    assert found.audience == {"board"}
    assert kb.corpus.check() == []
    vectors = kb.corpus.embedder.embed_queries(["the longest file there is"])
    assert not any("longest" in text for text in _texts(kb, Principal("eve"), vectors))
    assert any("longest" in text for text in _texts(kb, Principal("bea", frozenset({"board"})), vectors))


def _texts(kb: KnowledgeBase, who: Principal, vectors: Vectors) -> list[str]:
    found = kb.corpus.search_semantic(who, "passage", vectors, 50)
    return [one.text for one, _ in kb.document_store.passages(who, [id_ for id_, _ in found]).values()]


# -- limits on the number of files ------------------------------------------------------------------------------------


async def test_the_number_of_files_a_person_sends_at_once_is_limited(kb: KnowledgeBase, held: Held) -> None:
    running = []
    for n in range(2):
        held.begun.clear()
        running.append(asyncio.create_task(attach(kb, "ann", f"{n}.md", LONG)))
        await until(held.begun)
    with pytest.raises(TooManyQuestions, match="2 of your files are being read already"):
        await attach(kb, "ann", "third.md", SHORT)
    assert (await attach(kb, "bob", "short.md", SHORT))["file"]["name"] == "short.md"
    held.may_go_on.set()
    await asyncio.gather(*running)
    assert (await attach(kb, "ann", "third.md", SHORT))["file"]["name"] == "third.md"


async def test_the_number_of_files_in_a_conversation_is_limited_even_at_once(
    kb: KnowledgeBase, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("argot.service.usecases.questions.attachments.MAX_FILES", 1)
    thread = (await (await kb.threads()).start("ann", "Files")).id
    first = asyncio.create_task(attach(kb, "ann", "long.md", LONG, thread))
    await until(held.begun)
    assert (await attach(kb, "ann", "short.md", SHORT, thread))["file"]["name"] == "short.md"
    held.may_go_on.set()
    with pytest.raises(InvalidInput, match="holds 1 files already"):
        await first
    assert "long.md" not in names(kb)


async def test_a_file_too_long_for_a_conversation_may_still_be_a_document(
    kb: KnowledgeBase,
) -> None:
    data = b"# Heading\n\n" + b"Some words of a passage. " * 3000
    with pytest.raises(InvalidInput, match=r"long\.txt cannot be asked about: .*more than 50 passages"):
        await attach(kb, "ann", "long.txt", data)
    assert (await call(kb, "mia", "upload", name="long.txt", data=data))["kind"] == "added"


async def test_a_file_sent_to_a_deleted_conversation_is_removed(kb: KnowledgeBase, held: Held) -> None:
    thread = (await (await kb.threads()).start("ann", "Files")).id
    slow = asyncio.create_task(attach(kb, "ann", "long.md", LONG, thread))
    await until(held.begun)
    await call(kb, "ann", "thread_delete", thread=thread)
    held.may_go_on.set()
    with pytest.raises(NotFound):
        await slow
    assert "long.md" not in names(kb)
    assert kb.corpus.check() == []


# -- turns at the embedder --------------------------------------------------------------------------------------------


def test_lanes_alternate_and_each_lane_is_first_come_first_served() -> None:
    turns, order = _FairLock(), []
    at_the_door = threading.Semaphore(0)

    def take(lane: Lane, name: str) -> None:
        with turns.turn(lane):
            order.append(name)

    threads = []
    with turns.turn("attachments"):
        comers: list[tuple[Lane, str]] = [
            *(("attachments", f"a{n}") for n in range(3)),
            *(("documents", f"d{n}") for n in range(2)),
        ]
        for lane, name in comers:
            threads.append(threading.Thread(target=take, args=(lane, name)))
            threads[-1].start()
            while sum(map(len, turns._waiting.values())) < len(threads):
                at_the_door.acquire(timeout=0.001)
    for thread in threads:
        thread.join(600)
    assert order == ["d0", "a0", "d1", "a1", "a2"]
