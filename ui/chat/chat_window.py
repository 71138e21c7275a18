"""The chat window: it passes questions to the service and shows answers while they are written.

Every callback of Chainlit is in this module. Nothing is decided here: questions, choices, threads and feedback are use
cases of the service.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any

import chainlit as cl
from chainlit.context import context
from chainlit.utils import wrap_user_function

from argot.errors import ArgotError
from argot.languages.catalogues import translate
from argot.results import AskEvent, AskResult
from argot.service.knowledge_base import KnowledgeBase
from argot.service.sign_in.account import sign_in_required
from argot.service.usecases.glossary.term_corrections import other_senses, report_term
from argot.service.usecases.questions.questions import answer, ask, ask_again, ask_in_sense
from argot.service.usecases.questions.threads import thread_follow_ups, thread_read
from argot.types import Principal
from argot.ui.chat.answer_settings import AnswerSettingsPanel
from argot.ui.chat.answers_elsewhere import follow_elsewhere
from argot.ui.chat.brand import NAME
from argot.ui.chat.chat_threads import ensure_thread
from argot.ui.chat.data_layer import ThreadsLayer, answer_id, run_id
from argot.ui.chat.document_scope import LEAVE_DOCUMENT, DocumentScope
from argot.ui.chat.first_screen import FirstScreen
from argot.ui.chat.message_files import MessageFiles
from argot.ui.chat.news import News
from argot.ui.chat.shared_windows import AskedMessage, SharedTurn, Windows, drop_unfinished
from argot.ui.chat.sharing import Sharing
from argot.ui.chat.source_elements import build_elements
from argot.ui.chat.streaming import (
    ANSWER,
    BUTTONS,
    Stages,
    give_buttons_back,
    make_actions,
    offer,
    report_errors,
    take_buttons_away,
)
from argot.ui.chat.term_suggestions import TermSuggestions
from argot.ui.rendering.chat_buttons import (
    AGAIN,
    ASK_INSTEAD,
    CHOOSE_ACTION,
    EXPORT,
    LINK,
    REPORT,
    SENSE,
    SHARE,
    SUGGEST,
    VERIFY,
    WITHDRAW,
    make_next_buttons,
    share_button,
)
from argot.ui.rendering.chat_markdown import AnswerView, format_other_meanings, view_result
from argot.ui.rendering.safe_markdown import clean_text, quote_markdown
from argot.ui.rendering.source_addresses import parse_reported_term, parse_source
from argot.ui.web.asker_identity import asker, get_current_principal


class ChatWindow:
    """Chainlit's callbacks for one knowledge base."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.layer = ThreadsLayer(kb)
        self.news = News(kb)
        self.answer_settings = AnswerSettingsPanel(kb)
        self.document_scope = DocumentScope(kb, self.answer_settings)
        self.first_screen = FirstScreen(kb)
        self.files = MessageFiles(kb)
        self.sharing = Sharing(kb)
        self.windows = Windows(self._reopen)

    def register(self, config: Any) -> None:
        code = config.code
        code.data_layer = lambda: self.layer
        code.header_auth_callback = wrap_user_function(self.signed_in)
        code.set_starters = wrap_user_function(self.first_screen.list_starters)
        code.on_chat_start = wrap_user_function(self.on_start)
        code.on_message = self._wait_for_rest(self.on_message)
        code.on_window_message = wrap_user_function(self.on_window_message)
        code.on_settings_update = wrap_user_function(self.on_settings)
        code.on_chat_resume = wrap_user_function(self.on_resume)
        code.on_chat_end = wrap_user_function(self.on_end)
        code.action_callbacks = {
            CHOOSE_ACTION: self._wait_for_rest(self.on_choice),
            ASK_INSTEAD: self._wait_for_rest(self.on_other_wording),
            AGAIN: self._wait_for_rest(self.on_again),
            EXPORT: self._wait_for_rest(self.sharing.export),
            SENSE: self._wait_for_rest(self.on_sense),
            REPORT: self._wait_for_rest(self.on_report),
            SHARE: self._wait_for_rest(self.sharing.tell_managers),
            LINK: self._wait_for_rest(self.sharing.make_link),
            WITHDRAW: self._wait_for_rest(self.sharing.withdraw),
            VERIFY: self._wait_for_rest(self.sharing.offer_verification),
            SUGGEST: self._wait_for_rest(TermSuggestions(self.kb).offer_form),
            LEAVE_DOCUMENT: self._wait_for_rest(self.document_scope.leave),
        }

    def _wait_for_rest(self, callback: Callable[[Any], Awaitable[None]]) -> Any:
        """Wrap a callback that shows something: it waits while its window is being reloaded."""

        async def waiting(given: Any) -> None:
            await self.windows.wait_for_rest(context.session)
            await callback(given)

        return wrap_user_function(waiting)

    async def signed_in(self, headers: Any) -> None:
        """Sign nobody in: the guard says who is asking. Without this callback Chainlit would not check."""

    async def on_start(self) -> None:
        self.windows.add(context.session)
        await self.answer_settings.offer_new()
        await self.first_screen.show_hint()

    async def on_settings(self, settings: dict[str, Any]) -> None:
        async with report_errors():
            await self.answer_settings.keep_choice(settings, context.session.thread_id)

    # -- asking ----------------------------------------------------------------------------------------------------

    async def on_message(self, message: cl.Message) -> None:
        """Answer a message, after storing its files: a question, or a reply in words to what Argot asked back."""
        await context.emitter.send_step(message.to_dict())  # a window that was just reloaded may have lost it
        async with cl.Step(name="on_message", type="run", parent_id=message.id) as run, report_errors():
            named, began_in = message.content or self.files.build_title(message), context.session.thread_id
            thread = await ensure_thread(self.kb, context.session, named)
            if not message.content and thread != began_in:  # lists a conversation that begins with files
                await context.emitter.emit("first_interaction", {"interaction": named, "thread_id": thread})
            # A narrow window learns its address only from this.
            await context.emitter.send_window_message({"thread": thread})
            await self.answer_settings.settle(thread)
            await take_buttons_away()
            if await self.files.put_in(message, thread) and not message.content.strip():
                await give_buttons_back()
                return
            answering = ask(self.kb, await get_current_principal(self.kb), question=message.content, thread=thread)
            await self._show_answer(run, thread, AskedMessage(message.id, message.content), answering)

    async def on_choice(self, action: cl.Action) -> None:
        """Answer the button of a choice, where Argot asked back."""
        choice, label = str(action.payload.get("choice", "")), str(action.payload.get("label", ""))
        await self._answer_button(label, lambda who, thread: answer(self.kb, who, thread=thread, choice=choice))

    async def on_other_wording(self, action: cl.Action) -> None:
        """Ask the suggested question of a button: below an unknown term, or to continue with."""
        question = str(action.payload.get("question", ""))
        await self._answer_button(question, lambda who, thread: ask(self.kb, who, thread=thread, question=question))

    async def on_sense(self, action: cl.Action) -> None:
        """Answer the question once more, in the sense whose button was pressed."""
        payload = action.payload
        read = {name: payload.get(name) for name in ("turn", "term", "sense")}
        label = f"{payload.get('question', '')} · {payload.get('term', '')}: {payload.get('label', '')}"
        await self._answer_button(label, lambda who, thread: ask_in_sense(self.kb, who, thread=thread, **read))

    async def on_again(self, action: cl.Action) -> None:
        """Answer the last question again. The new answer replaces the one shown."""
        last = cl.user_session.get(ANSWER) or {}
        question, old = last.get("question", ""), last.get("steps", ())

        async def turn(run: cl.Step) -> None:
            thread = context.session.thread_id
            answering = ask_again(self.kb, await get_current_principal(self.kb), thread=thread)
            await self._show_answer(run, thread, AskedMessage(question), answering, old)

        await self._run_button(turn, question)

    async def _answer_button(self, label: str, answered: Callable[[Principal, str], AsyncGenerator[AskEvent]]) -> None:
        """Answer a button that stands for a message; `answered` returns the events of its answer, given the asker and
        the thread.
        """
        await take_buttons_away()
        message = await cl.Message(content=clean_text(label), type="user_message", author=asker.get() or "").send()

        async def turn(run: cl.Step) -> None:
            thread = context.session.thread_id
            answering = answered(await get_current_principal(self.kb), thread)
            await self._show_answer(run, thread, AskedMessage(message.id, label), answering)

        await self._run_button(turn, message.id)

    async def _run_button(self, turn: Callable[[cl.Step], Awaitable[None]], parent: str | None) -> None:
        """Run the work of a button within a step of its own, so that it can be stopped like any other answer."""

        async def work() -> None:
            async with cl.Step(name="on_message", type="run", parent_id=parent) as run, report_errors():
                await take_buttons_away()
                await turn(run)

        # Chainlit shows the stop button by itself for messages, but not for buttons.
        await context.emitter.task_start()
        try:
            await _run_as_task(work())
        finally:
            await context.emitter.task_end()

    async def _show_answer(
        self,
        run: cl.Step,
        thread: str,
        asked: AskedMessage,
        answering: AsyncGenerator[AskEvent],
        old: Iterable[str] = (),
    ) -> None:
        """Show an answer while it is made: the current stage, pieces as they come, the result last.

        Args:
            asked: the message of the question.
            answering: a use case that answers; closing it stops the work.
            old: the steps of the answer that this one replaces.
        """
        turn = SharedTurn(thread, asked, run.id, cl.Message(content="", author=NAME))
        stages = Stages(run.id)
        async with (
            self.windows.share_turn(turn),
            stages.waiting(lambda: self._explain_wait(turn)),
            aclosing(answering),  # the stop button ends the work, also on the model server
        ):
            async for event in answering:
                if not turn.begun:
                    turn.begun = True
                    # Only now: a question that is refused or stopped while it waits leaves the old answer in place.
                    for step in old:
                        await context.emitter.delete_step({"id": step})
                await self._show_event(event, turn, stages)
        await self.news.tell(context.session)

    def _explain_wait(self, turn: SharedTurn) -> str:
        """Return the reason why a question has not begun yet; empty if it is not known."""
        if turn.begun:
            return ""
        if self.kb.gates.questions.waiting:
            return translate("Waiting for its turn")
        behind = len(self.windows.list_turns(turn.thread)) > 1
        return translate("Waiting until the previous question is answered") if behind else ""

    async def _show_event(self, event: AskEvent, turn: SharedTurn, stages: Stages) -> None:
        match event.kind:
            case "stage":
                await stages.show(event)
            case "step":
                await stages.show_step(event)
            case "token":
                turn.written += str(event.data)
                # The whole text each time: a link that began in an earlier piece is recognised only as a whole.
                await turn.message.stream_token(quote_markdown(turn.written), is_sequence=True)
            case "retract":
                turn.written = ""
                await turn.message.stream_token("", is_sequence=True)
        if isinstance(result := event.data, AskResult):
            await stages.take_away()
            # Thumbs on this answer carry this id until the page is reloaded, and then Argot's own id.
            self.layer.remember_run(turn.run, result.thread, result.turn)
            await self._show(turn.message, await self._add_share_button(view_result(result), result))
            await stages.show_path(result)
            steps = [turn.message.id, *stages.steps, turn.run]
            cl.user_session.set(ANSWER, {"question": turn.asked.id, "steps": steps})
            await self._offer_next(turn.message.id, result)

    async def _show(self, message: cl.Message, view: AnswerView) -> None:
        message.content = view.content
        message.actions = make_actions(view.buttons)
        cl.user_session.set(BUTTONS, message.actions)
        await (message.update() if message.streaming else message.send())

    async def _offer_next(self, answer: str, result: AskResult) -> None:
        """Offer the actions for the last answer, and questions to continue with."""
        principal = await get_current_principal(self.kb)
        await offer(self.sharing.make_buttons(principal, result), answer)
        if result.status == "answered":
            following = await thread_follow_ups(self.kb, principal, thread=result.thread)
            await offer(make_actions(make_next_buttons(following), "next"), answer)

    async def _add_share_button(self, view: AnswerView, result: AskResult, *, shared: bool = False) -> AnswerView:
        """Add a button that lets managers read a question with an unknown term. Where nobody signs in they may read it
        anyway.
        """
        if shared or not result.misses or not await self.kb.look_up(sign_in_required, self.kb):
            return view
        return replace(view, buttons=(*view.buttons, share_button(result.thread)))

    # -- other meanings --------------------------------------------------------------------------------------------

    async def _ask_what_was_meant(self, turn: int, term: str) -> None:
        async with report_errors():
            offered = await other_senses(
                self.kb, await get_current_principal(self.kb), thread=context.session.thread_id, turn=turn, term=term
            )
            shown = format_other_meanings(offered, turn)
            message = await cl.Message(content=shown.content, author=NAME).send()
            await offer(make_actions(shown.buttons), message.id)

    async def on_report(self, action: cl.Action) -> None:
        """Tell the glossary's managers that none of the senses was meant."""
        await take_buttons_away()
        async with report_errors():
            turn, term = action.payload.get("turn"), action.payload.get("term")
            await report_term(
                self.kb, await get_current_principal(self.kb), thread=context.session.thread_id, turn=turn, term=term
            )
            text = translate(
                "The glossary's managers can now read your question. You are notified here when the term has a meaning."
            )
            await cl.Message(content=text, author=NAME).send()
            self.news.watch(context.session)

    # -- reading a source ----------------------------------------------------------------------------------------------

    async def on_window_message(self, data: Any) -> None:
        """Handle a message of assets/argot.js: a mark was pressed, or the page asks one document."""
        address = data.get("open") if isinstance(data, dict) else None
        if term := parse_reported_term(address):
            await self._ask_what_was_meant(*term)
        elif await self.document_scope.open(address):
            return
        elif source := parse_source(address):
            title, elements = await build_elements(self.kb, source, context.session.thread_id)
            await context.emitter.emit("set_sidebar_title", title)
            await context.emitter.emit("set_sidebar_elements", {"elements": elements, "key": source.address})

    # -- coming back -----------------------------------------------------------------------------------------------

    async def on_resume(self, thread: Any) -> None:
        """Show a conversation that was opened again, or whose window was reconnected and missed some events.

        The messages come from the data layer; the buttons of a choice that is still open are added here.
        """
        self.windows.add(context.session)
        async with self.windows.get_reopening_lock(context.session):
            await self._resume(thread)

    async def _resume(self, thread: Any) -> None:
        await take_buttons_away()
        read = await thread_read(self.kb, await get_current_principal(self.kb), thread=thread["id"])
        await follow_elsewhere(self.kb, self.windows, thread["id"], read.turns)
        under_way = self.windows.list_turns(thread["id"])
        turns = drop_unfinished(read.turns, under_way)
        # Chainlit read the thread before this window's lock was held: an answer that ended since then is missing.
        thread["steps"][:] = self.layer.steps(replace(read, turns=turns))
        await self.answer_settings.offer_for_thread(read)
        self.files.tell_resumed(thread, read.files)
        if turns:
            await self._restore_last_answer(thread["id"], turns, shared=read.shared, usable=not under_way)
            await self.news.tell_resumed(context.session, thread)
        await self.windows.tell_resumed(thread, under_way)

    async def _restore_last_answer(self, thread: str, turns: list[AskResult], *, shared: bool, usable: bool) -> None:
        """Offer the actions for the last answer of a reopened conversation below it."""
        result = turns[-1]
        base, answer = run_id(thread, result.turn), answer_id(thread, result.turn)
        cl.user_session.set(ANSWER, {"question": f"{base}.question", "steps": [answer, base]})
        if usable:
            await offer(
                make_actions((await self._add_share_button(view_result(result), result, shared=shared)).buttons), answer
            )
            await self._offer_next(answer, result)

    async def _reopen(self) -> None:
        """Show the current window its conversation as it is stored."""
        async with self.windows.get_reopening_lock(context.session):
            thread = await self.layer.get_thread(context.session.thread_id)
            if thread is not None:
                await self._resume(thread)
                await context.emitter.resume_thread(thread)

    async def on_end(self) -> None:
        """Handle a lost connection. The answer goes on, to be found later, unless its asker was suspended."""
        self.windows.remove(context.session)
        self.news.leave(context.session)
        try:
            await get_current_principal(self.kb)
        except ArgotError:
            if context.session.current_task:
                context.session.current_task.cancel()


async def _run_as_task(work: Coroutine[Any, Any, None]) -> None:
    # Chainlit's stop button cancels the session's `current_task`, which it sets for messages only.
    task = asyncio.create_task(work)
    context.session.current_task = task
    with suppress(asyncio.CancelledError):
        await task
