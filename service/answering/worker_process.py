"""One answer worker as the service sees it: its process, its questions, and its messages."""

from __future__ import annotations

import asyncio
import itertools
import logging
import socket
import subprocess
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from argot.corpus.corpus import VectorSearch
from argot.results import AskEvent
from argot.service.answering.messages import (
    WINDOW,
    Alive,
    AnswerEvent,
    Begin,
    Called,
    CancelAnswer,
    End,
    EventsTaken,
    FromWorker,
    Job,
    JobEnded,
    Link,
    Ready,
    Renew,
    Renewed,
    StartAnswer,
)
from argot.service.answering.vector_channel import serve_vectors
from argot.service.knowledge_base import KnowledgeBase
from argot.service.observability.instrumentation import request_id, said_now, surface
from argot.service.transport.wire_format import restore_error
from argot.settings import Settings
from argot.subprocesses import start_module
from argot.tracing import Trace, current_trace

logger = logging.getLogger(__name__)

CHECK_SECONDS = 5.0
SILENT_CHECKS = 12
"""Consecutive checks without any message from a worker, after which it counts as hung."""
RELEASE_SECONDS = 30.0
"""Time after which a worker that has not released a question counts as hung."""
END_SECONDS = 10.0
RENEW_SECONDS = 60.0
_numbers = itertools.count(1)


class WorkerGone(Exception):
    """The process ended while working on a question."""


@dataclass(eq=False)
class _RunningQuestion:
    said: asyncio.Queue[AnswerEvent | JobEnded | None] = field(default_factory=asyncio.Queue)


class WorkerProcess:
    """One worker process from its start to its end; the next one is another object.

    `ready`: it accepts questions. `ended`: set when it is gone. `memory`: its memory in bytes, as last reported.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self.ready = False
        self.memory = 0
        self.ended = asyncio.Event()
        self._under_way: dict[int, _RunningQuestion] = {}
        self._heard = False
        self._renewed: asyncio.Future[str] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._link: Link | None = None

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    @property
    def load(self) -> int:
        """Number of its questions."""
        return len(self._under_way)

    async def run(self, settings: Callable[[], Settings], on_ready: Callable[[], Awaitable[None]]) -> None:
        """Start it, and receive its messages until it ends.

        Args:
            settings: the current ones, whose models are in use.
            on_ready: awaited when it accepts questions.
        """
        ours, theirs = socket.socketpair()
        search, searched = socket.socketpair()
        with theirs, search:
            number, other = theirs.fileno(), search.fileno()
            module = "argot.service.answering.answer_worker"
            self._process = start_module(module, str(number), str(other), handles=(number, other))
        threading.Thread(target=serve_vectors, args=(searched, self._search), daemon=True).start()
        self._link = Link(*await asyncio.open_unix_connection(sock=ours))
        looking = asyncio.create_task(self._check_messages())
        try:
            now = settings()
            self._link.put(Begin(str(self._kb.home), _dump_settings(self._kb.given, now), read_models(now)))
            while (message := await self._link.receive()) is not None:
                self._heard = True
                if isinstance(message, Ready):
                    self.ready = True
                    await on_ready()
                else:
                    self._take(message)  # type: ignore[arg-type]
        finally:
            self.ready = False
            looking.cancel()
            self._link.close()
            # It has closed its connection: the rest of it is of no use.
            self._process.kill()
            await asyncio.to_thread(self._process.wait)
            for one in self._under_way.values():
                one.said.put_nowait(None)
            if self._renewed and not self._renewed.done():
                self._renewed.set_result("")
            self.ended.set()

    def _search(self) -> VectorSearch:
        return self._kb.corpus.nearest

    def _take(self, message: FromWorker) -> None:
        if isinstance(message, AnswerEvent | JobEnded):
            if known := self._under_way.get(message.number):
                known.said.put_nowait(message)
        elif isinstance(message, Alive):
            self.memory = message.memory
        elif isinstance(message, Called):
            if self._kb.metrics is not None:
                self._kb.metrics.model_called(message.call)
        elif isinstance(message, Renewed) and self._renewed and not self._renewed.done():
            self._renewed.set_result(message.error)

    async def _check_messages(self) -> None:
        silent = 0
        # Checks are counted, not seconds: while this process itself is blocked, no message is received.
        while silent < SILENT_CHECKS:
            await asyncio.sleep(CHECK_SECONDS)
            silent, self._heard = (0 if self._heard else silent + 1), False
        logger.error("answer worker %d hangs, and is ended", self.pid)
        self.kill()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    async def end(self) -> None:
        """Ask it to end; its questions are given up."""
        self.ready = False
        if self._link is not None:
            self._link.put(End())
        try:
            async with asyncio.timeout(END_SECONDS):
                await self.ended.wait()
        except TimeoutError:
            self.kill()
            await self.ended.wait()

    async def renew(self, settings: Settings) -> None:
        """Have it use these models; one that cannot is ended, and so is one that has begun to load others."""
        if self._link is None:
            return
        if not self.ready:
            self.kill()
            return
        self._renewed = asyncio.get_running_loop().create_future()
        self._link.put(Renew(read_models(settings)))
        try:
            async with asyncio.timeout(RENEW_SECONDS):
                failed = await self._renewed
        except TimeoutError:
            failed = "it took too long"
        if failed:
            self.ready = False
            self.kill()

    async def events(self, job: Job) -> AsyncGenerator[AskEvent]:
        """Have it run the job. When this is closed, it writes nothing more for it.

        Raises:
            WorkerGone: it ended before the job did.
            ArgotError: as the job raises it.
        """
        if self._link is None or self.ended.is_set():
            raise WorkerGone
        trace, under_way, number = current_trace(), _RunningQuestion(), next(_numbers)
        traced = None if trace is None else trace.contents
        # One that cannot be sent is not running, and nobody would report its end.
        self._link.put(StartAnswer(number, job, surface.get(), request_id.get(), said_now.get(), traced))
        self._under_way[number] = under_way
        done = False
        try:
            taken = 0
            while isinstance(message := await under_way.said.get(), AnswerEvent):
                yield message.event
                taken += 1
                if taken % (WINDOW // 2) == 0:
                    self._link.put(EventsTaken(number, WINDOW // 2))
            done = True
            if message is None:
                raise WorkerGone
            if trace is not None:
                trace.take(message.steps)
            if message.error is not None:
                raise _restore_error(message.error)
        finally:
            try:
                if not done:
                    await self._leave(number, under_way, trace)
            finally:
                del self._under_way[number]

    async def _leave(self, number: int, under_way: _RunningQuestion, trace: Trace | None) -> None:
        """Have it stop, and wait until it writes nothing more: the next turn of the thread may begin then."""
        assert self._link is not None
        self._link.put(CancelAnswer(number))
        try:
            async with asyncio.timeout(RELEASE_SECONDS):
                while isinstance(message := await under_way.said.get(), AnswerEvent):
                    pass
        except TimeoutError:
            logger.exception("answer worker %d does not let go of a question, and is ended", self.pid)
            self.kill()
            return
        if message is not None and trace is not None:
            trace.take(message.steps)


def read_models(settings: Settings) -> dict[str, str]:
    return {"embedder": settings.search.embedder, "reranker": settings.search.reranker}


def _dump_settings(given: Settings, settings: Settings) -> dict[str, Any]:
    """Return the given settings as JSON; secrets in clear text, because the worker needs the model's key."""
    found: dict[str, Any] = {}
    for name, held in given.flatten(only_given=True).items():
        value = held.get_secret_value() if isinstance(held, SecretStr) else held
        found[name] = str(value) if isinstance(value, Path) else value
    return {**found, "threads": settings.search.threads}


def _restore_error(error: dict[str, Any]) -> Exception:
    # An unknown error is a bug; the worker's log has its traceback.
    return restore_error(error) if error["type"] else RuntimeError(f"an answer worker failed: {error['message']}")
