"""The Bolt application: leads what Slack sends to the inbox or to a button, and acknowledges it.

An event is acknowledged when it is on the disk: after a listener that failed Slack sends it again. What takes longer,
or needs Slack itself, happens afterwards.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Coroutine, Mapping
from typing import Any

from slack_bolt import BoltResponse
from slack_bolt.async_app import AsyncApp, AsyncAssistant
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.assistant.thread_context import AssistantThreadContext
from slack_bolt.context.assistant.thread_context_store.async_store import AsyncAssistantThreadContextStore

from argot.errors import asked_from_elsewhere
from argot.service.observability.instrumentation import surface
from argot.service.usecases.senses import glossary_list
from argot.slack.app.block_kit import AGAIN, ALONE, CHOOSE, FEEDBACK, MEANT, PERSON, SHARE
from argot.slack.app.buttons import Buttons
from argot.slack.app.event_filter import deleted, job_of, team_of, viewed
from argot.slack.app.inbox import Inbox
from argot.slack.app.modals import OTHER, REASON, TERM
from argot.slack.app.slack_answers import Answering

logger = logging.getLogger(__name__)

ADD_TERM = "argot_add_term"
"""The `callback_id` of the shortcut in a message's menu, as in the manifest."""
GREETING = "What would you like to know from your organisation's documents?"
MOST_PROMPTS = 4
_ANY = re.compile(".*", re.DOTALL)


class AssistantViews(AsyncAssistantThreadContextStore):
    """Stores which channel somebody looks at beside an assistant's pane; Bolt would store it in messages."""

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox

    async def save(self, *, channel_id: str, thread_ts: str, context: dict[str, str]) -> None:
        await self.inbox.read(
            self.inbox.store.keep_view, channel_id, thread_ts, str((context or {}).get("channel_id") or "")
        )

    async def find(self, *, channel_id: str, thread_ts: str) -> AssistantThreadContext | None:
        viewed = await self.inbox.read(self.inbox.store.view, channel_id, thread_ts)
        return AssistantThreadContext({"channel_id": viewed}) if viewed else None


class Listeners:
    """What Bolt calls. Work given to `soon` runs in the background; its errors are logged."""

    def __init__(self, answering: Answering, inbox: Inbox) -> None:
        self.answering = answering
        self.inbox = inbox
        self.buttons = Buttons(answering, inbox, self.soon)
        self.views = AssistantViews(inbox)
        self.tasks: set[asyncio.Task[None]] = set()

    def soon(self, work: Coroutine[Any, Any, Any]) -> None:
        async def guarded() -> None:
            # Set here: over HTTP and in Socket Mode the task inherits different contexts.
            surface.set("slack")
            asked_from_elsewhere.set(True)
            try:
                await work
            except Exception:
                logger.exception("something that was to be done in Slack was not done")

        task = asyncio.create_task(guarded())
        # The event loop holds tasks weakly: without this one could be collected before it is done.
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def message(self, ack: Any, body: Any) -> None:
        """A message, a mention (often both are sent for one message), or the news that a message was deleted."""
        # A question that was taken back before its turn came is not answered.
        if place := deleted(body):
            await self.inbox.read(self.inbox.store.withdraw, place)
        event: Mapping[str, Any] = body.get("event") or {}
        channel = await self.inbox.read(self.inbox.store.channel, str(event.get("channel") or ""))
        job = job_of(body, self.answering.me, channel, self.answering.people.team)
        if job is not None:
            # By its place as well: a mention arrives twice, as `message` and as `app_mention`, under two event ids.
            await self.inbox.note(str(body.get("event_id") or job.place), job)
        await ack()

    async def opened(self, ack: Any, body: Any) -> None:
        """Somebody opened the conversation with us."""
        event = body["event"]
        channel = str(event.get("channel") or "")
        if event.get("tab") == "messages" and channel:
            await self._looks_at(channel, event)
            self.soon(self._suggest(team_of(body), str(event.get("user") or ""), channel))
        await ack()

    async def looked_elsewhere(self, ack: Any, body: Any) -> None:
        """Somebody went to another channel, with our conversation beside it."""
        await self._looks_at(str(body["event"].get("channel") or ""), body["event"])
        await ack()

    async def pane_opened(self, ack: Any, body: Any) -> None:
        """Somebody opened the assistant's pane, as apps of before July 2026 may still have it."""
        thread = body["event"].get("assistant_thread") or {}
        channel, ts = str(thread.get("channel_id") or ""), str(thread.get("thread_ts") or "")
        await self.views.save(channel_id=channel, thread_ts=ts, context=thread.get("context") or {})
        # Sent again it would greet twice: this posts a message, where `opened` only sets suggestions.
        if await self.inbox.first(f"p:{channel}:{ts}"):
            self.soon(self._suggest(team_of(body), str(thread.get("user_id") or ""), channel, ts))
        await ack()

    async def asks(self, ack: Any, body: Any) -> None:
        new = await self.buttons.asks(body)
        chosen = str(body["actions"][0].get("action_id", "")).startswith((CHOOSE, AGAIN))
        # A message for one person alone cannot be changed afterwards.
        if new and chosen and not (body.get("container") or {}).get("is_ephemeral"):
            self.soon(self.buttons.take_choices_away(body))
        await ack()

    async def thumb(self, ack: Any, body: Any) -> None:
        self.soon(self.buttons.thumb(body))
        await ack()

    async def person(self, ack: Any, body: Any) -> None:
        self.soon(self.buttons.person(body))
        await ack()

    async def share(self, ack: Any, body: Any) -> None:
        self.soon(self.buttons.share(body))
        await ack()

    async def reason(self, ack: Any, body: Any) -> None:
        self.soon(self.buttons.reason(body))
        await ack()

    async def meant(self, ack: Any, body: Any) -> None:
        self.soon(self.buttons.meant(body))
        await ack()

    async def meant_sent(self, ack: Any, body: Any) -> None:
        await self.buttons.meant_sent(body)
        await ack()

    async def term(self, ack: Any, body: Any) -> None:
        self.soon(self.buttons.term(body))
        await ack()

    async def term_sent(self, ack: Any, body: Any) -> None:
        await ack(**await self.buttons.term_sent(body))

    async def nothing(self, ack: Any) -> None:
        """Acknowledge what is not for us."""
        await ack()

    async def _looks_at(self, channel: str, event: Mapping[str, Any]) -> None:
        if channel and "context" in event:
            await self.inbox.read(self.inbox.store.keep_view, channel, "", viewed(event["context"]))

    async def _suggest(self, team: str, user: str, channel: str, ts: str = "") -> None:
        """Questions to begin with: of the terms this person may know. `ts`: the thread of an assistant's pane."""
        answering = self.answering
        scope = await answering.people.own_scope(team, user)
        # Five for each prompt: several senses may be of one term.
        senses = await glossary_list(answering.kb, scope.principal, status="approved", limit=MOST_PROMPTS * 5)
        terms = list(dict.fromkeys(one.term for one in senses))[:MOST_PROMPTS]
        prompts = [{"title": f"What is {term}?"[:75], "message": f"What is {term}?"} for term in terms]
        client = answering.calls.client
        if ts:
            await answering.calls.best_effort(client.chat_postMessage, channel=channel, thread_ts=ts, text=GREETING)
        if prompts:
            where: dict[str, Any] = {"channel_id": channel, "title": GREETING} | ({"thread_ts": ts} if ts else {})
            await answering.calls.best_effort(client.assistant_threads_setSuggestedPrompts, **where, prompts=prompts)


def bolt_app(listeners: Listeners, signing_secret: str) -> AsyncApp:
    """The Bolt application, which acknowledges without any call to Slack."""
    answering = listeners.answering
    token = answering.calls.client.token

    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None, team_id=None, bot_token=token, bot_user_id=answering.me or None
        )  # fmt: skip

    quiet = _quiet_logger()
    app = AsyncApp(
        name=quiet.name,  # Bolt gives the logger of this name the level of the other
        logger=quiet,
        signing_secret=signing_secret,
        client=answering.calls.client,
        authorize=authorize,
        process_before_response=True,  # acknowledged when the listener is through
        ssl_check_enabled=False,  # it answers whoever asks, signed or not
    )

    @app.error
    async def failed(error: Exception) -> BoltResponse:
        logger.error("what Slack sent could not be taken: %s", type(error).__name__, exc_info=error)
        return BoltResponse(status=500, body="")

    _connect(app, listeners)
    return app


def _connect(app: AsyncApp, listeners: Listeners) -> None:
    """Register the listeners, and for everything else that is sent one that does nothing."""
    assistant = AsyncAssistant(thread_context_store=listeners.views)
    assistant.thread_started(listeners.pane_opened)
    assistant.user_message(listeners.message)
    app.assistant(assistant)
    app.event("app_home_opened")(listeners.opened)
    app.event("app_context_changed")(listeners.looked_elsewhere)
    app.event("app_mention")(listeners.message)
    app.event("message")(listeners.message)
    for prefix in (CHOOSE, AGAIN, ALONE):
        app.action(re.compile(rf"{prefix}(?:_\d+)?\Z"))(listeners.asks)
    app.action(re.compile(rf"{FEEDBACK}(?:_\d+)?\Z"))(listeners.thumb)
    app.action(PERSON)(listeners.person)
    app.action(SHARE)(listeners.share)
    app.action(MEANT)(listeners.meant)
    app.view(OTHER)(listeners.meant_sent)
    app.view(REASON)(listeners.reason)
    app.view(TERM)(listeners.term_sent)
    app.shortcut(ADD_TERM)(listeners.term)
    # Last, because Bolt takes the first that fits. What fits none it answers with 404, which Slack counts as a
    # failure.
    for whatever in (app.event, app.action, app.view, app.shortcut, app.command, app.options):
        whatever(_ANY)(listeners.nothing)


def _quiet_logger() -> logging.Logger:
    # Below this level Bolt logs whole messages, with what people ask.
    quiet = logging.getLogger("argot.slack_bolt")
    quiet.setLevel(logging.ERROR)
    return quiet
