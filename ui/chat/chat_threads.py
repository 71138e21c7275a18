"""A conversation in the window is a thread of Argot, under Argot's id."""

from __future__ import annotations

import asyncio
from typing import Any

from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.threads import begin_thread
from argot.ui.web.asker_identity import get_current_principal


async def ensure_thread(kb: KnowledgeBase, session: Any, question: str) -> str:
    """Return the id of a session's thread, and begin the thread with this question if there is none yet.

    Chainlit makes up an id for every page that is opened. An Argot thread begins with the first question; from then on
    the session carries its id.
    """
    principal = await get_current_principal(kb)
    # Chainlit announces a first message (`update_thread`) and handles it at the same time: only one begins the thread.
    async with vars(session).setdefault("argot_beginning", asyncio.Lock()):
        session.thread_id = await begin_thread(kb, principal, session.thread_id, question)
    return str(session.thread_id)
