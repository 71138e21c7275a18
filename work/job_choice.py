"""The choice of the job queue of a knowledge base: this process, or a queue if its stores are on PostgreSQL."""

from __future__ import annotations

from typing import Any

from argot.databases import Stores
from argot.settings import Settings
from argot.sqlite_database import SqliteStores
from argot.work.job_types import Jobs
from argot.work.local_jobs import LocalJobs


def choose_jobs(kb: Any, stores: Stores, settings: Settings) -> Jobs:
    """Choose the job queue. Nothing is opened before the first job is submitted or searched for.

    Args:
        kb: a `KnowledgeBase`, whose module imports this one.
    """
    local = LocalJobs(kb, settings.jobs.retry_seconds)
    if isinstance(stores, SqliteStores):
        return local
    # The client of PostgreSQL is an extra, which need not be installed.
    from argot.postgresql.locks import SessionLocks
    from argot.postgresql.stores import PostgresqlStores
    from argot.work.queue_jobs import QueueJobs
    from argot.work.queue_store import QueueStore

    assert isinstance(stores, PostgresqlStores)

    async def work_on(jobs: QueueJobs, kind: str) -> None:
        from argot.work.queue_worker import QueueWorker, WorkerLimits

        # When this process ends, another one continues its jobs: there is no need to wait for them.
        limits = WorkerLimits(max(settings.jobs.at_once, 1), 0, settings.jobs.lost_seconds, settings.jobs.retry_seconds)
        await QueueWorker(kb, jobs, [kind], limits, name=kind).run()

    return QueueJobs(QueueStore(stores), local, SessionLocks(stores), settings.jobs.lost_seconds, work_on)
