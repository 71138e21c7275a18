"""Chainlit's data layer as a thin adapter over Argot's threads: the service owns the history.

Nothing is stored here. Each reading assembles a conversation from the service, through the access check, so that text a
person may no longer see is gone from old conversations as well. Steps and elements that Chainlit would store are not
stored.
"""

from __future__ import annotations

from typing import Any

from cachetools import FIFOCache
from chainlit.context import ChainlitContextException, context
from chainlit.data.base import BaseDataLayer
from chainlit.types import Feedback, PageInfo, PaginatedResponse, Pagination, ThreadDict, ThreadFilter
from chainlit.user import PersistedUser, User

from argot.errors import NotFound
from argot.languages.catalogues import translate
from argot.results import AskResult
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.threads import Feedback as Given
from argot.service.usecases.questions.threads import (
    Thread,
    ThreadRead,
    get_own_thread,
    thread_delete,
    thread_list,
    thread_read,
    thread_rename,
)
from argot.service.usecases.questions.threads import feedback as feedback_case
from argot.ui.chat.brand import NAME
from argot.ui.chat.chat_threads import ensure_thread
from argot.ui.pages.page_base import parse_integer
from argot.ui.rendering.chat_markdown import view_result
from argot.ui.web.asker_identity import asker, get_current_principal
from argot.ui.web.chainlit_guard import is_thread_id

MAX_RUNS = 10_000
"""Answers of this process whose thumbs work without reloading the page."""
MAX_LISTED_THREADS = 1000
"""Conversations on one page of the list, whatever the request asks for."""


class ThreadsLayer(BaseDataLayer):  # type: ignore[misc]
    """Chainlit's data layer, which reads from the service on behalf of whoever is signed in."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._runs: FIFOCache[str, tuple[str, int]] = FIFOCache(MAX_RUNS)

    # -- people ----------------------------------------------------------------------------------------------------

    async def get_user(self, identifier: str) -> PersistedUser | None:
        # The service keeps the people; Chainlit needs an owner of this name for what it lists.
        return PersistedUser(id=identifier, createdAt="", identifier=identifier)

    async def create_user(self, user: User) -> PersistedUser | None:
        return await self.get_user(user.identifier)

    # -- conversations ---------------------------------------------------------------------------------------------

    async def list_threads(self, pagination: Pagination, filters: ThreadFilter) -> PaginatedResponse[ThreadDict]:
        """List one's own conversations, the latest first. The cursor is the place of the last one returned."""
        found = await thread_list(self.kb, await get_current_principal(self.kb))
        if filters.search:
            wanted = filters.search.casefold()
            found = [thread for thread in found if wanted in thread.title.casefold()]
        # The cursor and the count come from the browser unchecked.
        start = max(parse_integer(pagination.cursor), 0)
        end = start + min(max(pagination.first, 0), MAX_LISTED_THREADS)
        page = [self._head(thread) for thread in found[start:end]]
        return PaginatedResponse(PageInfo(end < len(found), str(start), str(end)), page)

    async def get_thread_author(self, thread_id: str) -> str:
        try:
            return (await self._load_own(thread_id)).owner
        except NotFound:
            return ""

    async def get_thread(self, thread_id: str) -> ThreadDict | None:
        try:
            thread = await thread_read(self.kb, await get_current_principal(self.kb), thread=thread_id)
        except NotFound:
            return None
        return {**self._head(thread), "steps": self.steps(thread)}

    def steps(self, thread: ThreadRead) -> list[dict[str, Any]]:
        """Build the messages of a conversation (as `thread_read` returns it)."""
        feedback_by_turn = {one.turn: one for one in thread.feedback if one.value}
        steps: list[dict[str, Any]] = []
        for turn in thread.turns:
            steps += _build_steps(thread, turn, feedback_by_turn.get(turn.turn))
        return steps

    async def update_thread(
        self,
        thread_id: str,
        name: str | None = None,
        user_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        tags: list[str] | None = None,
    ) -> None:
        """Rename a conversation, or create it in our store when Chainlit announces its first message."""
        if not name:  # nothing new, or a conversation that begins with files and is named after them
            return
        try:
            await self._load_own(thread_id)
        except NotFound:
            await ensure_thread(self.kb, context.session, name)
            return
        if not _is_announcement(thread_id):
            await thread_rename(self.kb, await get_current_principal(self.kb), thread=thread_id, title=name)

    async def delete_thread(self, thread_id: str) -> None:
        await thread_delete(self.kb, await get_current_principal(self.kb), thread=thread_id)

    # -- thumbs ----------------------------------------------------------------------------------------------------

    def remember_run(self, run_id: str, thread: str, turn: int) -> None:
        """Note the turn to which the thumbs of a new answer belong."""
        self._runs[run_id] = (thread, turn)

    async def upsert_feedback(self, feedback: Feedback) -> str:
        thread, turn = self._runs.get(feedback.forId) or _turn_in(feedback.forId)
        # The dialog says who reads a comment, so sending it is consent.
        await feedback_case(
            self.kb,
            await get_current_principal(self.kb),
            thread=thread,
            turn=turn,
            value=1 if feedback.value else -1,
            comment=feedback.comment or "",
            share=True,
        )
        return run_id(thread, turn)

    async def delete_feedback(self, feedback_id: str) -> bool:
        thread, turn = _turn_in(feedback_id)
        await feedback_case(self.kb, await get_current_principal(self.kb), thread=thread, turn=turn, value=0)
        return True

    # -- not stored ------------------------------------------------------------------------------------------------

    async def create_element(self, element: Any) -> None:
        """Store nothing: no element is attached to a message, because marks are links to our own addresses."""

    async def get_element(self, thread_id: str, element_id: str) -> None:
        return None

    async def delete_element(self, element_id: str, thread_id: str | None = None) -> None: ...

    async def create_step(self, step_dict: Any) -> None: ...

    async def update_step(self, step_dict: Any) -> None: ...

    async def delete_step(self, step_id: str) -> None: ...

    async def get_favorite_steps(self, user_id: str) -> list[Any]:
        return []

    async def build_debug_url(self) -> str:
        return ""

    async def close(self) -> None:
        """Leave the knowledge base open: it belongs to the service, which closes it."""

    async def _load_own(self, thread_id: str) -> Thread:
        """Load a conversation of one's own, without its turns.

        Raises:
            NotFound
        """
        if not is_thread_id(thread_id):
            raise NotFound(translate("There is no such conversation."))
        return await get_own_thread(self.kb, await get_current_principal(self.kb), thread_id)

    def _head(self, thread: Thread) -> dict[str, Any]:
        """Build a conversation without its messages. The window sorts by `createdAt`; people look for the last used."""
        return {
            "id": thread.id,
            "createdAt": thread.updated_at,
            "name": thread.title,
            "userId": asker.get(),
            "userIdentifier": asker.get(),
            "tags": [],
            "metadata": {},
            "steps": [],
            "elements": [],
        }


def run_id(thread: str, turn: int) -> str:
    return f"{thread}.{turn}"


def answer_id(thread: str, turn: int) -> str:
    return f"{thread}.{turn}.answer"


def _build_steps(thread: Thread, result: AskResult, said: Given | None) -> list[dict[str, Any]]:
    """Build a turn as Chainlit's steps: the question, the run below it, the answer below the run."""
    base = run_id(thread.id, result.turn)
    common = {
        "threadId": thread.id,
        "createdAt": thread.created_at,
        "start": thread.created_at,
        "end": thread.updated_at,
        "metadata": {},
        "isError": False,
        "streaming": False,
    }
    question = {
        **common,
        "id": f"{base}.question",
        "type": "user_message",
        "name": asker.get(),
        "output": result.question,
    }
    run = {**common, "id": base, "parentId": question["id"], "type": "run", "name": "on_message", "output": ""}
    if said:
        thumb = 1 if said.value > 0 else 0
        run["feedback"] = {"forId": base, "id": base, "value": thumb, "comment": said.comment or None}
    answer = {
        **common,
        "id": answer_id(thread.id, result.turn),
        "parentId": base,
        "type": "assistant_message",
        "name": NAME,
        "output": view_result(result).content,
    }
    return [question, run, answer]


def _turn_in(identifier: str) -> tuple[str, int]:
    thread, _, turn = identifier.rpartition(".")
    if not thread or parse_integer(turn) < 0:
        raise NotFound(translate("This answer is no longer known. Reload the page and try again."))
    return thread, parse_integer(turn)


def _is_announcement(thread_id: str) -> bool:
    """Tell whether Chainlit is only announcing the title of the conversation that this session has just begun."""
    try:
        return bool(context.session.thread_id == thread_id)
    except ChainlitContextException:  # outside a session, somebody is renaming it
        return False
