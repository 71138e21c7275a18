"""An answer in the window while it is made: the current stage, pieces as they come, the result last."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from uuid import uuid4

import chainlit as cl
from chainlit.utils import utc_now

from argot.errors import ArgotError
from argot.languages.catalogues import speak_as_asked, translate
from argot.results import AskEvent, AskResult
from argot.ui.chat.brand import NAME
from argot.ui.rendering.answer_path import describe_path
from argot.ui.rendering.chat_buttons import Button
from argot.ui.rendering.chat_markdown import label_stage
from argot.ui.rendering.safe_markdown import clean_text, escape_markdown
from argot.ui.translation.page_errors import translate_error

logger = logging.getLogger(__name__)

WAIT_SECONDS = 0.5
"""A question that has not begun after this time is shown as waiting, and checked again at the same interval."""
PATH_TITLE = "How this was answered"
UNANSWERED_LABEL = "It was not answered"
BUTTONS = "buttons"
TAKEN_BUTTONS = "taken"
ANSWER = "answer"
"""Keys of the session. `ANSWER`: the question, run and message of the last answer, which a repeated answer replaces."""


@asynccontextmanager
async def report_errors() -> AsyncIterator[None]:
    """Report an error in one sentence, without a traceback."""
    try:
        yield
    except ArgotError as error:
        await cl.ErrorMessage(content=escape_markdown(translate_error(error)), author=NAME).send()
        await give_buttons_back()
    # An unexpected error is described in the log alone: its text may hold names of folders or passages.
    except Exception:
        logger.exception("a question could not be answered")
        text = translate("Something went wrong while answering. The service's log has the details. Please ask again.")
        await cl.ErrorMessage(content=text, author=NAME).send()


class Stages:
    """The work on one answer: a line that names the current stage, and below the finished answer how it came about."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.frame: cl.Step | None = None
        self.path: list[cl.Step] = []
        self.plan: dict[str, cl.Step] = {}

    async def show_step(self, event: AskEvent) -> None:
        """Show a sub-question of the plan in a line of its own, and there later the result for it."""
        line = self.plan.get(event.name)
        if line is None:
            # The plan is for reading, and stays above the answer.
            line = self.plan[event.name] = _make_step("", self.run)
        line.name = clean_text(f"{event.name}. {event.data}")
        await (line.update() if line.persisted else line.send())

    async def show(self, event: AskEvent) -> None:
        """Show a stage that began (`seconds` is None) or ended."""
        # The name of a stage that ended stays until the next stage begins.
        if self.frame is None or event.seconds is None:
            await self._name(label_stage(event.name))

    @asynccontextmanager
    async def waiting(self, for_what: Callable[[], str]) -> AsyncIterator[None]:
        """Show the reason while a question waits. `for_what` returns it, or nothing once the question has begun."""
        looking = asyncio.create_task(self._wait(for_what))
        try:
            yield
        finally:
            looking.cancel()
            # The line is taken away once the question is answered.
            if self.frame:
                self.frame.end = utc_now()
                await self._name(translate(UNANSWERED_LABEL))

    async def _wait(self, for_what: Callable[[], str]) -> None:
        while True:
            await asyncio.sleep(WAIT_SECONDS)
            if text := for_what():
                await self._name(text)

    async def _name(self, name: str) -> None:
        if self.frame is None:
            self.frame = _make_step(name, self.run)
            await self.frame.send()
        elif self.frame.name != name:
            self.frame.name = name
            await self.frame.update()

    @property
    def steps(self) -> list[str]:
        """The ids of all steps that are shown."""
        return [step.id for step in (*filter(None, [self.frame]), *self.path, *self.plan.values())]

    async def take_away(self) -> None:
        """Take the line about the current stage away: the answer itself stands next to its question."""
        if self.frame:
            await self.frame.remove()
            self.frame = None

    async def show_path(self, result: AskResult) -> None:
        """Show below the answer how it came about, folded."""
        lines = describe_path(result)
        if not lines:
            return
        with speak_as_asked(result.question):
            head = _make_step(translate(PATH_TITLE), self.run)
        self.path = [head, *(_make_step(line, head.id) for line in lines)]
        for step in self.path:
            step.end = step.start
            await step.send()


def _make_step(name: str, parent: str) -> cl.Step:
    step = cl.Step(name=name, type="tool", parent_id=parent, metadata={"avatarName": NAME})
    step.start = utc_now()
    return step


def make_actions(buttons: tuple[Button, ...], kind: str = "choice") -> list[cl.Action]:
    """Build Chainlit's actions from buttons. `kind` begins their ids, by which the style sheet tells them apart."""
    return [
        cl.Action(
            id=f"{kind}-{uuid4()}",
            name=button.action,
            payload=button.payload,
            label=button.label,
            tooltip=button.tooltip,
            icon=button.icon or None,
        )
        for button in buttons
    ]


async def offer(shown: list[cl.Action], for_id: str) -> None:
    """Put buttons below an existing message; the next question removes them."""
    for action in shown:
        await action.send(for_id=for_id)
    cl.user_session.set(BUTTONS, [*(cl.user_session.get(BUTTONS) or []), *shown])


async def take_buttons_away() -> None:
    taken = cl.user_session.get(BUTTONS) or []
    for action in taken:
        await action.remove()
    cl.user_session.set(BUTTONS, [])
    # A button removes them twice, before and within its run: the second time must keep what the first one removed.
    if taken:
        cl.user_session.set(TAKEN_BUTTONS, taken)


async def give_buttons_back() -> None:
    """Put the buttons back: the question was not begun, so the last answer is still the last."""
    if not cl.user_session.get(BUTTONS):
        taken = cl.user_session.get(TAKEN_BUTTONS) or []
        cl.user_session.set(TAKEN_BUTTONS, [])
        for action in taken:
            await action.send(for_id=action.forId)
        cl.user_session.set(BUTTONS, taken)
