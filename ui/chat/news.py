"""News that the window shows unasked: a term that somebody asked for has a meaning now."""

from __future__ import annotations

import asyncio
import time
from typing import Any
from weakref import WeakKeyDictionary

import chainlit as cl
from chainlit.context import local_steps
from chainlit.utils import utc_now

from argot.errors import ArgotError
from argot.languages.catalogues import translate
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.history import glossary_version
from argot.service.usecases.glossary.impact import TermNews, thread_news
from argot.ui.chat.brand import NAME
from argot.ui.rendering.chat_buttons import ASK_INSTEAD, Button
from argot.ui.rendering.safe_markdown import escape_markdown
from argot.ui.web.asker_identity import get_current_principal

CHECK_SECONDS = 3.0
"""Seconds between two checks of the glossary's version. Only after a change is every open window checked."""


class News:
    """The news of conversations: shown when a conversation is opened, and as they happen while its window is open."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._watchers: WeakKeyDictionary[Any, asyncio.Task[None]] = WeakKeyDictionary()
        self._seen: tuple[float, int] = (0.0, -1)

    async def tell(self, session: Any) -> None:
        """Show the news of this window's conversation, and watch for more.

        News of a closed window are not taken, because they are given only once.
        """
        if not is_connected(session):
            return
        self.watch(session)
        for one in await self._take_news(session.thread_id):
            await cl.Message(content=format_news(one), author=NAME, actions=[_build_ask_again(one)]).send()

    async def tell_resumed(self, session: Any, thread: Any) -> None:
        """Show the news of a conversation that is being reopened, among the `steps` that Chainlit shows."""
        self.watch(session)
        for one in await self._take_news(thread["id"]):
            message = cl.Message(content=format_news(one), author=NAME)
            message.created_at = utc_now()
            thread["steps"].append(message.to_dict())
            await _build_ask_again(one).send(for_id=message.id)

    async def _take_news(self, thread: str) -> list[TermNews]:
        principal = await get_current_principal(self.kb)
        return await thread_news(self.kb, principal, thread=thread)

    def watch(self, session: Any) -> None:
        """Watch until the window is closed. The task acts for the person who opened it, whose context it inherits."""
        watcher = self._watchers.get(session)
        if watcher is None or watcher.done():
            self._watchers[session] = asyncio.create_task(self._watch(session))

    def leave(self, session: Any) -> None:
        """Stop watching for a window that is gone: later news wait until the conversation is opened again."""
        watcher = self._watchers.pop(session, None)
        if watcher is not None:
            watcher.cancel()

    async def _watch(self, session: Any) -> None:
        local_steps.set([])  # later messages belong to no answer
        known = -1  # forces a first check, for changes between the answer and now
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            try:
                version = await self._get_version()
                if version != known:
                    known = version
                    await self.tell(session)
            except ArgotError:  # signed out, or the conversation was deleted
                return

    async def _get_version(self) -> int:
        """Return the glossary's version, which all windows share and look up at intervals."""
        at, version = self._seen
        if time.monotonic() - at > CHECK_SECONDS / 2:
            version = await glossary_version(self.kb)
            self._seen = (time.monotonic(), version)
        return version


def is_connected(session: Any) -> bool:
    """Tell whether this session's window is open and connected; Chainlit keeps sessions for longer."""
    from chainlit.server import sio

    return bool(sio.manager.is_connected(session.socket_id, "/"))


def format_news(news: TermNews) -> str:
    """Format one piece of news (as `thread_news` returns it) as Markdown."""
    meanings = "; ".join(
        f"**{escape_markdown(one.expansion)}** ({escape_markdown(one.context)})" for one in news.senses
    )
    text = "You asked about “%(term)s”. It has a meaning now: %(meanings)s."
    return translate(text, term=escape_markdown(news.term), meanings=meanings)


def _build_ask_again(news: TermNews) -> cl.Action:
    button = Button(ASK_INSTEAD, translate("Ask again"), {"question": news.question}, news.question)
    return cl.Action(name=button.action, payload=button.payload, label=button.label, tooltip=button.tooltip)
