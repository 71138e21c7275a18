"""Asking, and answering what Argot asks back. Both stream: stages, pieces of the answer, the result."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from argot.errors import NotFound
from argot.profile import profile_named
from argot.service.owner import KnowledgeBase
from argot.service.registry import Event, Text, case
from argot.service.shapes import jsonable
from argot.service.threads import Threads
from argot.types import Principal

if TYPE_CHECKING:
    from argot.graph.context import RunContext
    from argot.graph.run import AskEvent


@case("asker")
async def ask(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    question: Text,
    thread: Text | None = None,
    context: Text | None = None,
    profile: Text | None = None,
) -> AsyncIterator[Event]:
    """Answer a question, in a new thread or as the next turn of one's own.

    Events: `{"kind": "stage", "name", "seconds", "data"}`, `{"kind": "token", "data": piece}` and at last
    `{"kind": "result", "data": AskResult}`. With status `needs_choice`, send one of the choices to `answer`.
    """
    from argot.graph.question import checked_question
    from argot.graph.run import ask as ask_graph

    checked_question(question, kb.settings.max_question_chars)
    run = await run_context(kb, principal, context, profile)
    threads = await kb.threads()
    if thread is None:
        thread = (await threads.start(principal.name, question)).id
    graph = await kb.graph()
    async with kb.turn_of(thread):
        await threads.own(principal.name, thread)
        async with aclosing(_plain(ask_graph(graph, run, question, thread), threads, thread)) as events:
            async for event in events:
                yield event


@case("asker")
async def answer(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    thread: Text,
    choice: Text,
    context: Text | None = None,
    profile: Text | None = None,
) -> AsyncIterator[Event]:
    """Answer what Argot asked back in a thread: with one of the choices, or in words. Events as for `ask`."""
    threads = await kb.threads()
    run = await run_context(kb, principal, context, profile)
    from argot.graph.run import answer_choice

    graph = await kb.graph()
    async with kb.turn_of(thread):
        await threads.own(principal.name, thread)
        async with aclosing(_plain(answer_choice(graph, run, thread, choice), threads, thread)) as events:
            async for event in events:
                yield event


async def run_context(kb: KnowledgeBase, principal: Principal, context: str | None, profile: str | None) -> RunContext:
    """What the graph is given for one run on this principal's behalf.

    Raises:
        NotFound: there is no such context, or not for this principal.
        InvalidSettings: there is no such profile.
    """
    chosen = profile_named(profile or kb.settings.profile)
    corpus = await kb.load()
    glossary = kb.glossary
    if context is not None:
        known = {found.name.casefold(): found.name for found in await kb.blocking(glossary.contexts, principal)}
        if context.casefold() not in known:
            raise NotFound(f"There is no context '{context}'. Contexts: {', '.join(known.values()) or 'none yet'}.")
        context = known[context.casefold()]
    from argot.graph.context import extractive_context

    return extractive_context(corpus, glossary, principal, chosen, kb.settings, context)


async def _plain(events: AsyncIterator[AskEvent], threads: Threads, thread: str) -> AsyncGenerator[Event, None]:
    """The events as JSON. When the result is handed out, it is on the disk."""
    async for event in events:
        if event.kind == "result":
            await threads.touch(thread)
        data: Any = jsonable(event.data)
        yield {"kind": event.kind, "name": event.name, "seconds": event.seconds, "data": data}
