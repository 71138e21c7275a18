"""Conversations: only their owner may read them, whoever else may read everything."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from argot.errors import InvalidInput, NotFound
from argot.languages.catalogues import translate
from argot.service.json_values import read_dataclass_fields
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.scrubbing import scrub_stores
from argot.service.threads.feedback_results import JudgedAnswer, SharedAnswer
from argot.service.threads.thread_store import AnswerSettings, Feedback, Thread, ThreadFile, ThreadRead
from argot.service.usecases.moments import Moment
from argot.service.usecases.questions.asked_documents import find_named_documents
from argot.service.usecases.questions.attachments import forget_files
from argot.service.usecases.questions.questions import Fields, Tags, answer_settings, run_context
from argot.service.usecases.questions.shared_turns import forget_shared, require_forgetting
from argot.service.usecases.usecase_registry import Count, Text, usecase
from argot.types import Effort, Principal

__all__ = ["AnswerSettings", "Feedback", "JudgedAnswer", "SharedAnswer", "Thread", "ThreadFile", "ThreadRead"]

Title = Annotated[Text, Field(min_length=1, max_length=1000)]
Comment = Annotated[Text, Field(max_length=10_000)]


@dataclass(frozen=True, slots=True)
class ExportedThread:
    """A conversation as a file to keep; `name` is the file's."""

    name: str
    media_type: str
    text: str


async def get_own_thread(kb: KnowledgeBase, principal: Principal, thread: str) -> Thread:
    """Return the facts about a thread of the principal's own, without reading all of it.

    Raises:
        NotFound: there is none, or it is somebody else's.
    """
    return await (await kb.threads()).own(principal.name, thread)


async def is_answered_elsewhere(kb: KnowledgeBase, principal: Principal, thread: str) -> bool:
    """Return whether another service on the same stores now answers in this thread of the principal's own."""
    await get_own_thread(kb, principal, thread)
    return await kb.threads_turns.elsewhere(thread)


async def end_elsewhere(kb: KnowledgeBase, principal: Principal, thread: str, *, stop: bool = False) -> None:
    """Wait until no other service answers in this thread of the principal's own; with `stop` make it stop."""
    await get_own_thread(kb, principal, thread)
    await kb.threads_turns.end_elsewhere(thread, stop=stop)


async def begin_thread(kb: KnowledgeBase, principal: Principal, thread: str, question: str) -> str:
    """Return this thread's id, or that of a new thread, begun with the question, if the caller does not own it."""
    threads = await kb.threads()
    try:
        return (await threads.own(principal.name, thread)).id
    except NotFound:
        # Lone surrogates cannot be stored.
        title = question.encode("utf-8", "replace").decode("utf-8")
        return (await threads.start(principal.name, title)).id


@usecase("asker")
async def thread_list(kb: KnowledgeBase, principal: Principal) -> list[Thread]:
    """List the caller's threads, newest first: id, title, created_at, updated_at."""
    return await (await kb.threads()).of(principal.name)


@usecase("asker")
async def thread_rename(kb: KnowledgeBase, principal: Principal, *, thread: Text, title: Title) -> Thread:
    """Rename a thread."""
    if not title.strip():
        raise InvalidInput(translate("The title is empty. Give one of at least one letter."))
    return await (await kb.threads()).rename(principal.name, thread, title)


@usecase("asker")
async def thread_delete(kb: KnowledgeBase, principal: Principal, *, thread: Text) -> Thread:
    """Delete a thread with everything in it.

    This covers its checkpoints, feedback and files, and the wording of its questions in the managers' queue.
    """
    deleted = await delete_thread(kb, principal.name, thread)
    await kb.blocking(kb.glossary.privacy.erase_questions, thread=thread)
    await scrub_stores(kb)
    return deleted


async def delete_thread(kb: KnowledgeBase, owner: str, thread: str) -> Thread:
    """Delete a thread with its files and notices, and copies of it in rating studies.

    What several deletions share is left to the caller: the questions in the managers' queue, and `scrub_stores`.

    Raises:
        MissingWing: nobody could delete what rating studies took from it.
    """
    threads = await kb.threads()
    await threads.own(owner, thread)
    await require_forgetting(kb, owner, thread)
    # A turn under way would write its checkpoint into a thread that is gone.
    async with kb.threads_turns.of(thread):
        # The files first: a crash in between leaves a thread that can be deleted again, never files without one.
        await forget_files(kb, thread)
        deleted = await threads.delete(owner, thread)
    await kb.blocking(kb.people.notices.forget, owner, thread)
    await forget_shared(kb, thread)
    return deleted


@usecase("asker")
async def feedback(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    thread: Text,
    turn: Count,
    value: Literal[-1, 0, 1],
    comment: Comment = "",
    share: bool = False,
) -> Feedback:
    """Say whether the answer of a turn (from 0) helped: 1, -1, or 0 to take it back.

    With `share` the managers of the documents may read question and comment (`feedback_list`), and the parts of the
    answer that rest on documents that they may read. Without it they only see that there was such an answer.

    Raises:
        NotFound: the thread has no such turn.
    """
    from argot.graph.run import read_turn_record

    threads = await kb.threads()
    # Only for its error: nothing may be judged in another's thread.
    await threads.own(principal.name, thread)
    trace = await read_turn_record(await kb.graph(), thread, turn)
    if trace is None:
        raise NotFound(
            f"Thread '{thread}' has no answer number {turn}, or not any more. Reload the page and try again."
        )
    if not (value and share):
        await require_forgetting(kb, principal.name, thread, turn)
    saved = await threads.give_feedback(principal.name, thread, turn, value, comment, shared=share, trace=trace)
    if not (value and share):
        # A turn they shared before may have been copied into a rating study.
        await forget_shared(kb, thread, turn)
    return saved


@usecase("manager", everywhere=True)
async def feedback_list(
    kb: KnowledgeBase, principal: Principal, *, value: Literal[-1, 1] | None = None, since: Moment = ""
) -> list[SharedAnswer | JudgedAnswer]:
    """List people's feedback on answers, oldest first, as evaluation data.

    docs/chat.md describes the fields. Question, comment and answer are included if the asker shared them; of the
    answer, only the parts that rest on documents that the caller may read. Who asked is never included. `since`: an ISO
    date or time.
    """
    from argot.service.threads.feedback_export import list_judged_answers

    judged = [one for one in await (await kb.threads()).list_judged(since) if value in {None, one.said.value}]
    return await kb.blocking(list_judged_answers, await run_context(kb, principal), judged)


@usecase("asker")
async def thread_settings(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    thread: Text,
    profile: Text | None = None,
    context: Text | None = None,
    tags: Tags | None = None,
    since: Text | None = None,
    fields: Fields | None = None,
    documents: Tags | None = None,
    effort: Effort | None = None,
) -> Thread:
    """Set how the questions of a thread are answered from now on; for settings left out, the general ones apply.

    Raises:
        NotFound: there is no such context or document. InvalidSettings: there is no such profile.
    """
    threads = await kb.threads()
    settings = answer_settings(profile, context, tags, since, fields, documents=documents, effort=effort)
    # Checks that the profile, the context and the documents exist, before they are stored.
    await run_context(kb, principal, settings)
    named = await find_named_documents(kb, principal, settings.documents)
    return await threads.settle(principal.name, thread, replace(settings, documents=named))


@usecase("asker")
async def thread_follow_ups(kb: KnowledgeBase, principal: Principal, *, thread: Text) -> list[str]:
    """Suggest up to two follow-up questions that the documents near the last answer do answer; often none."""
    from argot.graph.run import read_last_turn
    from argot.service.threads.next_questions import list_next_questions

    found = await (await kb.threads()).own(principal.name, thread)
    run = await run_context(kb, principal, thread=found)
    last = await read_last_turn(await kb.graph(), run, thread)
    return await kb.blocking(list_next_questions, run, last.result, last.asked) if last and not last.waiting else []


@usecase("asker")
async def thread_export(
    kb: KnowledgeBase, principal: Principal, *, thread: Text, form: Literal["markdown", "json"] = "markdown"
) -> ExportedThread:
    """Export a conversation as a file, as Markdown with sources or as JSON with everything.

    The result has `name`, `media_type` and `text`. It contains only what the caller may still read.
    """
    from argot.service.threads.thread_export import export_thread

    # The function itself, because role and count are those of this use case.
    return ExportedThread(*export_thread(await thread_read.function(kb, principal, thread=thread), form))


@usecase("asker")
async def thread_read(kb: KnowledgeBase, principal: Principal, *, thread: Text) -> ThreadRead:
    """Show one of the caller's threads.

    It has its turns (each an `AskResult`), its feedback and files, whether a choice is open, and whether the glossary's
    managers may read its questions that met unknown terms. Everything is looked up again by ids, so what the caller may
    no longer read is left out.
    """
    from argot.graph.run import read_thread

    threads = await kb.threads()
    found = await threads.own(principal.name, thread)
    state = await read_thread(await kb.graph(), await run_context(kb, principal, thread=found), thread)
    return ThreadRead(
        **read_dataclass_fields(found),
        turns=state.turns,
        waiting=state.waiting,
        feedback=await threads.feedback(principal.name, thread),
        files=await threads.files(principal.name, thread),
        shared=await kb.blocking(kb.glossary.misses.are_shared, principal.name, thread),
    )
