"""Conversations: their owner's alone, whoever else may read everything."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from argot.errors import InvalidInput
from argot.service.cases_questions import run_context
from argot.service.owner import KnowledgeBase
from argot.service.registry import Text, case
from argot.service.shapes import jsonable
from argot.types import Principal

Title = Annotated[Text, Field(min_length=1, max_length=1000)]
Comment = Annotated[Text, Field(max_length=10_000)]


@case("asker")
async def thread_list(kb: KnowledgeBase, principal: Principal) -> list[dict[str, Any]]:
    """One's own threads, the latest first: id, title, created_at, updated_at."""
    threads = await kb.threads()
    return [jsonable(thread) for thread in await threads.of(principal.name)]


@case("asker")
async def thread_rename(kb: KnowledgeBase, principal: Principal, *, thread: Text, title: Title) -> dict[str, Any]:
    """Give a thread another title."""
    if not title.strip():
        raise InvalidInput("The title is empty. Give one of at least one letter.")
    threads = await kb.threads()
    plain: dict[str, Any] = jsonable(await threads.rename(principal.name, thread, title))
    return plain


@case("asker")
async def thread_delete(kb: KnowledgeBase, principal: Principal, *, thread: Text) -> dict[str, Any]:
    """Delete a thread with all its checkpoints and feedback."""
    threads = await kb.threads()
    await threads.own(principal.name, thread)
    async with kb.turn_of(thread):
        plain: dict[str, Any] = jsonable(await threads.delete(principal.name, thread))
    return plain


@case("asker")
async def feedback(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    thread: Text,
    turn: Annotated[int, Field(ge=0)],
    value: Literal[-1, 0, 1],
    comment: Comment = "",
) -> dict[str, Any]:
    """Say whether the answer of a turn (from 0) helped: 1, -1, or 0 to take it back."""
    threads = await kb.threads()
    plain: dict[str, Any] = jsonable(await threads.give_feedback(principal.name, thread, turn, value, comment))
    return plain


@case("asker")
async def thread_read(kb: KnowledgeBase, principal: Principal, *, thread: Text) -> dict[str, Any]:
    """A thread of one's own with its turns (each an `AskResult`), its feedback, and whether a choice is open.

    Everything is put together anew from ids, so what one may no longer read is no longer there.
    """
    from argot.graph.run import thread_state

    threads = await kb.threads()
    found = await threads.own(principal.name, thread)
    state = await thread_state(await kb.graph(), await run_context(kb, principal, None, None), thread)
    said = await threads.feedback(principal.name, thread)
    return {**jsonable(found), **jsonable(state), "feedback": [jsonable(one) for one in said]}
