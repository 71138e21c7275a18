"""The answer workers of a service: the assignment of questions, and the handling of a worker's exit.

A conversation may continue in another worker each time, because its whole state is in its checkpoints. A question whose
worker ended is given to another, which continues from the last stored step; the part of the answer that the asker has
seen is retracted first. A question at which two workers ended is given up, so that a question that crashes workers does
not end them all.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import cast

from argot.errors import AnswerLost, RetryLater
from argot.languages.catalogues import translate
from argot.machine_limits import count_processors, measure_memory
from argot.results import AskEvent
from argot.service.answer_jobs import AnswerJob, LocalAnswers
from argot.service.answering.messages import Job
from argot.service.answering.reading_ahead import read_ahead
from argot.service.answering.worker_process import WorkerGone, WorkerProcess
from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.work.side_work import run_beside

logger = logging.getLogger(__name__)

MAX_TRIES = 2
"""Attempts at one question, each by another worker."""
MAX_UNBEGUN_TRIES = 4
"""Attempts with workers that end before they have reported on it."""
START_SECONDS = 120.0
"""The first start on a machine may have to export a model."""
SHORT_LIFE = 60.0
PAUSES = (0.2, 1.0, 5.0, 15.0, 30.0)
"""Seconds before the next start, after this many short lives in a row."""
WORKER_BYTES = 700 * 1024 * 1024
"""Free memory required for each of the workers that are started by default."""
MAX_DEFAULT_WORKERS = 8
MIN_DEFAULT_CORES = 4
"""With fewer processors, none is started by default: a worker and the service would wait for each other."""


def count_workers(settings: Settings) -> int:
    """Return the number of workers that the settings name, else that processors and memory allow."""
    if settings.web.workers != "auto":
        return settings.web.workers
    cores = count_processors()
    # Half of the processors: the service itself, the embedding of documents and SQLite need some, too.
    return max(
        0,
        min(
            cores // 2 if cores >= MIN_DEFAULT_CORES else 0, measure_memory() // 2 // WORKER_BYTES, MAX_DEFAULT_WORKERS
        ),
    )


@asynccontextmanager
async def run_answer_workers(kb: KnowledgeBase) -> AsyncIterator[None]:
    """Answer questions within the block by as many workers as the settings say; by this process if that is none."""
    count = count_workers(kb.settings)
    if not count:
        # Answer workers read for themselves.
        async with run_beside(read_ahead(kb, lambda: bool(kb.gates.questions.running))):
            yield
        return
    pool = WorkerPool(kb, count)
    kb.answers = pool
    if kb.metrics is not None:
        kb.metrics.show_workers(lambda: pool.ready, lambda: pool.memory)
    pool.start()
    try:
        yield
    finally:
        await pool.close()
        kb.answers = LocalAnswers(kb)


class WorkerPool:
    """Implements `argot.service.answer_jobs.Answers` by `count` processes."""

    def __init__(self, kb: KnowledgeBase, count: int) -> None:
        self._kb, self._count = kb, count
        self._settings = self._share_processors(kb.settings)
        self._workers: list[WorkerProcess] = []
        self._keeping: list[asyncio.Task[None]] = []
        self._changed = asyncio.Condition()
        self.lost = 0

    @property
    def ready(self) -> int:
        """Workers that take questions."""
        return sum(one.ready for one in self._workers)

    @property
    def memory(self) -> int:
        """Total memory of the workers in bytes."""
        return sum(one.memory for one in self._workers)

    def start(self) -> None:
        self._keeping = [asyncio.create_task(self._keep()) for _ in range(self._count)]

    async def close(self) -> None:
        """End the workers. Running questions are given up."""
        for task in self._keeping:
            task.cancel()
        await asyncio.gather(*self._keeping, return_exceptions=True)

    # -- jobs ---------------------------------------------------------------------------------------------------------

    async def events(self, job: AnswerJob) -> AsyncGenerator[AskEvent]:
        """Run the job in a worker, and in another if that one ends.

        Raises:
            AnswerLost: two workers ended while working on it.
            RetryLater: there is none.
        """
        is_reported = finished = False
        tries = unbegun = 0
        while tries < MAX_TRIES and unbegun < MAX_UNBEGUN_TRIES:
            worker, begun = await self._wait_for_free_worker(), False
            try:
                async with aclosing(worker.events(cast(Job, job))) as events:
                    async for event in events:
                        yield event
                        begun, finished = True, event.kind == "result"
                        is_reported = is_reported or event.kind == "token"
                return
            except WorkerGone:
                if finished:
                    return
                logger.warning("answer worker %d ended while answering a question", worker.pid)
            # A worker that reported nothing about the question may have ended before it began.
            tries, unbegun = tries + begun, unbegun + (not begun)
            if is_reported:
                # The next worker restarts the answer, or continues where no event is repeated.
                yield AskEvent("retract", "answer")
                is_reported = False
        raise AnswerLost(
            translate(
                "The process that answered this question ended unexpectedly, twice, so the question was given up. Ask "
                "it in other words, or only a part of it. An administrator finds more in the log."
            )
        )

    async def warm(self) -> None:
        """Wait for the first worker; the others may come later."""
        try:
            await self._wait_for_free_worker()
        except RetryLater:
            logger.error("no answer worker is ready after %g seconds", START_SECONDS)

    async def _wait_for_free_worker(self) -> WorkerProcess:
        """Return the worker with the fewest questions, as soon as there is one.

        Raises:
            RetryLater
        """
        try:
            async with asyncio.timeout(START_SECONDS), self._changed:
                await self._changed.wait_for(lambda: self.ready)
        except TimeoutError:
            raise _make_no_worker_error() from None
        return min((one for one in self._workers if one.ready), key=lambda one: one.load)

    def require_ready(self) -> None:
        if not self.ready:
            raise _make_no_worker_error()

    async def renew(self, settings: Settings) -> None:
        self._settings = self._share_processors(settings)
        await asyncio.gather(*(worker.renew(self._settings) for worker in list(self._workers)))

    def describe(self) -> str:
        each = ", ".join(f"{one.pid} ({one.memory / 1e6:.0f} MB)" for one in self._workers if one.ready)
        lost = f"; {self.lost} ended unexpectedly" if self.lost else ""
        return f"{self.ready} of {self._count} answer workers: {each or 'none is ready'}{lost}"

    # -- keeping them -------------------------------------------------------------------------------------------------

    async def _keep(self) -> None:
        """Keep one worker running, and replace it when it ends."""
        short_lives = 0
        while True:
            began = time.monotonic()
            worker = WorkerProcess(self._kb)
            self._workers.append(worker)
            running = asyncio.create_task(worker.run(lambda: self._settings, self._tell))
            try:
                await asyncio.shield(running)
            except asyncio.CancelledError:
                await worker.end()
                await asyncio.gather(running, return_exceptions=True)
                raise
            # Also one that sends unreadable messages: whatever its fate, it has to be replaced.
            except Exception:
                logger.exception("an answer worker failed, or could not be started")
            finally:
                self._workers.remove(worker)
            self.lost += 1
            if self._kb.metrics is not None:
                self._kb.metrics.workers_lost.inc()
            short_lives = 0 if time.monotonic() - began > SHORT_LIFE else short_lives + 1
            pause = PAUSES[min(short_lives, len(PAUSES) - 1)]
            logger.warning("answer worker %d ended; the next one starts in %g seconds", worker.pid, pause)
            await asyncio.sleep(pause)

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def _share_processors(self, settings: Settings) -> Settings:
        """The settings of one worker, which shares the processors with the others."""
        if settings.search.threads or self._count == 1:
            return settings
        return settings.replace(threads=max(1, count_processors() // self._count))


def _make_no_worker_error() -> RetryLater:
    return RetryLater("No process that answers questions is ready at the moment. Ask again shortly.", 10)
