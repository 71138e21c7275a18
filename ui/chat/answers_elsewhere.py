"""Answers that another service on the same stores is giving in conversations whose windows are connected to this one.

This happens when a window lost its connection or was reopened, and its next connection went to another service.
"""

from __future__ import annotations

from collections.abc import Sequence

import chainlit as cl

from argot.results import STOPPED_MESSAGE, AskResult
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.threads import end_elsewhere, is_answered_elsewhere
from argot.ui.chat.brand import NAME
from argot.ui.chat.data_layer import answer_id, run_id
from argot.ui.chat.shared_windows import AskedMessage, SharedTurn, Windows
from argot.ui.web.asker_identity import get_current_principal


async def follow_elsewhere(kb: KnowledgeBase, windows: Windows, thread: str, turns: Sequence[AskResult]) -> None:
    """Watch an answer that another service is giving in this conversation: show it when it is complete, and let the
    stop button of this window stop it.
    """
    # A question is stored as stopped until its answer is complete.
    if windows.list_turns(thread) or not turns or turns[-1].answer != STOPPED_MESSAGE:
        return
    principal = await get_current_principal(kb)
    if not await is_answered_elsewhere(kb, principal, thread):
        return
    last = turns[-1]
    base = run_id(thread, last.turn)
    message = cl.Message(content="", author=NAME, id=answer_id(thread, last.turn))
    turn = SharedTurn(thread, AskedMessage(f"{base}.question", last.question), base, message, begun=True)

    async def wait_for_end(stop: bool) -> None:
        await end_elsewhere(kb, principal, thread, stop=stop)

    await windows.follow(turn, wait_for_end)
