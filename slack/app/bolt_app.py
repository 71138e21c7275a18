"""The Bolt application: passes Slack's requests to the inbox or to a button handler, and acknowledges them.

An event is acknowledged when it is on the disk: after a listener that failed Slack sends it again. Slower work, or work
that needs Slack itself, happens afterwards.
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
from argot.languages.catalogues import speak, translate
from argot.service.observability.instrumentation import surface
from argot.service.usecases.glossary.senses import glossary_list
from argot.slack.app.block_kit import AGAIN, ALONE, CHOOSE, FEEDBACK, MEANT, PERSON, SHARE, SUGGEST
from argot.slack.app.buttons import Buttons
from argot.slack.app.event_filter import find_deleted_place, find_team, find_viewed_channel, read_job
from argot.slack.app.inbox import Inbox
from argot.slack.app.interactions import read_user
from argot.slack.app.modals import OTHER, REASON, TERM
from argot.slack.app.slack_answers import Answering
from argot.slack.app.term_command import COMMAND, answer_term

logger = logging.getLogger(__name__)

ADD_TERM = "argot_add_term"
"""The `callback_id` of the shortcut in a message's menu, as in the manifest."""
GREETING = "What would you like to know from your organisation's documents?"
MAX_PROMPTS = 4
_ANY = re.compile(".*", re.DOTALL)


class AssistantViews(AsyncAssistantThreadContextStore):
    """The store of the channel that somebody views beside an assistant's pane; Bolt would store it in messages."""

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox

    async def save(self, *, channel_id: str, thread_ts: str, context: dict[str, str]) -> None:
        await self.inbox.call(
            self.inbox.store.keep_view, channel_id, thread_ts, str((context or {}).get("channel_id") or "")
        )

    async def find(self, *, channel_id: str, thread_ts: str) -> AssistantThreadContext | None:
        viewed = await self.inbox.call(self.inbox.store.view, channel_id, thread_ts)
        return AssistantThreadContext({"channel_id": viewed}) if viewed else None


class Listeners:
    """The functions that Bolt calls. Work given to `start_soon` runs in the background; its errors are logged."""

    def __init__(self, answering: Answering, inbox: Inbox) -> None:
        self.answering = answering
        self.inbox = inbox
        self.buttons = Buttons(answering, inbox, self.start_soon)
        self.views = AssistantViews(inbox)
        self.tasks: set[asyncio.Task[None]] = set()

    def start_soon(self, work: Coroutine[Any, Any, Any], user: str = "") -> None:
        """Start work in the background. `user`: the person who reads its messages, in their language in Slack."""

        async def run_guarded() -> None:
            # Set here: over HTTP and in Socket Mode the task inherits different contexts.
            surface.set("slack")
            asked_from_elsewhere.set(True)
            try:
                with speak(await self._find_language(user)):
                    await work
            except Exception:
                logger.exception("something that was to be done in Slack was not done")

        task = asyncio.create_task(run_guarded())
        # The event loop holds tasks weakly: without this reference one could be collected before it is done.
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def take_message(self, ack: Any, body: Any) -> None:
        """Take a message, a mention (Slack often sends both for one message), or the deletion of a message."""
        # A question that was taken back before its turn came is not answered.
        if place := find_deleted_place(body):
            await self.inbox.call(self.inbox.store.withdraw, place)
        event: Mapping[str, Any] = body.get("event") or {}
        channel = await self.inbox.call(self.inbox.store.get_channel, str(event.get("channel") or ""))
        job = read_job(body, self.answering.me, channel, self.answering.people.team)
        if job is not None:
            # By its message as well: a mention arrives twice, as `message` and as `app_mention`, under two event ids.
            await self.inbox.note(str(body.get("event_id") or job.place), job)
        await ack()

    async def suggest_when_opened(self, ack: Any, body: Any) -> None:
        """Suggest questions to a person who opened the conversation with Argot."""
        event = body["event"]
        channel = str(event.get("channel") or "")
        if event.get("tab") == "messages" and channel:
            await self._keep_view(channel, event)
            user = str(event.get("user") or "")
            self.start_soon(self._suggest(find_team(body), user, channel), user)
        await ack()

    async def follow_view(self, ack: Any, body: Any) -> None:
        """Note the channel that a person went to with the conversation beside it."""
        await self._keep_view(str(body["event"].get("channel") or ""), body["event"])
        await ack()

    async def greet_in_pane(self, ack: Any, body: Any) -> None:
        """Suggest questions in the assistant's pane, which apps from before July 2026 may still have."""
        thread = body["event"].get("assistant_thread") or {}
        channel, ts = str(thread.get("channel_id") or ""), str(thread.get("thread_ts") or "")
        await self.views.save(channel_id=channel, thread_ts=ts, context=thread.get("context") or {})
        # Sent again it would greet twice: this posts a message, where `opened` only sets suggestions.
        if await self.inbox.is_new(f"p:{channel}:{ts}"):
            user = str(thread.get("user_id") or "")
            self.start_soon(self._suggest(find_team(body), user, channel, ts), user)
        await ack()

    async def note_request(self, ack: Any, body: Any) -> None:
        new = await self.buttons.note_request(body)
        chosen = str(body["actions"][0].get("action_id", "")).startswith((CHOOSE, AGAIN))
        # A message for one person alone cannot be changed afterwards.
        if new and chosen and not (body.get("container") or {}).get("is_ephemeral"):
            self.start_soon(self.buttons.take_choices_away(body))
        await ack()

    async def keep_thumb(self, ack: Any, body: Any) -> None:
        self.start_soon(self.buttons.keep_thumb(body), read_user(body))
        await ack()

    async def call_contact(self, ack: Any, body: Any) -> None:
        self.start_soon(self.buttons.call_contact(body), read_user(body))
        await ack()

    async def share_questions(self, ack: Any, body: Any) -> None:
        self.start_soon(self.buttons.share_questions(body), read_user(body))
        await ack()

    async def keep_reason(self, ack: Any, body: Any) -> None:
        self.start_soon(self.buttons.keep_reason(body), read_user(body))
        await ack()

    async def open_sense_form(self, ack: Any, body: Any) -> None:
        self.start_soon(self.buttons.open_sense_form(body), read_user(body))
        await ack()

    async def take_sense(self, ack: Any, body: Any) -> None:
        with speak(await self._find_language(read_user(body))):
            await self.buttons.take_sense(body)
        await ack()

    async def open_term_form(self, ack: Any, body: Any) -> None:
        self.start_soon(self.buttons.open_term_form(body), read_user(body))
        await ack()

    async def add_term(self, ack: Any, body: Any) -> None:
        with speak(await self._find_language(read_user(body))):
            await ack(**await self.buttons.add_term(body))

    async def look_up_term(self, ack: Any, body: Any) -> None:
        await ack(**await answer_term(self.answering, body))

    async def ignore(self, ack: Any) -> None:
        """Acknowledge irrelevant events."""
        await ack()

    async def _keep_view(self, channel: str, event: Mapping[str, Any]) -> None:
        if channel and "context" in event:
            await self.inbox.call(self.inbox.store.keep_view, channel, "", find_viewed_channel(event["context"]))

    async def _find_language(self, user: str) -> str:
        return (await self.answering.people.find_person(user)).language if user else ""

    async def _suggest(self, team: str, user: str, channel: str, ts: str = "") -> None:
        """Suggest questions about terms that this person may know. `ts`: the thread of an assistant's pane."""
        answering = self.answering
        scope = await answering.people.own_scope(team, user)
        # Five for each prompt: several senses may be of one term.
        senses = await glossary_list(answering.kb, scope.principal, status="approved", limit=MAX_PROMPTS * 5)
        terms = list(dict.fromkeys(one.term for one in senses))[:MAX_PROMPTS]
        asked = [translate("What is %(term)s?", term=term) for term in terms]
        prompts = [{"title": one[:75], "message": one} for one in asked]
        greeting = translate(GREETING)
        client = answering.calls.client
        if ts:
            await answering.calls.try_call(client.chat_postMessage, channel=channel, thread_ts=ts, text=greeting)
        if prompts:
            where: dict[str, Any] = {"channel_id": channel, "title": greeting} | ({"thread_ts": ts} if ts else {})
            await answering.calls.try_call(client.assistant_threads_setSuggestedPrompts, **where, prompts=prompts)


def build_bolt_app(listeners: Listeners, signing_secret: str) -> AsyncApp:
    """Build the Bolt application, which acknowledges without any call to Slack."""
    answering = listeners.answering
    token = answering.calls.client.token

    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None, team_id=None, bot_token=token, bot_user_id=answering.me or None
        )  # fmt: skip

    quiet = _get_quiet_logger()
    app = AsyncApp(
        name=quiet.name,  # Bolt gives the logger of this name the level of the other
        logger=quiet,
        signing_secret=signing_secret,
        client=answering.calls.client,
        authorize=authorize,
        process_before_response=True,  # acknowledged when the listener is through
        ssl_check_enabled=False,  # it answers every request, signed or not
    )

    @app.error
    async def refuse_request(error: Exception) -> BoltResponse:
        logger.error("what Slack sent could not be taken: %s", type(error).__name__, exc_info=error)
        return BoltResponse(status=500, body="")

    _connect(app, listeners)
    return app


def _connect(app: AsyncApp, listeners: Listeners) -> None:
    """Register the listeners, and for everything else that is sent one that does nothing."""
    assistant = AsyncAssistant(thread_context_store=listeners.views)
    assistant.thread_started(listeners.greet_in_pane)
    assistant.user_message(listeners.take_message)
    app.assistant(assistant)
    app.event("app_home_opened")(listeners.suggest_when_opened)
    app.event("app_context_changed")(listeners.follow_view)
    app.event("app_mention")(listeners.take_message)
    app.event("message")(listeners.take_message)
    for prefix in (CHOOSE, AGAIN, ALONE):
        app.action(re.compile(rf"{prefix}(?:_\d+)?\Z"))(listeners.note_request)
    app.action(re.compile(rf"{FEEDBACK}(?:_\d+)?\Z"))(listeners.keep_thumb)
    app.action(PERSON)(listeners.call_contact)
    app.action(SHARE)(listeners.share_questions)
    app.action(MEANT)(listeners.open_sense_form)
    app.action(SUGGEST)(listeners.open_term_form)
    app.view(OTHER)(listeners.take_sense)
    app.view(REASON)(listeners.keep_reason)
    app.view(TERM)(listeners.add_term)
    app.shortcut(ADD_TERM)(listeners.open_term_form)
    app.command(COMMAND)(listeners.look_up_term)
    # Last, because Bolt takes the first that fits. Unmatched requests get 404, which Slack counts as a failure.
    for whatever in (app.event, app.action, app.view, app.shortcut, app.command, app.options):
        whatever(_ANY)(listeners.ignore)


def _get_quiet_logger() -> logging.Logger:
    # Below this level Bolt logs whole messages, with people's questions.
    quiet = logging.getLogger("argot.slack_bolt")
    quiet.setLevel(logging.ERROR)
    return quiet
