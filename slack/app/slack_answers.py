"""The answer to a stored event: its principal, its conversation, its audience."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from argot.errors import ArgotError, NotAllowed, NotFound, RetryLater, ServiceStopping
from argot.languages.catalogues import speak, speak_as_asked, translate
from argot.results import AskEvent, AskResult
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.questions.questions import answer, ask, ask_in_sense
from argot.service.usecases.questions.threads import AnswerSettings, thread_read
from argot.slack import slack_scopes
from argot.slack.app.block_kit import Message, MessageContext, render_messages, render_news, render_notice
from argot.slack.app.channel_history import fetch_thread_messages
from argot.slack.app.event_filter import HUMAN, SlackJob
from argot.slack.app.inbox import load_job
from argot.slack.app.job_contents import NewsToTell, SenseChosen
from argot.slack.app.mrkdwn import plain, read_question
from argot.slack.app.posting import Posting, add_metadata, find_posted_parts
from argot.slack.app.slack_users import SlackPeople
from argot.slack.app.status import show_status, show_title, show_working
from argot.slack.app.stream import Stream, Streaming, delete_stream, replace_stream
from argot.slack.app.web_api import Calls, SlackUnreachable
from argot.slack.slack_scopes import Scope
from argot.slack.store.slack_store import NotedEvent, SlackStore
from argot.types import Effort
from argot.ui.rendering.chat_markdown import label_stage
from argot.ui.translation.page_errors import translate_error

logger = logging.getLogger(__name__)

HELP = (
    "Ask me about your organisation's documents, shorthand and all. In a channel mention me with your question; here"
    " and in a direct message just write it."
)
FAILED = "Something went wrong while answering. The service's log has the details. Please ask again."
NOT_YOURS = "This is part of somebody else's conversation. Ask your own question, and I answer you."
GONE = "This conversation is not there any more. Ask your question again."
HEARD = 6
"""Messages of others before a question, at most, that it may refer to."""
MAX_HEARD_CHARS = 500
STATUS_SECONDS = 1.0


_EFFORT = re.compile(r"\s*(?P<effort>quick|thorough)\s*:\s*(?=\S)", re.IGNORECASE)


def split_effort(text: str) -> tuple[str, Effort | None]:
    """Return a message without "quick:" or "thorough:" in front, and the effort that this word asks for."""
    found = _EFFORT.match(text)
    if found is None:
        return text, None
    return text[found.end() :], "quick" if found["effort"].lower() == "quick" else "thorough"


class Answering:
    """Deals with the events of one workspace."""

    def __init__(self, kb: KnowledgeBase, calls: Calls, people: SlackPeople, store: SlackStore) -> None:
        self.kb = kb
        self.store = store
        self.calls = calls
        self.people = people
        self.streaming = Streaming()
        self.posting = Posting(calls)
        self.me = ""
        """Our own Slack id, once it is known."""

    @property
    def web(self) -> str:
        return self.kb.settings.web.public_url.rstrip("/")

    async def handle(self, noted: NotedEvent) -> None:
        """Answer an event, or continue it where it was interrupted.

        Raises:
            SlackUnreachable: it has to be tried again.
        """
        job, _ = load_job(noted)
        async with show_working(self.calls, job, self.kb.settings.slack.reaction) as job:
            stream = Stream(self.calls, job, self.streaming, lambda ts: self._keep_stream(noted, ts))
            answer = noted.answer
            if answer is None:
                if noted.stream:  # the beginning of an answer that was cut off
                    await delete_stream(self.calls, job.channel, noted.stream)
                answer = await self._answer(job, stream)
                if not await self.kb.blocking(self.store.is_open, noted.id):  # the question was deleted
                    await stream.take_away()
                    return
                # Kept before it is shown: after a crash the same answer is posted, and no model asked again.
                await self.kb.blocking(self.store.keep_answer, noted.id, answer)
                shown = bool(answer) and await stream.finish(add_metadata(answer[0], job, 0))
            else:
                shown = await self._finish_stream(noted, job, answer)
            if shown:
                await self.kb.blocking(self.store.keep_sent, noted.id, 1)
            await self._deliver(noted, job, answer, max(noted.sent, int(shown)))

    # -- asking --------------------------------------------------------------------------------------------------------

    async def find_scope(self, job: SlackJob) -> Scope:
        """Find the scope of a job. For a button: the conversation's, if this person may continue it.

        Raises:
            NotAllowed: suspended, or somebody else's.
            NotFound: the conversation is gone.
        """
        own = await self.people.own_scope(job.team, job.user)
        public = not (job.direct or job.ephemeral)
        if job.thread:
            kept = await self.kb.blocking(self.store.find_thread_by_id, job.thread)
            if kept is None:
                raise NotFound(GONE)
            public = kept.public
            if not public and kept.scope != own.key:
                raise NotAllowed(NOT_YOURS)
        if not public:
            return own
        channel = await self.kb.blocking(self.store.get_channel, job.channel)
        return slack_scopes.build_public_scope(job.team, channel, outsiders=job.outsiders)

    async def _answer(self, job: SlackJob, stream: Stream) -> list[Message]:
        """Return the messages to post. An error is reported in a sentence: to the person who pressed a button, or where
        the question was asked.

        An answer that rests on one person's rights is shown to nobody else, whatever happens.
        """
        # An error after a press is shown to the person who pressed; the others see an unchanged message.
        only = {"only": job.user} if job.kind != "message" or job.ephemeral else {}
        try:
            if job.kind == "news":
                return [self._restrict_message(render_news(NewsToTell.from_text(job.text), job.thread), job)]
            scope = await self.find_scope(job)
            if job.kind == "alone":
                stream.open = False
                return await self._answer_alone(job, scope, stream)
            if not scope.public and not job.direct:
                # A private conversation's button in a channel: its answer is for this person, and a stream is seen by
                # all.
                job, stream.open = replace(job, ephemeral=True), False
            return await self._ask(job, scope, stream)
        # Retried at the next start, and not reported as an error.
        except ServiceStopping as error:
            raise SlackUnreachable(str(error)) from error
        except ArgotError as error:
            if isinstance(error, NotAllowed | RetryLater):  # about the asker, and only for them
                only = {"only": job.user}
            with speak_as_asked(job.text):
                return [{**render_notice(plain(translate_error(error))), **only}]
        except SlackUnreachable:
            raise
        except Exception:
            logger.exception("a question from Slack could not be answered")
            with speak_as_asked(job.text):
                return [{**render_notice(translate(FAILED)), **only}]

    async def _answer_alone(self, job: SlackJob, public: Scope, stream: Stream) -> list[Message]:
        """Answer the question of a channel's conversation again, for one person, from all that this person may read."""
        found = await thread_read(self.kb, public.principal, thread=job.thread)
        turn = next((one for one in found.turns if one.turn == job.turn), None)
        if turn is None:
            raise NotFound("This question is not there any more. Ask it again.")
        own = await self.people.own_scope(job.team, job.user)
        fresh = SlackJob(
            "message", job.team, job.channel, job.user, job.ts, job.thread_ts, ephemeral=True, threaded=job.threaded,
            text=turn.stand_alone_question or turn.question,
        )  # fmt: skip
        return await self._ask(fresh, own, stream, turn.effort)

    async def _ask(self, job: SlackJob, scope: Scope, stream: Stream, effort: Effort | None = None) -> list[Message]:
        """Ask the question of a message, or carry out the choice of a button. `effort`: None: as the message says."""
        heard = (
            await self._read_unheard(job, scope) if job.threaded and not job.direct and job.kind == "message" else []
        )
        question = job.text
        # A mention alone, or with a "?", is about the previous messages.
        if not any(character.isalnum() for character in question):
            if not heard:
                with speak((await self.people.find_person(job.user)).language):
                    return [self._restrict_message(render_notice(translate(HELP)), job)]
            question = heard.pop()
        if job.kind == "message" and effort is None:
            question, effort = split_effort(question)
        thread = job.thread
        if job.kind == "message":
            begun, new = await slack_scopes.find_thread(
                self.kb, scope, job.team, channel=job.channel, ts=job.thread_ts, question=question
            )
            thread = begun.thread
            if new and job.status:
                await show_title(self.calls, job, question)
            await slack_scopes.note_heard(self.kb, begun, job.ts)
        answering = await self._begin_answer(job, scope, thread, question, heard, effort=effort)
        result = await self._stream_result(job, answering, stream)
        context = MessageContext(self.web, scope.public, job.outsiders, self.posting.native, scope.known)
        return [self._restrict_message(message, job) for message in render_messages(result, context)]

    async def _begin_answer(
        self, job: SlackJob, scope: Scope, thread: str, question: str, heard: list[str], *, effort: Effort | None
    ) -> AsyncGenerator[AskEvent]:
        """Begin the answer by the use case that the job asks for. `effort`: of a message; a choice has its turn's."""
        kb, principal = self.kb, scope.principal
        if job.kind == "sense":
            chosen = SenseChosen.from_text(question)
            return ask_in_sense(kb, principal, thread=thread, turn=job.turn, term=chosen.term, sense=chosen.sense)
        settings = await self._choose_settings(job, scope)
        if job.kind == "choice":
            return answer(
                kb, principal, thread=thread, choice=question, context=settings.context, profile=settings.profile
            )
        return ask(
            kb,
            principal,
            thread=thread,
            question=question,
            heard=heard or None,
            effort=effort,
            context=settings.context,
            profile=settings.profile,
        )

    async def _stream_result(self, job: SlackJob, answering: AsyncGenerator[AskEvent], stream: Stream) -> AskResult:
        status = 0.0
        async with aclosing(answering) as events:
            async for event in events:
                if isinstance(event.data, AskResult):
                    return event.data
                if event.kind in {"stage", "step"} and job.status and event.seconds is None:
                    # A stage may be over before anybody has read its name, and each change is a call.
                    if time.monotonic() - status > STATUS_SECONDS:
                        status = time.monotonic()
                        step_text = plain(f"{event.name}. {event.data}") if event.kind == "step" else ""
                        with speak_as_asked(job.text):
                            await show_status(self.calls, job, step_text or label_stage(event.name))
                elif event.kind == "token":
                    await stream.add(event.data)
                elif event.kind == "retract":
                    await stream.retract()
        raise ArgotError(FAILED)

    async def _choose_settings(self, job: SlackJob, scope: Scope) -> AnswerSettings:
        """Choose the channel's context and profile; beside an assistant's pane, the context of the channel in view."""
        seen = await self._find_viewed_channel(job) if job.direct else job.channel
        channel = await self.kb.blocking(self.store.get_channel, seen)
        context = await slack_scopes.find_context(self.kb, scope.principal, channel.context)
        profile = None if job.direct else channel.profile
        return AnswerSettings(profile or None, context or None)

    async def _find_viewed_channel(self, job: SlackJob) -> str:
        """Find the channel in view beside our conversation: by the message, its thread, or its window."""
        beside = [await self.kb.blocking(self.store.view, job.channel, ts) for ts in (job.thread_ts, "")]
        return next(filter(None, (job.viewed, *beside)), "")

    async def _read_unheard(self, job: SlackJob, scope: Scope) -> list[str]:
        """Read the messages of the Slack thread since Argot last heard it, up to this question."""
        kept = await self.kb.blocking(self.store.find_thread, job.team, job.channel, job.thread_ts, scope.key)
        # Slack leaves the one at `oldest` out, but always sends the first of the thread: hence the filter below.
        since = {"oldest": kept.last_ts} if kept is not None and kept.last_ts else {}
        messages = await fetch_thread_messages(self.calls, job, latest=job.ts, **since)
        human = [one for one in messages if not one.get("bot_id") and one.get("subtype") in HUMAN and one.get("user")]
        after = kept.last_ts if kept is not None else ""
        texts = [read_question(str(one.get("text", "")), self.me) for one in human if after < str(one["ts"]) < job.ts]
        return [text[:MAX_HEARD_CHARS] for text in texts if text][-HEARD:]

    # -- showing -------------------------------------------------------------------------------------------------------

    def _restrict_message(self, message: Message, job: SlackJob) -> Message:
        return {**message, "only": job.user} if job.ephemeral else message

    async def _keep_stream(self, noted: NotedEvent, ts: str) -> None:
        await self.kb.blocking(self.store.keep_stream, noted.id, ts)

    async def _finish_stream(self, noted: NotedEvent, job: SlackJob, answer: list[Message]) -> bool:
        """Replace the stream that an earlier try began by the first message; return False if there was none."""
        if not noted.stream or noted.sent or not answer:
            return False
        return await replace_stream(self.calls, job.channel, noted.stream, add_metadata(answer[0], job, 0))

    async def _deliver(self, noted: NotedEvent, job: SlackJob, answer: list[Message], sent: int) -> None:
        # An additional call, and so only if an earlier try may have posted something.
        there = await find_posted_parts(self.calls, job) if noted.tries else set()
        for number, message in enumerate(answer):
            if number < sent or number in there:
                continue
            await self.posting.post(job, add_metadata(message, job, number))
            await self.kb.blocking(self.store.keep_sent, noted.id, number + 1)
