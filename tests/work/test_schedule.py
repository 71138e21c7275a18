"""Tests of scheduled work: it runs when due, again after a fault, and less often while a server does not answer."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from argot.errors import ModelUnavailable
from argot.service.knowledge_base import KnowledgeBase
from argot.service.operations import job_work
from argot.settings import Settings
from argot.work import schedule
from argot.work.schedule import SCHEDULE, ScheduledWork, ScheduleState, is_done_by_a_service, keep_doing, run_schedule


@pytest.fixture
async def kb(tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    async with KnowledgeBase.open(tmp_path / "kb", Settings(), create=True) as opened:
        yield opened


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record the seconds for which the schedule would sleep, without sleeping."""
    slept: list[float] = []
    sleep = asyncio.sleep

    async def nap(seconds: float) -> None:
        slept.append(seconds)
        await sleep(0)

    monkeypatch.setattr(schedule.asyncio, "sleep", nap)
    return slept


class Scripted:
    """Scheduled work with a given outcome for each run; after the last outcome it never ends."""

    def __init__(self, *outcomes: Exception | None) -> None:
        self.outcomes = list(outcomes)
        self.resting: list[str] = []
        self.over = asyncio.Event()

    async def work(self, kb: Any) -> None:
        self.resting.append(kb.part(ScheduleState).resting.get("scripted", ""))
        if not self.outcomes:
            self.over.set()
            await asyncio.Event().wait()
        if (outcome := self.outcomes.pop(0)) is not None:
            raise outcome


async def do_all(kb: KnowledgeBase, script: Scripted, **given: Any) -> None:
    doing = asyncio.create_task(keep_doing(kb, ScheduledWork("scripted", script.work, 20.0, **given)))
    await script.over.wait()
    assert await is_done_by_a_service(kb, "scripted")
    doing.cancel()
    await asyncio.gather(doing, return_exceptions=True)
    assert not await is_done_by_a_service(kb, "scripted")


async def test_a_fault_does_not_end_scheduled_work(
    kb: KnowledgeBase, naps: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    script = Scripted(None, RuntimeError("poison"), None)
    await do_all(kb, script, first=5.0, rest=60.0)
    assert naps == [5.0, 20.0, 60.0, 20.0] and "'scripted' failed" in caplog.text and "poison" in caplog.text
    naps.clear()
    await do_all(kb, Scripted(RuntimeError("poison")))
    assert naps == [0.0, 20.0]


async def test_scheduled_work_waits_longer_after_each_failure_of_a_server(kb: KnowledgeBase, naps: list[float]) -> None:
    down = ModelUnavailable("No answer.")
    script = Scripted(down, down, down, None, down)
    await do_all(kb, script)
    assert naps == [0.0, 60.0, 120.0, 240.0, 20.0, 60.0]
    assert script.resting == ["", "No answer.", "No answer.", "No answer.", "", "No answer."]


async def test_work_that_the_settings_exclude_is_not_scheduled(
    kb: KnowledgeBase, naps: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, unwanted = Scripted(), Scripted()
    for name in list(SCHEDULE):
        monkeypatch.delitem(SCHEDULE, name)
    monkeypatch.setitem(SCHEDULE, "wanted", ScheduledWork("wanted", wanted.work, 1.0))
    off = ScheduledWork("unwanted", unwanted.work, 1.0, is_wanted=lambda settings: bool(settings.model_server.url))
    monkeypatch.setitem(SCHEDULE, "unwanted", off)
    doing = asyncio.create_task(run_schedule(kb))
    await wanted.over.wait()
    doing.cancel()
    await asyncio.gather(doing, return_exceptions=True)
    assert wanted.resting == [""] and unwanted.resting == []


def test_the_service_registers_its_scheduled_work() -> None:
    assert job_work.catalogue and set(SCHEDULE) >= {
        "derive unasked", "keep clean", "keep in step with sources", "keep people confirmed", "train"
    }  # fmt: skip
    assert not SCHEDULE["train"].is_for_all
