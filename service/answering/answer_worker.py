"""An answer worker: a process that runs the jobs of questions, and sends their events to the service.

    python -m argot.service.answering.answer_worker LINK VECTORS        # the numbers of two connected sockets

It reads the stores beside the service and writes only checkpoints of the threads it answers in. It ends with the
service.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from argot.corpus.embedding.embedder import load_embedder
from argot.errors import ArgotError
from argot.garbage_collection import collect_seldom
from argot.results import ModelCall
from argot.service.answering.messages import (
    WINDOW,
    Alive,
    AnswerEvent,
    Begin,
    Called,
    CancelAnswer,
    End,
    EventsTaken,
    JobEnded,
    Link,
    Ready,
    Renew,
    Renewed,
    StartAnswer,
)
from argot.service.answering.reading_ahead import read_ahead
from argot.service.answering.vector_channel import VectorClient
from argot.service.knowledge_base import KnowledgeBase
from argot.service.observability import logs, process_memory
from argot.service.observability.instrumentation import request_id, said_now, surface
from argot.service.transport.wire_format import make_error_event
from argot.settings import Settings
from argot.tools.retrieval.scorer_choice import load_scorer
from argot.tracing import begin_trace

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 2.0
SWITCH_SECONDS = 0.001
"""How long a thread may hold the interpreter while others wait for it, as in the service."""


@dataclass(eq=False)
class _RunningQuestion:
    """A question that is being answered. `window`: how many more events may be sent."""

    task: asyncio.Task[None]
    window: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(WINDOW))


class AnswerWorker:
    def __init__(self, link: Link, kb: KnowledgeBase) -> None:
        self._link, self._kb = link, kb
        self._under_way: dict[int, _RunningQuestion] = {}
        self._renewing: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Run until the service ends it, or is gone."""
        beside = [asyncio.create_task(self._send_heartbeats())]
        try:
            await self._warm()
            process_memory.freeze_start_up()
            await self._link.send(Ready())
            beside.append(asyncio.create_task(read_ahead(self._kb, lambda: bool(self._under_way))))
            await self._listen()
        finally:
            tasks = [*beside, *self._renewing, *(one.task for one in self._under_way.values())]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _warm(self) -> None:
        kb = self._kb
        if kb.model_server is not None:
            kb.model_server.told = self._report_model_call
        await kb.load()
        await kb.graph()
        await kb.answers.warm()

    async def _send_heartbeats(self) -> None:
        while True:
            self._link.put(Alive(_measure_resident_memory()))
            await asyncio.sleep(HEARTBEAT_SECONDS)

    async def _listen(self) -> None:
        while (message := await self._link.receive()) is not None and not isinstance(message, End):
            if isinstance(message, StartAnswer):
                self._begin(message)
            elif isinstance(message, CancelAnswer) and (left := self._under_way.get(message.number)):
                left.task.cancel()
            elif isinstance(message, EventsTaken) and (known := self._under_way.get(message.number)):
                for _ in range(message.count):
                    known.window.release()
            elif isinstance(message, Renew):
                renewing = asyncio.create_task(self._renew(message.models))
                self._renewing.add(renewing)
                renewing.add_done_callback(self._renewing.discard)

    def _begin(self, job_message: StartAnswer) -> None:
        task = asyncio.create_task(self._do(job_message))
        self._under_way[job_message.number] = _RunningQuestion(task)

        def report_unstarted(_: asyncio.Task[None]) -> None:
            # Cancelled before its first step it never ran, and `_do` does not report it.
            if self._under_way.pop(job_message.number, None):
                self._link.put(JobEnded(job_message.number))

        task.add_done_callback(report_unstarted)

    async def _do(self, job_message: StartAnswer) -> None:
        surface.set(job_message.surface)
        request_id.set(job_message.request)
        said_now.set(job_message.said)
        trace = None if job_message.traced is None else begin_trace(contents=job_message.traced)
        error: dict[str, Any] | None = None
        try:
            async with aclosing(job_message.job.events(self._kb)) as events:
                async for event in events:
                    await self._under_way[job_message.number].window.acquire()
                    await self._link.send(AnswerEvent.of(job_message.number, event))
        except ArgotError as known:
            error = make_error_event(known)
        except asyncio.CancelledError:
            pass  # nobody waits for it, except for the report that nothing more is written
        except Exception as unexpected:
            logger.exception("a question could not be answered")
            error = {"kind": "error", "type": "", "message": type(unexpected).__name__}
        del self._under_way[job_message.number]
        self._link.put(JobEnded(job_message.number, error, trace.close() if trace else []))

    def _report_model_call(self, call: ModelCall) -> None:
        self._link.put(Called(call))

    async def _renew(self, models: dict[str, str]) -> None:
        kb = self._kb
        try:
            settings = kb.settings.replace(**models)
            await kb.blocking(load_scorer, settings)
            if settings.search.embedder != kb.settings.search.embedder:
                (await kb.load()).embedder = await kb.blocking(load_embedder, settings)
            kb.settings = settings
        # The service ends this process, and the next one starts with these models.
        except Exception as error:
            logger.exception("the models of an answer worker could not be changed")
            self._link.put(Renewed(str(error) or type(error).__name__))
        else:
            self._link.put(Renewed())


async def _serve(link: socket.socket, vectors: socket.socket) -> None:
    connection = Link(*await asyncio.open_unix_connection(sock=link))
    begin = await connection.receive()
    if not isinstance(begin, Begin):
        return
    given = Settings(**begin.given)
    logs.configure(given)
    async with KnowledgeBase.open_beside_owner(Path(begin.home), given, VectorClient(vectors)) as kb:
        kb.settings = given.replace(**begin.models)
        with suppress(ConnectionError):
            await AnswerWorker(connection, kb).run()
        # A running search in a thread would keep this process alive.
        vectors.shutdown(socket.SHUT_RDWR)
    connection.close()


def _measure_resident_memory() -> int:
    statm = Path("/proc/self/statm")
    return int(statm.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


def main() -> None:
    collect_seldom()
    sys.setswitchinterval(SWITCH_SECONDS)
    process_memory.bound_arenas()
    link, vectors = (socket.socket(fileno=int(number)) for number in sys.argv[1:3])
    asyncio.run(_serve(link, vectors))


if __name__ == "__main__":
    main()
