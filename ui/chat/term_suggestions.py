"""The button "Suggest a meaning" below an answer."""

from __future__ import annotations

import chainlit as cl
from chainlit.context import context

from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.threads import thread_read
from argot.ui.chat.brand import NAME
from argot.ui.chat.streaming import report_errors
from argot.ui.rendering.suggestion_links import link_suggestions
from argot.ui.web.asker_identity import get_current_principal


class TermSuggestions:
    """The button's callback, for one knowledge base."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb

    async def offer_form(self, action: cl.Action) -> None:
        """Link the form for each term of the last question, the undefined ones first."""
        async with report_errors():
            principal = await get_current_principal(self._kb)
            read = await thread_read(self._kb, principal, thread=context.session.thread_id)
            last = read.turns[-1:]
            terms = [miss.term for turn in last for miss in turn.misses]
            terms += [term.surface for turn in last for term in turn.jargon]
            await cl.Message(content=link_suggestions(terms), author=NAME).send()
