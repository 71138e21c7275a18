"""Windows that show the same conversation, and answers that outlive the connection they were asked over.

A window that is opened again, comes back after its network was gone, or shows the same conversation as another one
learns from here that an answer is being written, and shows it when it is complete. A stopped question is shown at once
as it is stored.
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
from argot.results import STOPPED_MESSAGE, AskResult
from argot.ui.chat.brand import NAME
from argot.ui.chat.streaming import give_buttons_back
from argot.ui.web.asker_identity import asker

STILL_WRITING = "This is still being answered. The answer appears here."


@dataclass(frozen=True, slots=True)
class AskedMessage:
    """The message of a question: its id, and its text unless it stands in the conversation already."""

    id: str
    text: str | None = None


@dataclass(eq=False)
class SharedTurn:
    """An answer on its way: to what, in which message of which run, and by which task.

    `begun`: its turn has come; `written`: the Markdown that has come so far.
    """

    thread: str
    asked: AskedMessage
    run: str
    message: cl.Message
    begun: bool = False
    written: str = ""
    task: asyncio.Task[Any] | None = field(default_factory=asyncio.current_task)

    def steps(self) -> list[dict[str, Any]]:
        """As a window shows it that has not seen it begin. What comes later finds its place by the ids."""
        common = {"threadId": self.thread, "createdAt": utc_now(), "metadata": {}, "isError": False}
        said = self.asked.text
        question = {**common, "id": self.asked.id, "type": "user_message", "name": asker.get(), "output": said}
        run = {**common, "id": self.run, "type": "run", "name": "on_message", "output": ""}
        answer = {"id": self.message.id, "parentId": self.run, "type": "assistant_message", "name": NAME}
        answer = {**common, **answer, "output": self.message.content or STILL_WRITING}
        return [run, answer] if said is None else [question, {**run, "parentId": self.asked.id}, answer]


class Windows:
    """The open windows of one knowledge base and the answers on their way.

    Args:
        reopen: shows the session of the context at hand its conversation anew.
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
        """What is being answered in a conversation now."""
        return [turn for turn in self._turns if turn.thread == thread]

    def get_reopening_lock(self, session: Any) -> asyncio.Lock:
        """The lock held while a window is shown its conversation anew, from reading it to the end of showing it."""
        return self._anew.setdefault(session, asyncio.Lock())

    async def wait_for_rest(self, session: Any) -> None:
        """Wait until a window is not being shown anew: a message that came before would vanish with what it showed."""
        async with self.get_reopening_lock(session):
            return

    @asynccontextmanager
    async def share_turn(self, turn: SharedTurn) -> AsyncIterator[None]:
        """An answer is being given in the session at hand: others that show the conversation are told, at both ends."""
        session, socket = context.session, context.session.socket_id
        session.thread_id_to_resume = turn.thread  # so that who loses the connection is shown all of it on coming back
        self.opened(session)
        self._turns.append(turn)
        try:
            for other in self._list_others(session, turn.thread):
                await _show(other, turn)
            yield
        # The stop button, in this window or another one.
        except asyncio.CancelledError:
            if turn.begun:
                self._refresh(session, turn)
            else:
                await give_buttons_back()
            raise
        finally:
            self._turns.remove(turn)
            # The window lost its connection and came back meanwhile: what was sent to the old one it has not got.
            if session.socket_id != socket:
                self._refresh(session, turn)
            for other in self._list_others(session, turn.thread):
                self._refresh(other, turn)

    async def follow(self, turn: SharedTurn, wait_for_end: Callable[[bool], Awaitable[None]]) -> None:
        """An answer that another service gives in the conversation of the session at hand counts as one of ours.

        Args:
            wait_for_end: waits for its end; given True it has it stopped.
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
        await asyncio.sleep(0)  # from here on it is among the turns

    async def tell_resumed(self, thread: dict[str, Any], turns: list[SharedTurn]) -> None:
        """In a window that is being reopened: what is on its way, and the button that stops it."""
        for turn in turns:
            thread["steps"] += turn.steps()
            await _may_stop(context.session, turn)

    def _list_others(self, session: Any, thread: str) -> list[Any]:
        """Windows of the same person in the same conversation; anybody may name a thread on connecting."""
        return [
            other
            for other in list(self._open)
            if other is not session
            and other.thread_id == thread
            and getattr(other.user, "identifier", None) == asker.get()
        ]

    def _refresh(self, session: Any, turn: SharedTurn) -> None:
        task = asyncio.create_task(self._reload(session, turn))
        # The event loop holds tasks weakly: without this one could be collected before it is done.
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _reload(self, session: Any, turn: SharedTurn) -> None:
        # The task was made in the context of another window.
        init_ws_context(session)
        local_steps.set([])  # what is shown now belongs to no answer
        if session.thread_id != turn.thread or _is_busy(session, turn):
            return
        if not self.list_turns(turn.thread):
            await context.emitter.task_end()
        try:
            await self._reopen()
        except ArgotError:  # signed out, or deleted
            return


def drop_unfinished(turns: list[AskResult], under_way: list[SharedTurn]) -> list[AskResult]:
    """The turns of a thread. A question under way is stored as stopped until its answer is there: it is left out."""
    return turns[:-1] if under_way and turns and turns[-1].answer == STOPPED_MESSAGE else turns


async def _show(session: Any, turn: SharedTurn) -> None:
    for step in turn.steps():
        await session.emit("new_message", step)
    await _may_stop(session, turn)


async def _may_stop(session: Any, turn: SharedTurn) -> None:
    """Show the stop button in a window, and let it stop this."""
    if not _is_busy(session, turn):
        session.current_task = turn.task
        await session.emit("task_start", {})


def _is_busy(session: Any, turn: SharedTurn) -> bool:
    """Whether something else is being done for this window."""
    task = session.current_task
    return task is not None and task is not turn.task and not task.done()
