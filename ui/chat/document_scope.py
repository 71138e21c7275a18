"""Conversations about some documents: how they are chosen, how the window shows them, and how to leave them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

import chainlit as cl
from chainlit.context import context

from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.listing import freshness
from argot.service.usecases.documents.passages import document_contents
from argot.ui.chat.answer_settings import AnswerSettingsPanel
from argot.ui.chat.brand import NAME
from argot.ui.chat.streaming import make_actions, report_errors
from argot.ui.rendering.chat_buttons import LEAVE_DOCUMENT, make_leave_button
from argot.ui.rendering.safe_markdown import escape_markdown
from argot.ui.web.asker_identity import get_current_principal

__all__ = ["LEAVE_DOCUMENT", "DocumentScope"]

_ADDRESS = re.compile(r"/library/(d[0-9a-f]{16})")
_CHOICE = re.compile(r"/library(?:/(d[0-9a-f]{16})\?|\?tag=([^&#]{1,2000})&)choose=([01])")
SHOW_SCOPE = "/library?scope"
"""The address by which the window asks what is asked now."""
MAX_CHOSEN = 50
"""Documents, and tags, that one conversation may be restricted to by choosing them."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A document (id) or a tag that somebody chose by "@" in the field, or took out again (not `taken`)."""

    document: str
    tag: str
    taken: bool


def parse_document_address(address: object) -> str:
    """Return the id of the document at an address of the library; empty if it is another address."""
    found = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
    return found[1] if found else ""


def parse_choice(address: object) -> Choice | None:
    """Parse a choice of the window; None for anything else that a page might send."""
    found = _CHOICE.fullmatch(address) if isinstance(address, str) else None
    return Choice(found[1] or "", unquote(found[2] or ""), found[3] == "1") if found else None


class DocumentScope:
    """The window's part in conversations about one document; `settings` store which document it is."""

    def __init__(self, kb: KnowledgeBase, settings: AnswerSettingsPanel) -> None:
        self.kb = kb
        self.settings = settings

    async def open(self, address: object) -> bool:
        """Follow an address of the window; return False for one that is not about documents to ask."""
        if document := parse_document_address(address):
            await self.enter(document)
        elif choice := parse_choice(address):
            await self.choose(choice)
        elif address == SHOW_SCOPE:
            await self.settings.show_scope()
        else:
            return False
        return True

    async def enter(self, document: str) -> None:
        """Restrict questions to this document (id). The window repeats the request until it is confirmed."""
        await context.emitter.send_window_message({"about": document})
        if self.settings.scope == (document,):
            return
        async with report_errors():
            found = await document_contents(self.kb, await get_current_principal(self.kb), document=document)
            await self.settings.ask_only((document,), context.session.thread_id)
            name = escape_markdown(found.document.title or found.document.name)
            text = translate("Your questions here are answered from **%(name)s** alone.", name=name)
            if fresh := freshness(found.document):
                text += " " + translate("It describes itself as: %(state)s.", state=escape_markdown(fresh))
            await cl.Message(content=text, author=NAME, actions=make_actions((make_leave_button(),), "tool")).send()

    async def choose(self, choice: Choice) -> None:
        """Ask a document or tag beside those chosen before, or no longer."""
        documents, tags = list(self.settings.scope), list(self.settings.tags)
        async with report_errors():
            if not choice.taken:
                documents = [one for one in documents if one != choice.document]
                tags = [one for one in tags if one != choice.tag]
            elif choice.document:
                principal = await get_current_principal(self.kb)
                found = await document_contents(self.kb, principal, document=choice.document)
                documents.append(found.document.id)
            else:
                tags.append(await self.settings.find_tag(choice.tag))
            wanted = [tuple(dict.fromkeys(filter(None, some)))[:MAX_CHOSEN] for some in (documents, tags)]
            await self.settings.ask_only(wanted[0], context.session.thread_id, wanted[1])

    async def leave(self, action: cl.Action) -> None:
        """Ask all documents from now on, when the button of the notice is pressed."""
        await action.remove()
        async with report_errors():
            await self.settings.ask_only((), context.session.thread_id)
            text = translate("From now on, answers come from all documents that you may read.")
            await cl.Message(content=text, author=NAME).send()
