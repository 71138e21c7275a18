"""Starts and stops Argot in Slack together with the service, over HTTP or Slack's Socket Mode."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from argot.errors import InvalidSettings, MissingExtra
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.history import glossary_version
from argot.settings import Settings
from argot.slack import slack_scopes
from argot.slack.app.digests import DIGEST_SECONDS, send_digests
from argot.slack.store.slack_store import SlackStore
from argot.work.schedule import ScheduledWork, keep_doing

if TYPE_CHECKING:
    from argot.slack.app.bolt_app import Listeners
    from argot.slack.app.inbox import Inbox
    from argot.slack.app.slack_answers import Answering

logger = logging.getLogger(__name__)

RETRY_SECONDS = (1.0, 5.0, 15.0, 60.0)
"""Pauses between tries to reach Slack at the start; the last one again and again."""

NEWS_SECONDS = 5.0
"""How often the glossary is checked for changes."""


class Slack:
    """One workspace, connected."""

    def __init__(self, kb: KnowledgeBase) -> None:
        # Imported here: a service without Slack needs neither Bolt nor aiohttp.
        from argot.slack.app.bolt_app import Listeners, build_bolt_app
        from argot.slack.app.inbox import Inbox
        from argot.slack.app.slack_answers import Answering
        from argot.slack.app.slack_users import SlackPeople
        from argot.slack.app.web_api import Calls

        settings, store = kb.settings, SlackStore(kb.people.database)
        calls = Calls.from_settings(settings)
        self.settings = settings
        self.secret = settings.slack.signing_secret.get_secret_value()
        self.answering: Answering = Answering(kb, calls, SlackPeople(kb, calls, store), store)
        self.inbox: Inbox = Inbox(store, self.answering.handle, settings.slack.concurrent, kb.shared)
        self.listeners: Listeners = Listeners(self.answering, self.inbox)
        self.bolt = build_bolt_app(self.listeners, self.secret or "unused")
        self._socket: Any = None
        self._tasks: list[asyncio.Task[None]] = []
        # No version, so that it looks at the start: terms may have got a meaning while Argot was not running.
        self._told_version = -1

    async def start(self) -> None:
        import aiohttp

        from argot.slack.app.web_api import CALL_SECONDS

        kb, client = self.answering.kb, self.answering.calls.client
        # One session for all calls, made inside the running loop; the client would open a connection for each call.
        client.session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=CALL_SECONDS))
        self.inbox.start()
        self._tasks += [
            asyncio.create_task(self._introduce()),
            asyncio.create_task(keep_doing(kb, ScheduledWork("tell news in Slack", self._tell_news, NEWS_SECONDS))),
            asyncio.create_task(keep_doing(kb, ScheduledWork("digests in Slack", self._send_digests, DIGEST_SECONDS))),
        ]
        if self.settings.slack.app_token.get_secret_value():
            self._tasks.append(asyncio.create_task(self._connect()))

    async def stop(self) -> None:
        """Accept nothing more, finish work that is nearly done, and disconnect."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._socket is not None:
            with suppress(Exception):
                await self._socket.close_async()
        # After the socket is closed, so that nothing more comes in; before the session, for the last answers go out by
        # it.
        await self.inbox.stop()
        for task in self.listeners.tasks:
            task.cancel()
        await asyncio.gather(*self.listeners.tasks, return_exceptions=True)
        if self.answering.calls.client.session is not None:
            await self.answering.calls.client.session.close()

    async def _introduce(self) -> None:
        """Fetch Argot's own id, which mentions contain. Events tell it as well."""
        from argot.slack.app.web_api import SlackRefused, SlackUnreachable

        for pause in _iterate_pauses():
            try:
                identity = await self.answering.calls(self.answering.calls.client.auth_test)
                self.answering.me = str(identity.get("user_id") or "")
                self.answering.people.team = str(identity.get("team_id") or "")
                return
            except SlackUnreachable as error:
                logger.warning("Slack cannot be reached: %s", error)
            except SlackRefused as error:
                logger.error("Slack refuses the bot token: %s. See what is wrong with: argot slack check", error)
                return
            await asyncio.sleep(pause)

    async def _tell_news(self, kb: KnowledgeBase) -> None:
        """Send news to the people who asked for terms that now have a meaning, if the glossary has changed."""
        version = await glossary_version(kb)
        if version != self._told_version:
            self._told_version = version
            await self.note_news()

    async def _send_digests(self, kb: KnowledgeBase) -> None:
        """Send the digests of suggestions that are due."""
        await send_digests(self.answering)

    async def note_news(self) -> None:
        """Put the news into the inbox, which tells them later if Slack cannot be reached now."""
        from argot.slack.app.event_filter import SlackJob
        from argot.slack.app.job_contents import NewsToTell

        async for thread, news in slack_scopes.find_news(self.answering.kb):
            direct = thread.channel.startswith("D")
            public = thread.public
            key = f"n:{thread.thread}:{news.term}:{news.senses[0].id}"
            job = SlackJob(
                "news", thread.team, thread.channel, "" if public else thread.scope, thread.last_ts or thread.ts,
                thread.ts, NewsToTell.from_news(news).text, direct=direct, thread=thread.thread, threaded=True,
                ephemeral=not (public or direct),
            )  # fmt: skip
            # Its key ensures that each piece of news is sent once in a thread.
            await self.inbox.note(key, job, place=key)

    async def _connect(self) -> None:
        """Socket Mode: Slack sends over a connection that is opened from here, and reopened when it breaks.

        Each service has one: Slack sends each event over one of them.
        """
        from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler

        token = self.settings.slack.app_token.get_secret_value()
        self._socket = AsyncSocketModeHandler(self.bolt, token, logger=self.bolt.logger)
        # The handler would take the environment's proxy again, also for a Slack of this machine.
        self._socket.client.proxy = self.answering.calls.client.proxy
        for pause in _iterate_pauses():
            try:
                await self._socket.connect_async()
                return
            except Exception as error:
                # Only the kind of error: its text may contain the address with its ticket.
                logger.warning("Slack's Socket Mode cannot be reached: %s", type(error).__name__)
            await asyncio.sleep(pause)


@dataclass(slots=True)
class _Running:
    """The workspace that a knowledge base answers in."""

    slack: Slack | None = None


def find_running(kb: KnowledgeBase) -> Slack | None:
    """Return the workspace that this knowledge base answers in, if any."""
    return kb.part(_Running).slack


@asynccontextmanager
async def slack(kb: KnowledgeBase) -> AsyncIterator[Slack | None]:
    """Answer in Slack for as long as this lasts, if the settings name a workspace.

    Raises:
        InvalidSettings: they name half of one.
        MissingExtra: Bolt is not installed.
    """
    if not is_wanted(kb.settings):
        yield None
        return
    if importlib.util.find_spec("slack_bolt") is None or importlib.util.find_spec("aiohttp") is None:
        raise MissingExtra("Slack", "slack")
    made = Slack(kb)
    here = kb.part(_Running)
    here.slack = made
    await made.start()
    try:
        yield made
    finally:
        here.slack = None
        await made.stop()


def is_wanted(settings: Settings) -> bool:
    """Tell whether the settings name a workspace.

    Raises:
        InvalidSettings: they name half of one.
    """
    bot, secret, app = (
        bool(one.get_secret_value())
        for one in (settings.slack.bot_token, settings.slack.signing_secret, settings.slack.app_token)
    )
    if not bot and (secret or app):
        raise InvalidSettings("Slack needs 'slack_bot_token' too (xoxb-...). See slack/README.md, or leave all out.")
    if bot and not (secret or app):
        raise InvalidSettings(
            "Setting 'slack_bot_token' is set, but Slack cannot send events: set 'slack_app_token' (Socket Mode) or"
            " 'slack_signing_secret' (HTTP). See slack/README.md."
        )
    return bot


def _iterate_pauses() -> Any:
    yield from RETRY_SECONDS
    while True:
        yield RETRY_SECONDS[-1]
