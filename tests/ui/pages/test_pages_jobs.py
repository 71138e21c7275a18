"""Test of jobs that were set aside: the page of documents lists them and retries them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from desk import CSRF, at_desk

from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.types import Principal
from argot.ui.pages.page_routes import build_pages
from argot.work.job_kinds import KINDS, job_kind
from argot.work.job_types import JobRequest, JobRun

MIA = Principal("mia", frozenset({"managers"}))
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
async def kb(tmp_path: Path) -> AsyncIterator[KnowledgeBase]:
    settings = Settings(home=tmp_path / "kb", job_retry_seconds=0.01)
    async with KnowledgeBase.open(settings.home, settings, create=True) as opened:
        yield opened


async def test_a_job_that_was_set_aside_is_listed_and_retried(kb: KnowledgeBase) -> None:
    faults = [RuntimeError(HOSTILE)] * 3

    async def work(run: JobRun) -> str:
        if faults:
            raise faults.pop()
        return "done"

    job_kind("test", busy="")(work)
    try:
        job = await kb.jobs.submit(JobRequest("test", MIA, label=HOSTILE))
        _ = [one async for one in kb.jobs.follow(job.id)]
        async with at_desk(build_pages(kb), MIA) as mia:
            shown = (await mia.get("/documents")).text
            assert "put aside after 3 tries" in shown and HOSTILE not in shown and "&lt;script&gt;" in shown
            gone = await mia.post("/documents/jobs/99/retry", data={"csrf": CSRF})
            assert "There is no job 99" in gone.text
            await mia.post(f"/documents/jobs/{job.id}/retry", data={"csrf": CSRF}, follow_redirects=False)
            assert [one async for one in kb.jobs.follow(job.id)][-1].state == "done"
            assert "put aside" not in (await mia.get("/documents")).text
    finally:
        del KINDS["test"]
