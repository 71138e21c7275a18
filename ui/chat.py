"""The chat window: what is asked goes to the service, what comes back is shown as it comes.

Every callback of Chainlit ends here, and nothing is decided here: questions, choices, threads and feedback are use
cases of the service.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import chainlit as cl
from chainlit.context import context
from chainlit.utils import utc_now, wrap_user_function

from argot.errors import ArgotError
from argot.results import AskResult
from argot.service import cases
from argot.service.owner import KnowledgeBase
from argot.service.people import LOCAL_NAME
from argot.service.samples import BASE_URI
from argot.ui.chat_data import ThreadsLayer, answer_id
from argot.ui.chat_people import current_principal, local_display_name
from argot.ui.chat_setup import NAME
from argot.ui.chat_sources import source_of
from argot.ui.chat_text import literal, plain, quoted
from argot.ui.chat_threads import ensure_thread
from argot.ui.chat_view import ASK_INSTEAD, CHOOSE, STAGES, Button, View, duration, panel_title, stage_line, view

logger = logging.getLogger(__name__)

SAMPLE_QUESTIONS = (
    "What's the PUC height limit on the x4 die?",
    "How tall may a pole on our land be according to the PUC?",
    "What do I do when a tilt sticker on a delivery has turned red?",
    "What is PLP?",
)
"""The same abbreviation in two senses, a plain question, and one that has to be asked back."""
BUTTONS = "buttons"


class ChatWindow:
    """Chainlit's callbacks over one knowledge base."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.layer = ThreadsLayer(kb)

    def register(self, config: Any) -> None:
        code = config.code
        code.data_layer = lambda: self.layer
        code.header_auth_callback = wrap_user_function(self.signed_in)
        code.set_starters = wrap_user_function(self.starters)
        code.on_message = wrap_user_function(self.on_message)
        code.on_window_message = wrap_user_function(self.on_window_message)
        code.on_chat_resume = wrap_user_function(self.on_resume)
        code.action_callbacks = {
            CHOOSE: wrap_user_function(self.on_choice),
            ASK_INSTEAD: wrap_user_function(self.on_other_wording),
        }

    async def signed_in(self, headers: Any) -> cl.User:
        """Whoever can open the window sits at this machine (the guard and the address see to that)."""
        return cl.User(identifier=LOCAL_NAME, display_name=local_display_name())

    async def starters(self, user: Any, language: Any) -> list[cl.Starter]:
        """Real questions for the sample documents; for documents of one's own nobody knows better than the asker."""
        documents = await cases.result(self.kb, await current_principal(self.kb), "list_documents")
        if not any(document["uri"].startswith(BASE_URI) for document in documents):
            return []
        return [cl.Starter(label=question, message=question) for question in SAMPLE_QUESTIONS]

    # -- asking ----------------------------------------------------------------------------------------------------

    async def on_message(self, message: cl.Message) -> None:
        """A question, or an answer in words to what was asked back: the service can tell."""
        async with self._run(message.id) as run:
            thread = await ensure_thread(self.kb, context.session, message.content)
            await self._take_buttons_away()
            await self._turn(run, "ask", {"question": message.content, "thread": thread})

    async def on_choice(self, action: cl.Action) -> None:
        """A button of what was asked back."""
        choice, label = str(action.payload.get("choice", "")), str(action.payload.get("label", ""))
        await self._pressed(label, "answer", {"choice": choice})

    async def on_other_wording(self, action: cl.Action) -> None:
        """A suggestion under a query miss: the same question with the known term."""
        question = str(action.payload.get("question", ""))
        await self._pressed(question, "ask", {"question": question})

    async def _pressed(self, said: str, case: str, parameters: dict[str, Any]) -> None:
        await self._take_buttons_away()
        message = await cl.Message(content=literal(said), type="user_message", author=LOCAL_NAME).send()
        await context.emitter.task_start()
        try:
            async with self._run(message.id) as run:
                await self._turn(run, case, {**parameters, "thread": context.session.thread_id})
        finally:
            await context.emitter.task_end()

    @asynccontextmanager
    async def _run(self, parent: str) -> AsyncIterator[cl.Step]:
        """The frame of one answer. What goes wrong in it is said in one sentence, without a traceback."""
        async with cl.Step(name="on_message", type="run", parent_id=parent) as run:
            try:
                yield run
            except ArgotError as error:
                await cl.ErrorMessage(content=plain(error), author=NAME).send()
            except Exception:
                logger.exception("a question could not be answered")
                text = "Something went wrong while answering. The log of the service tells more; please ask again."
                await cl.ErrorMessage(content=text, author=NAME).send()

    async def _turn(self, run: cl.Step, case: str, parameters: dict[str, Any]) -> None:
        """Run a use case that answers, and show its events: stages as steps, pieces as they come, the result last."""
        stages = Stages(run.id)
        message = cl.Message(content="", author=NAME)
        written = ""
        async for event in cases.run(self.kb, await current_principal(self.kb), case, parameters):
            match event["kind"]:
                case "stage":
                    await stages.show(event["name"], str(event["data"] or ""), event["seconds"])
                case "token":
                    written += str(event["data"])
                    await message.stream_token(quoted(written), is_sequence=True)
                case "result":
                    result = AskResult.model_validate(event["data"])
                    await stages.close()
                    await self._show(message, view(result), streamed=bool(written))
                    await self._remember(run, result.thread)

    async def _show(self, message: cl.Message, shown: View, *, streamed: bool) -> None:
        message.content = shown.content
        message.actions = _actions(shown.buttons)
        cl.user_session.set(BUTTONS, message.actions)
        await (message.update() if streamed else message.send())

    async def _remember(self, run: cl.Step, thread: str) -> None:
        read = await cases.result(self.kb, await current_principal(self.kb), "thread_read", thread=thread)
        self.layer.remember_run(run.id, thread, len(read["turns"]) - 1)

    async def _take_buttons_away(self) -> None:
        for action in cl.user_session.get(BUTTONS) or []:
            await action.remove()
        cl.user_session.set(BUTTONS, [])

    # -- reading a source ----------------------------------------------------------------------------------------------

    async def on_window_message(self, data: Any) -> None:
        """A mark was pressed (assets/argot.js tells): show what it stands for in the side panel."""
        opened = source_of(data.get("open") if isinstance(data, dict) else None)
        if opened is None:
            return
        try:
            found = await cases.result(
                self.kb, await current_principal(self.kb), "read_passage", passage_id=opened.passage_id
            )
            title = panel_title(found)
        except ArgotError:
            title = "No longer there"
        common = {"name": title, "url": opened.address, "display": "side", "thread_id": context.session.thread_id}
        element = cl.Pdf(page=opened.page, **common) if opened.original else cl.Text(mime="text/plain", **common)
        await context.emitter.emit("set_sidebar_title", title)
        await context.emitter.emit("set_sidebar_elements", {"elements": [element.to_dict()], "key": opened.address})

    # -- coming back -----------------------------------------------------------------------------------------------

    async def on_resume(self, thread: Any) -> None:
        """The messages come from the data layer; the buttons of a choice that is still open are put back here."""
        read = await cases.result(self.kb, await current_principal(self.kb), "thread_read", thread=thread["id"])
        if not read["turns"]:
            return
        last = len(read["turns"]) - 1
        actions = _actions(view(AskResult.model_validate(read["turns"][last])).buttons)
        cl.user_session.set(BUTTONS, actions)
        for action in actions:
            await action.send(for_id=answer_id(thread["id"], last))


class Stages:
    """The stages of one answer: a step that names the stage at work, and below it a line for each."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.frame: cl.Step | None = None
        self.lines: dict[str, cl.Step] = {}
        self.seconds = 0.0

    async def show(self, name: str, found: str, seconds: float | None) -> None:
        if self.frame is None:
            self.frame = _step(STAGES.get(name, name), self.run)
            await self.frame.send()
        line = self.lines.get(name)
        if line is None:
            line = self.lines[name] = _step("", self.frame.id)
        line.name = stage_line(name, found, seconds)
        if seconds is not None:
            self.seconds += seconds
            line.end = utc_now()
        await (line.update() if line.persisted else line.send())
        if seconds is None:
            self.frame.name = STAGES.get(name, name)
            await self.frame.update()

    async def close(self) -> None:
        if self.frame:
            self.frame.name = f"How this was answered · {len(self.lines)} steps · {duration(self.seconds)}"
            self.frame.end = utc_now()
            await self.frame.update()


def _step(name: str, parent: str) -> cl.Step:
    step = cl.Step(name=name, type="tool", parent_id=parent, metadata={"avatarName": NAME})
    step.start = utc_now()
    return step


def _actions(buttons: tuple[Button, ...]) -> list[cl.Action]:
    return [
        cl.Action(
            id=f"choice-{uuid4()}",
            name=button.action,
            payload=button.payload,
            label=button.label,
            tooltip=button.tooltip,
        )
        for button in buttons
    ]
