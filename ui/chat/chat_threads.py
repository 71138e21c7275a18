"""A conversation in the window is a thread of ours, under our id."""

from __future__ import annotations

import asyncio
from typing import Any
from weakref import WeakKeyDictionary

from argot.errors import NotFound
from argot.service.knowledge_base import KnowledgeBase
from argot.ui.chat.chat_identity import current_principal

_beginning: WeakKeyDictionary[Any, asyncio.Lock] = WeakKeyDictionary()


async def ensure_thread(kb: KnowledgeBase, session: Any, question: str) -> str:
    """The thread of a session, begun with this question if there is none yet.

    Chainlit makes up an id for every page that is opened. A thread of ours begins with the first question; from then
    on the session carries our id. Chainlit announces a first message and handles it at the same time: one of the two
    makes the thread.
    """
    principal = await current_principal(kb)
    threads = await kb.threads()
    async with _beginning.setdefault(session, asyncio.Lock()):
        try:
            await threads.own(principal.name, session.thread_id)
        except NotFound:
            title = question.encode("utf-8", "replace").decode("utf-8")
            session.thread_id = (await threads.start(principal.name, title)).id
    return str(session.thread_id)
