"""The order of conversations and of the files in them is that of use, whatever the clock says."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from argot.service.threads import thread_store as module
from argot.service.threads.thread_store import MIGRATIONS, ThreadFile, Threads
from argot.sqlite import open_database


@pytest_asyncio.fixture
async def threads(tmp_path: Path) -> AsyncIterator[Threads]:
    opened = await Threads.open(tmp_path / "threads.db")
    yield opened
    await opened.close()


async def test_a_clock_that_is_set_back_leaves_the_latest_thread_first(
    threads: Threads, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for at in ("2031-01-01T00:00:00.000+00:00", "2026-01-02T00:00:00.000+00:00", "2026-01-01T00:00:00.000+00:00"):
        monkeypatch.setattr(module, "timestamp", lambda at=at: at)
        made.append((await threads.start("ann", "What?")).id)
    assert [one.id for one in await threads.of("ann")] == made[::-1]
    await threads.touch(made[1])
    assert [one.id for one in await threads.of("ann")] == [made[1], made[2], made[0]]


async def test_what_comes_within_one_moment_keeps_its_order(threads: Threads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "timestamp", lambda: "2026-01-01T00:00:00.000+00:00")
    made = [(await threads.start("ann", "What?")).id for _ in range(8)]
    assert [one.id for one in await threads.of("ann")] == made[::-1]
    for name, at in (("z.md", "2031"), ("a.md", "2026")):
        await threads.attach("ann", made[0], ThreadFile(f"d-{name}", name, 1, at))
    assert [one.name for one in await threads.files("ann", made[0])] == ["z.md", "a.md"]


async def test_threads_from_before_are_in_the_order_of_their_last_use(tmp_path: Path) -> None:
    old = open_database(tmp_path / "old.db", MIGRATIONS[:2])
    for id_, at in (("t1", "2026-01-03"), ("t2", "2026-01-01"), ("t3", "2026-01-02")):
        old.execute(
            "INSERT INTO threads (id, owner, title, created_at, updated_at) VALUES (?, 'ann', 'x', ?, ?)", (id_, at, at)
        )
    old.close()
    threads = await Threads.open(tmp_path / "old.db")
    try:
        assert [one.id for one in await threads.of("ann")] == ["t1", "t3", "t2"]
        await threads.touch("t2")
        assert [one.id for one in await threads.of("ann")] == ["t2", "t1", "t3"]
    finally:
        await threads.close()
