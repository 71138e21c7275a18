"""The first screen of a conversation: questions to begin with, or what to do where there are no documents yet."""

from __future__ import annotations

from typing import Any

import chainlit as cl

from argot.languages.catalogues import join_with_or, translate
from argot.results import ASK_FOR_DOCUMENTS
from argot.service.knowledge_base import KnowledgeBase
from argot.service.operations.sample_base import BASE_URI
from argot.service.usecases.documents.documents import list_documents
from argot.service.usecases.documents.listing import DocumentFilter, document_find
from argot.service.usecases.glossary.contexts import context_list
from argot.types import Principal
from argot.ui.chat.brand import NAME
from argot.ui.rendering.safe_markdown import escape_markdown
from argot.ui.web.asker_identity import get_current_principal

SAMPLE_QUESTIONS = (
    "What's the PUC height limit on the x4 die?",
    "How tall may a pole on our land be according to the PUC?",
    "What do I do when a tilt sticker on a delivery has turned red?",
    "What is PLP?",
)
"""An abbreviation in two senses, a plain question, and one to which Argot has to ask back."""
GENERAL_QUESTIONS = (ASK_FOR_DOCUMENTS, "What can you do?")
"""Questions that every knowledge base answers, the second with examples from its documents."""
MANAGERS_HINT = (
    "There are no documents yet, and answers come only from documents. Add some under [Documents](/documents), or add a"
    " folder or a web site under [Sources](/documents/sources). You can also put a file into this conversation."
)
ASKERS_HINT = (
    "There are no documents yet that you may read, and answers come only from documents. Please ask %(whom)s to add"
    " some. You can put a file of your own into this conversation and ask about that."
)
MAX_CONTACTS = 5


class FirstScreen:
    """The first screen of the conversations of one knowledge base."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb

    async def list_starters(self, user: Any, language: Any) -> list[cl.Starter]:
        """List questions to begin with: about the samples, or else general ones; none where there are no documents."""
        documents = await list_documents(self.kb, await get_current_principal(self.kb))
        general = [translate(question) for question in GENERAL_QUESTIONS] if documents else []
        are_samples = any(document.uri.startswith(BASE_URI) for document in documents)
        return [cl.Starter(label=one, message=one) for one in (SAMPLE_QUESTIONS if are_samples else general)]

    async def show_hint(self) -> None:
        """Say what to do where there is no document that this person may read."""
        principal = await get_current_principal(self.kb)
        if not (await document_find(self.kb, principal, wanted=DocumentFilter(), limit=1)).total:
            text = (
                translate(MANAGERS_HINT)
                if principal.manages_all
                else translate(ASKERS_HINT, whom=await self._name_contacts(principal))
            )
            await cl.Message(content=text, author=NAME).send()

    async def _name_contacts(self, principal: Principal) -> str:
        """Name the contacts of the contexts."""
        found = dict.fromkeys(one.contact for one in await context_list(self.kb, principal) if one.contact)
        names = list(map(escape_markdown, list(found)[:MAX_CONTACTS]))
        return join_with_or(names) if names else translate("your administrator")
