"""Conversations about one document: how one begins, how the window shows it, and how to leave it."""

from __future__ import annotations

import re

import chainlit as cl
from chainlit.context import context

from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.listing import freshness
from argot.service.usecases.documents.passages import document_contents
from argot.ui.chat.answer_settings import AnswerSettingsPanel
from argot.ui.chat.brand import NAME
from argot.ui.chat.streaming import make_actions, offer, report_errors
from argot.ui.rendering.chat_markdown import LEAVE_DOCUMENT, make_leave_button
from argot.ui.rendering.safe_markdown import escape_markdown
from argot.ui.web.asker_identity import get_current_principal

__all__ = ["LEAVE_DOCUMENT", "DocumentScope", "parse_document_address"]

_ADDRESS = re.compile(r"/library/(d[0-9a-f]{16})")


def parse_document_address(address: object) -> str:
    """Return the id of the document at an address of the library; empty if it is another address."""
    found = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
    return found[1] if found else ""


class DocumentScope:
    """The window's part in conversations about one document; `settings` store which document it is."""

    def __init__(self, kb: KnowledgeBase, settings: AnswerSettingsPanel) -> None:
        self.kb = kb
        self.settings = settings

    async def enter(self, document: str) -> None:
        """Restrict questions to this document (id). The window repeats the request until it is confirmed."""
        await context.emitter.send_window_message({"about": document})
        if self.settings.scope == (document,):
            return
        async with report_errors():
            found = await document_contents(self.kb, await get_current_principal(self.kb), document=document)
            await self.settings.ask_only((document,), context.session.thread_id)
            name = escape_markdown(found.document.title or found.document.name)
            text = f"Your questions here are answered from **{name}** alone."
            if fresh := freshness(found.document):
                text += f" It describes itself as: {escape_markdown(fresh)}."
            await cl.Message(content=text, author=NAME, actions=make_actions((make_leave_button(),), "tool")).send()

    async def leave(self, action: cl.Action) -> None:
        """Ask all documents from now on, when the button is pressed."""
        await action.remove()
        async with report_errors():
            await self.settings.ask_only((), context.session.thread_id)
            await cl.Message(
                content="From now on, answers come from all documents that you may read.", author=NAME
            ).send()

    async def offer_leaving(self, answer: str) -> None:
        """Offer below an answer (its id) to leave the one document."""
        if self.settings.scope:
            await offer(make_actions((make_leave_button(),), "next"), answer)
