"""Saving and sharing of a conversation: as a file, by a link, with the managers, and as a verified answer."""

from __future__ import annotations

import chainlit as cl
from chainlit.context import context

from argot.languages.catalogues import translate
from argot.results import AskResult
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.impact import thread_share
from argot.service.usecases.questions.shared_conversations import thread_link_add, thread_link_withdraw
from argot.types import Principal
from argot.ui.chat.brand import NAME
from argot.ui.chat.streaming import make_actions, report_errors
from argot.ui.rendering.chat_buttons import make_answer_buttons
from argot.ui.rendering.chat_markdown import export_text, view_link
from argot.ui.rendering.verified_links import link_verification
from argot.ui.web.asker_identity import get_current_principal


class Sharing:
    """The window's part in saving and sharing the conversations of a knowledge base."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb

    def make_buttons(self, principal: Principal, result: AskResult) -> list[cl.Action]:
        """Make the buttons for the last answer."""
        verifiable = result.turn if principal.is_manager and result.status == "answered" else None
        may_share = self.kb.settings.web.share_conversations
        return make_actions(make_answer_buttons(may_share=may_share, verifiable=verifiable), "tool")

    async def offer_verification(self, action: cl.Action) -> None:
        """Link the form in which a manager verifies the answer whose button was pressed."""
        turn = action.payload.get("turn")
        await _say(link_verification(context.session.thread_id, turn if isinstance(turn, int) else 0))

    async def export(self, action: cl.Action) -> None:
        """Offer the conversation as a file: Markdown to read, JSON with everything."""
        await _say(export_text(context.session.thread_id))

    async def tell_managers(self, action: cl.Action) -> None:
        """Let managers read the questions of this conversation that met unknown terms."""
        await action.remove()
        async with report_errors():
            await thread_share(self.kb, await get_current_principal(self.kb), thread=context.session.thread_id)
            await _say(translate("The glossary's managers can now read your question."))

    async def make_link(self, action: cl.Action) -> None:
        """Make a link to this conversation, and show it: it cannot be shown again."""
        async with report_errors():
            principal = await get_current_principal(self.kb)
            shown = view_link(await thread_link_add(self.kb, principal, thread=context.session.thread_id))
            await cl.Message(content=shown.content, author=NAME, actions=make_actions(shown.buttons, "tool")).send()

    async def withdraw(self, action: cl.Action) -> None:
        """Withdraw the link whose button was pressed."""
        await action.remove()
        async with report_errors():
            link = str(action.payload.get("link", ""))
            await thread_link_withdraw(self.kb, await get_current_principal(self.kb), link=link)
            await _say(translate("Withdrawn. Nobody reads this conversation by that link any more."))


async def _say(text: str) -> None:
    await cl.Message(content=text, author=NAME).send()
