"""The work done at once when somebody presses a button or submits a form; answers wait their turn in the inbox."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import replace
from typing import Any, Literal

from argot.errors import ArgotError, Conflict, InvalidInput, NotAllowed, NotFound
from argot.languages.catalogues import translate
from argot.service.usecases.glossary.contexts import context_list
from argot.service.usecases.glossary.impact import thread_share
from argot.service.usecases.glossary.senses import NewSense, glossary_add, glossary_draft
from argot.service.usecases.glossary.suggestions import term_suggest
from argot.service.usecases.glossary.term_corrections import other_senses, report_term
from argot.service.usecases.questions.threads import feedback, thread_read
from argot.slack import slack_scopes
from argot.slack.app.block_kit import AGAIN, ALONE, CHOOSE, Block, render_notice
from argot.slack.app.event_filter import SlackJob
from argot.slack.app.inbox import Inbox
from argot.slack.app.interactions import (
    find_press_key,
    find_presser,
    find_repeat_key,
    hash_parts,
    keep_for_form,
    read_form_job,
    read_kept,
    read_pressed_job,
    read_pressed_term,
    read_value,
)
from argot.slack.app.job_contents import SenseChosen
from argot.slack.app.modals import (
    build_notice,
    build_reason_form,
    build_sense_form,
    build_term_form,
    read_reason,
    read_sense,
    read_term,
)
from argot.slack.app.mrkdwn import plain
from argot.slack.app.slack_answers import Answering
from argot.slack.app.web_api import SlackRefused, SlackUnreachable
from argot.slack.slack_scopes import Scope
from argot.types import Principal
from argot.ui.translation.page_errors import translate_error

logger = logging.getLogger(__name__)

UNKNOWN_PERSON = (
    "Argot does not know who you are, and so takes no suggestion from you. An administrator can say it:"
    " `argot slack people link`."
)
TOO_LATE = "The form could not be opened: it took too long. Please try it once more."
MAX_TITLE_CHARS = 200
MAX_TERMS = 8


class Buttons:
    """The buttons and forms of one workspace."""

    def __init__(self, answering: Answering, inbox: Inbox, soon: Callable[[Coroutine[Any, Any, Any]], None]) -> None:
        self.answering = answering
        self.inbox = inbox
        self.soon = soon
        self.kb = answering.kb
        self.store = answering.store
        self.calls = answering.calls
        self.people = answering.people

    # -- buttons that ask ----------------------------------------------------------------------------------------------

    async def note_request(self, body: Mapping[str, Any]) -> bool:
        """Note a choice, a question in other words, or an answer for one person alone. False: it was sent before."""
        value = read_value(body)
        name = str(body["actions"][0].get("action_id", ""))
        job = self._read_job(body)
        if name.startswith(CHOOSE):
            job = replace(job, kind="choice", text=str(value.get("c", "")))
        elif name.startswith(AGAIN):
            job = replace(job, kind="again", text=str(value.get("q", "")))
        elif name == ALONE:
            job = replace(job, kind="alone", ephemeral=True)
        else:
            raise InvalidInput(f"There is no button '{name}'.")
        key = find_press_key(body)
        return await self.inbox.note(key, job, place=find_repeat_key(job, body) or key)

    async def take_choices_away(self, body: Mapping[str, Any]) -> None:
        """Remove the buttons of a choice once it is made, and show the chosen option."""
        message = body.get("message") or {}
        label = str((body["actions"][0].get("text") or {}).get("text", ""))
        blocks = [block for block in message.get("blocks") or () if not _has_offers(block)]
        done = {"type": "mrkdwn", "text": f"→ {plain(label)}", "verbatim": True}
        blocks.append({"type": "context", "elements": [done]})
        channel = str((body.get("channel") or {}).get("id", ""))
        if message.get("ts") and message.get("blocks") and channel:
            await self.calls.try_call(
                self.calls.client.chat_update,
                channel=channel, ts=message["ts"], text=str(message.get("text") or "…"), blocks=blocks, parse="none",
            )  # fmt: skip

    # -- thumbs --------------------------------------------------------------------------------------------------------

    async def keep_thumb(self, body: Mapping[str, Any]) -> None:
        """Keep a thumb; one that points down opens the form that asks why."""
        value = read_value(body)
        job = self._read_job(body)
        if value.get("v") == -1:
            view = build_reason_form(keep_for_form(job))
            # Before it is stored: the form must be open within three seconds of the press.
            await self.calls.try_call(
                self.calls.client.views_open, trigger_id=str(body.get("trigger_id", "")), view=view
            )
        try:
            await self._judge(job, 1 if value.get("v") == 1 else -1, "")
        except ArgotError as error:
            await self._tell(job, plain(translate_error(error)))
            return
        if value.get("v") == 1:
            thanks = "Thank you. Those who look after the documents can see that this answer helped."
            await self._tell(job, translate(thanks))

    async def keep_reason(self, body: Mapping[str, Any]) -> None:
        """Keep the reason given in the form, with the thumb."""
        job = read_form_job(body, self.people.team, "choice")
        said = self._judge(job, -1, read_reason(body["view"]), share=True)
        thanks = "Thank you. Those who look after the documents can see what you wrote."
        await self._tell_done(job, said, translate(thanks))

    async def _judge(self, job: SlackJob, value: Literal[-1, 1], comment: str, *, share: bool = False) -> None:
        principal = await self._find_principal(job)
        await feedback(self.kb, principal, thread=job.thread, turn=job.turn, value=value, comment=comment, share=share)

    async def share_questions(self, body: Mapping[str, Any]) -> None:
        """Let managers read the questions of this conversation that met unknown terms, as its asker wants."""
        job = self._read_job(body)

        async def share() -> None:
            await thread_share(self.kb, await self._find_principal(job), thread=job.thread)

        await self._tell_done(job, share(), translate("Those who look after the glossary can read the question now."))

    # -- not what I meant ----------------------------------------------------------------------------------------------

    async def open_sense_form(self, body: Mapping[str, Any]) -> None:
        """Open the form with the other senses of an answer's terms."""
        job = self._read_job(body)
        try:
            scope = await self.answering.find_scope(job)
            read = await thread_read(self.kb, scope.principal, thread=job.thread)
            turns = [turn for turn in read.turns if turn.turn == job.turn]
            known = [one for turn in turns for one in turn.jargon if one.sense_id]
            names = list(dict.fromkeys(one.surface for one in known))[:MAX_TERMS]
            if not names:
                raise NotFound("This answer rests on no term of the glossary any more. Ask again.")
            terms = [
                await other_senses(self.kb, scope.principal, thread=job.thread, turn=job.turn, term=one)
                for one in names
            ]
            view = build_sense_form(terms, keep_for_form(job))
        except ArgotError as error:
            view = build_notice(translate("What did you mean?"), plain(translate_error(error)))
        await self._open(body, view, job)

    async def take_sense(self, body: Mapping[str, Any]) -> None:
        """Ask again in the chosen sense; or tell the managers of a meaning that the glossary lacks."""
        term, sense = read_sense(body["view"], read_kept(body["view"]))
        key = find_press_key(body)
        job = read_form_job(body, self.people.team, "sense")
        if sense:
            text = SenseChosen(term, sense).text
            await self.inbox.note(key, replace(job, ts=f"{job.thread_ts}#{key}", text=text), place=key)
            return
        self.soon(self._report(job, term))

    async def _report(self, job: SlackJob, term: str) -> None:
        async def report() -> None:
            principal = await self._find_principal(job)
            await report_term(self.kb, principal, thread=job.thread, turn=job.turn, term=term, share=True)

        text = (
            "Those who look after the glossary are told, with the question. When “%(term)s” has that meaning, you hear "
            "of it here."
        )
        await self._tell_done(job, report(), translate(text, term=plain(term)))

    # -- a person ------------------------------------------------------------------------------------------------------

    async def call_contact(self, body: Mapping[str, Any]) -> None:
        """Mention the context's contact in the channel, so that they see it; or show the name only to the asker."""
        # Slack may send a press again, and a person is not called twice for it.
        if not await self.inbox.is_new(find_press_key(body)):
            return
        job = self._read_job(body)
        try:
            scope = await self.answering.find_scope(job)
            contact, context = await self._find_contact(scope, str(read_value(body).get("x", "")), job)
        except ArgotError as error:
            await self._tell(job, plain(translate_error(error)))
            return
        if not contact:
            await self._tell(job, _write_no_contact(plain(context)))
            return
        # A contact that Slack does not know is named, and not called.
        called = await self.people.find_contact(job.team, contact) or plain(contact)
        after = f" ({plain(context)})" if context else ""
        if job.direct or not scope.public:
            await self._tell(job, translate("Ask %(called)s.", called=called + after))
            return
        # And not for a second press of the same person below the same answer.
        if not await self.inbox.is_new(f"p:{hash_parts(job.channel, job.thread, str(job.turn), job.user)}"):
            await self._tell(job, translate("%(called)s was called here before.", called=called))
            return
        text = "%(asker)s would like a person to look at this: %(called)s"
        text = translate(text, asker=f"<@{job.user}>", called=called + after)
        await self.answering.posting.post(job, render_notice(text))

    async def _find_contact(self, scope: Scope, context: str, job: SlackJob) -> tuple[str, str]:
        """Find the contact of the answer's context, else of the channel's, else of the only context that has one."""
        known = {one.name: one.contact for one in await context_list(self.kb, scope.principal)}
        channel = await self.kb.blocking(self.store.get_channel, job.channel)
        home = await slack_scopes.find_context(self.kb, scope.principal, channel.context)
        for name in (context, home or ""):
            if known.get(name):
                return known[name], name
        named = [(contact, name) for name, contact in known.items() if contact]
        # Of several contacts none is chosen: mentioning the wrong person is worse than mentioning nobody.
        return named[0] if len(named) == 1 else ("", context or home or "")

    # -- terms ---------------------------------------------------------------------------------------------------------

    async def open_term_form(self, body: Mapping[str, Any]) -> None:
        """Open the form for a term found in a message: to add it, or for those who may not, to suggest a meaning."""
        team, user = find_presser(body, self.people.team)
        channel = str((body.get("channel") or {}).get("id", ""))
        try:
            scope = await self._require_known(team, user)
            names = [one.name for one in await context_list(self.kb, scope.principal)]
            contexts = [name for name in names if scope.principal.may_manage(name)]
            home = (await self.kb.blocking(self.store.get_channel, channel)).context
            # The button below an undefined term names it; the shortcut is of a message.
            text, named = str((body.get("message") or {}).get("text", "")), read_pressed_term(body)
            suggested = not contexts
            view = build_term_form(text, contexts or names, home, {"c": channel}, named=named, suggested=suggested)
        except ArgotError as error:
            view = build_notice(
                translate("Suggest a meaning"),
                translate_error(error) if str(error) == UNKNOWN_PERSON else plain(translate_error(error)),
            )
        await self._open(body, view, self._read_job(body))

    async def add_term(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Put the term into the glossary, or suggest its meaning. Returns how Slack is to change the form."""
        team, user = find_presser(body, self.people.team)
        fields, state = read_term(body["view"])
        try:
            scope = await self._require_known(team, user)
            if state == "suggested":
                await term_suggest(self.kb, scope.principal, **fields)
                thanks = "Thank you. Those who look after the glossary decide about *%(term)s*."
                reply = translate(thanks, term=plain(fields["term"]))
                return {"response_action": "update", "view": build_notice(translate("Suggest a meaning"), reply)}
            # Only of drafts: adding the same approved sense again changes the existing one.
            if state == "draft" and not await self.inbox.is_new(find_press_key(body)):
                raise Conflict("This was sent before. Change something, or close the form.")
            if state == "draft":
                await glossary_draft(self.kb, scope.principal, sense=NewSense(**fields))
            else:
                await glossary_add(self.kb, scope.principal, **fields)
        except ArgotError as error:
            # Slack keeps the form open and shows it below the field.
            return {"response_action": "errors", "errors": {"term": translate_error(error)[:MAX_TITLE_CHARS]}}
        what = f"*{plain(fields['term'])}*: {plain(fields['expansion'])} · {plain(fields['context'])}"
        ends = translate("It is a draft now." if state == "draft" else "Argot answers with it from now on.")
        return {"response_action": "update", "view": build_notice(translate("Add a term"), f"{what}\n{ends}")}

    async def _require_known(self, team: str, user: str) -> Scope:
        scope = await self.people.own_scope(team, user)
        if not scope.known:
            raise NotAllowed(UNKNOWN_PERSON)
        return scope

    # -- their parts ---------------------------------------------------------------------------------------------------

    def _read_job(self, body: Mapping[str, Any]) -> SlackJob:
        return read_pressed_job(body, self.people.team)

    async def _find_principal(self, job: SlackJob) -> Principal:
        """Find the principal on whose behalf the conversation is answered.

        Raises:
            ArgotError: the person who pressed may not act in it.
        """
        return (await self.answering.find_scope(job)).principal

    async def _open(self, body: Mapping[str, Any], view: Block, job: SlackJob) -> None:
        """Open a form; Slack lets that happen within three seconds."""
        trigger = str(body.get("trigger_id", ""))
        if await self.calls.try_call(self.calls.client.views_open, trigger_id=trigger, view=view) is None:
            await self._tell(job, translate(TOO_LATE))

    async def _tell_done(self, job: SlackJob, work: Awaitable[object], text: str) -> None:
        """Say that it is done; or, where it fails, why."""
        try:
            await work
        except ArgotError as error:
            await self._tell(job, plain(translate_error(error)))
            return
        await self._tell(job, text)

    async def _tell(self, job: SlackJob, text: str) -> None:
        message = render_notice(text)
        client = self.calls.client
        if job.direct:
            await self.calls.try_call(
                client.chat_postMessage, channel=job.channel, thread_ts=job.thread_ts, parse="none", **message
            )
            return
        try:
            await self.answering.posting.post_to_one(job, job.user, message)
        except (SlackRefused, SlackUnreachable) as error:
            logger.info("somebody who pressed a button could not be told: %s", error)


def _write_no_contact(context: str) -> str:
    if context:
        text = "Nobody is named as the contact of %(context)s. Whoever runs Argot can tell whom to ask."
        return translate(text, context=context)
    return translate("Nobody is named as the contact. Whoever runs Argot can tell whom to ask.")


def _has_offers(block: Block) -> bool:
    return block.get("type") == "actions" and any(
        str(one.get("action_id", "")).startswith((CHOOSE, AGAIN)) for one in block.get("elements", ())
    )
