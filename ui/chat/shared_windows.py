"""Windows that show the same conversation, and answers that outlive the connection they were asked over.

A window that is opened again, is reconnected, or shows the same conversation as another learns here that an answer is
being written, and shows it when it is complete. A stopped question is shown at once as it is stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import chainlit as cl
from chainlit.context import context, init_ws_context, local_steps
from chainlit.utils import utc_now

from argot.errors import ArgotError
from argot.languages.catalogues import translate
from argot.results import STOPPED_MESSAGE, AskResult
from argot.ui.chat.brand import NAME
from argot.ui.chat.streaming import give_buttons_back
from argot.ui.web.asker_identity import asker

STILL_WRITING = "This is still being answered. The answer appears here."


@dataclass(frozen=True, slots=True)
class AskedMessage:
    """The message of a question: its id, and its text unless the conversation already holds it."""

    id: str
    text: str | None = None


@dataclass(eq=False)
class SharedTurn:
    """An answer in progress: its question, its message and run, and its task.

    `begun`: it no longer waits; `written`: the Markdown that has come so far.
    """

    thread: str
    asked: AskedMessage
    run: str
    message: cl.Message
    begun: bool = False
    written: str = ""
    task: asyncio.Task[Any] | None = field(default_factory=asyncio.current_task)

    def steps(self) -> list[dict[str, Any]]:
        """Return the steps for a window that has not seen the turn begin. Later ones find their place by the ids."""
        common = {"threadId": self.thread, "createdAt": utc_now(), "metadata": {}, "isError": False}
        said = self.asked.text
        question = {**common, "id": self.asked.id, "type": "user_message", "name": asker.get(), "output": said}
        run = {**common, "id": self.run, "type": "run", "name": "on_message", "output": ""}
        answer = {"id": self.message.id, "parentId": self.run, "type": "assistant_message", "name": NAME}
        answer = {**common, **answer, "output": self.message.content or translate(STILL_WRITING)}
        return [run, answer] if said is None else [question, {**run, "parentId": self.asked.id}, answer]


class Windows:
    """The open windows of one knowledge base and the answers in progress.

    Args:
        reopen: reloads the conversation in the session of the current context.
    """

    def __init__(self, reopen: Callable[[], Awaitable[None]]) -> None:
        self._reopen = reopen
        self._open: WeakSet[Any] = WeakSet()
        self._turns: list[SharedTurn] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._anew: WeakKeyDictionary[Any, asyncio.Lock] = WeakKeyDictionary()

    def add(self, session: Any) -> None:
        self._open.add(session)

    def remove(self, session: Any) -> None:
        self._open.discard(session)

    def list_turns(self, thread: str) -> list[SharedTurn]:
        """List the answers in progress in a conversation."""
        return [turn for turn in self._turns if turn.thread == thread]

    def get_reopening_lock(self, session: Any) -> asyncio.Lock:
        """Return the lock that is held while a window reloads its conversation, from reading it to showing it."""
        return self._anew.setdefault(session, asyncio.Lock())

    async def wait_for_rest(self, session: Any) -> None:
        """Wait until a window has reloaded: a message sent before would vanish with what it showed."""
        async with self.get_reopening_lock(session):
            return

    @asynccontextmanager
    async def share_turn(self, turn: SharedTurn) -> AsyncIterator[None]:
        """Announce an answer in progress in the current session to other windows of the conversation, at both ends."""
        session, socket = context.session, context.session.socket_id
        # So that a window that loses its connection shows the whole answer when it returns.
        session.thread_id_to_resume = turn.thread
        self.add(session)
        self._turns.append(turn)
        try:
            for other in self._list_others(session, turn.thread):
                await _show(other, turn)
            yield
        # The stop button was pressed, in this window or another.
        except asyncio.CancelledError:
            if turn.begun:
                self._refresh(session, turn)
            else:
                await give_buttons_back()
            raise
        finally:
            self._turns.remove(turn)
            # The window was reconnected meanwhile and has not got what was sent over the old connection.
            if session.socket_id != socket:
                self._refresh(session, turn)
            for other in self._list_others(session, turn.thread):
                self._refresh(other, turn)

    async def follow(self, turn: SharedTurn, wait_for_end: Callable[[bool], Awaitable[None]]) -> None:
        """Treat an answer that another service gives in the current session's conversation as one of ours.

        Args:
            wait_for_end: waits for the end of the answer; given True, stops it first.
        """
        session = context.session

        async def following() -> None:
            async with self.share_turn(turn):
                try:
                    await wait_for_end(False)
                except asyncio.CancelledError:  # the stop button
                    await wait_for_end(True)
                    raise
            self._refresh(session, turn)

        turn.task = asyncio.create_task(following())
        self._tasks.add(turn.task)
        turn.task.add_done_callback(self._tasks.discard)
        await asyncio.sleep(0)  # from here on it is one of the turns

    async def tell_resumed(self, thread: dict[str, Any], turns: list[SharedTurn]) -> None:
        """Show the answer in progress, and its stop button, in a window that is being reopened."""
        for turn in turns:
            thread["steps"] += turn.steps()
            await _may_stop(context.session, turn)

    def _list_others(self, session: Any, thread: str) -> list[Any]:
        """List other windows of the same person in the same conversation; any connection may name any thread."""
        return [
            other
            for other in list(self._open)
            if other is not session
            and other.thread_id == thread
            and getattr(other.user, "identifier", None) == asker.get()
        ]

    def _refresh(self, session: Any, turn: SharedTurn) -> None:
        task = asyncio.create_task(self._reload(session, turn))
        # The event loop keeps weak references to tasks: without this one, a task could be collected before it is done.
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _reload(self, session: Any, turn: SharedTurn) -> None:
        # The task was started in the context of another window.
        init_ws_context(session)
        local_steps.set([])  # messages shown now belong to no answer
        if session.thread_id != turn.thread or _is_busy(session, turn):
            return
        if not self.list_turns(turn.thread):
            await context.emitter.task_end()
        try:
            await self._reopen()
        except ArgotError:  # signed out, or deleted
            return


def drop_unfinished(turns: list[AskResult], under_way: list[SharedTurn]) -> list[AskResult]:
    """Leave a question in progress out of a thread's turns: it is stored as stopped until its answer is complete."""
    return turns[:-1] if under_way and turns and turns[-1].answer == STOPPED_MESSAGE else turns


async def _show(session: Any, turn: SharedTurn) -> None:
    for step in turn.steps():
        await session.emit("new_message", step)
    await _may_stop(session, turn)


async def _may_stop(session: Any, turn: SharedTurn) -> None:
    """Show the stop button in a window, and let it stop this turn."""
    if not _is_busy(session, turn):
        session.current_task = turn.task
        await session.emit("task_start", {})


def _is_busy(session: Any, turn: SharedTurn) -> bool:
    """Tell whether this window is busy with something else."""
    task = session.current_task
    return task is not None and task is not turn.task and not task.done()
