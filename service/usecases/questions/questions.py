"""Asking, and answering Argot's own questions. Both stream: stages, pieces of the answer, the result."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from argot.errors import AnswerLost, Conflict, InvalidInput, NotFound
from argot.jargon_db.store.context_store import build_unknown_name
from argot.languages.catalogues import page_language, translate
from argot.profile import Profile, change_profile
from argot.results import AskEvent, AskResult, Jargon
from argot.service.glossary_review.miss_loop import record_learned
from argot.service.knowledge_base import KnowledgeBase
from argot.service.replicas.turns import LOST
from argot.service.threads.thread_store import AnswerSettings, Thread
from argot.service.tool_servers import load_tool_servers, note_tool_calls
from argot.service.usecases.moments import is_partial_date
from argot.service.usecases.questions.asked_documents import add_tagged_documents, find_named_documents
from argot.service.usecases.questions.profiles import Switches, change_switches, choose_profile
from argot.service.usecases.questions.search_choice import apply_search_choice, require_fields
from argot.service.usecases.questions.shared_turns import forget_shared, require_forgetting
from argot.service.usecases.usecase_registry import Count, Number, Text, usecase
from argot.types import THREAD, DocumentField, Effort, Principal, QuestionScope, SearchChoice

if TYPE_CHECKING:
    from argot.graph.run_context import RunContext

Tags = Annotated[list[Text], Field(max_length=100)]
Fields = Annotated[dict[Text, list[Text]], Field(max_length=20)]
"""Values by the names of fields: a document has to have one of them for each name."""
Turn = Count
SenseId = Number


@dataclass(frozen=True, slots=True)
class TurnJob:
    """One turn of a thread, to be answered (`argot.service.answer_jobs`).

    `text`: the question, or with `kind` "choice" the reply to Argot's question; "again": the answer replaces that of
    the last turn. `senses`: ids by term, chosen beforehand. `id`: identifies a turn that was begun before.
    `language`: that of the asker's pages, for a question in none that Argot speaks.
    """

    principal: Principal
    thread: str
    text: str
    kind: Literal["question", "again", "choice"] = "question"
    senses: dict[str, int] = field(default_factory=dict)
    heard: tuple[str, ...] = ()
    settings: AnswerSettings = field(default_factory=AnswerSettings)
    switches: Switches | None = None
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    language: str = field(default_factory=page_language.get)

    async def events(self, kb: KnowledgeBase) -> AsyncGenerator[AskEvent]:
        from argot.graph.run import answer_choice
        from argot.graph.run import ask as ask_graph

        page_language.set(self.language)  # another process may answer
        kb.warm_model()
        threads, graph = await kb.threads(), await kb.graph()
        kept = await threads.own(self.principal.name, self.thread)
        run = replace(await self._build_run(kb, kept), heard=self.heard)
        if self.kind == "choice":
            turn = answer_choice(graph, run, self.thread, self.text, job=self.id)
        else:
            again = self.kind == "again"
            turn = ask_graph(graph, run, self.text, self.thread, again=again, senses=self.senses, job=self.id)
        async with aclosing(turn) as events:
            async for event in events:
                yield event

    async def _build_run(self, kb: KnowledgeBase, thread: Thread) -> RunContext:
        """Build the context of the turn; a reply to Argot's question keeps the effort of its turn."""
        from argot.graph.run import find_waiting_effort

        run = await run_context(kb, self.principal, self.settings, thread, self.switches)
        if self.kind == "again" or self.senses or self.settings.effort or "effort" in (self.switches or {}):
            return run
        effort = await find_waiting_effort(await kb.graph(), run, self.thread, self.text)
        if effort in {None, run.profile.effort}:
            return run
        return await run_context(kb, self.principal, replace(self.settings, effort=effort), thread, self.switches)


@usecase("asker", asks=True)
def ask(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    question: Text,
    thread: Text | None = None,
    context: Text | None = None,
    profile: Text | None = None,
    switches: Switches | None = None,
    search: SearchChoice | None = None,
    tags: Tags | None = None,
    since: Text | None = None,
    fields: Fields | None = None,
    documents: Tags | None = None,
    effort: Effort | None = None,
    heard: Annotated[list[Text], Field(max_length=20)] | None = None,
) -> AsyncGenerator[AskEvent]:
    """Answer a question, in a new thread or as the next turn of one of the caller's threads.

    These restrict which documents are searched: `tags` (documents with at least one of them), `since` (2025-03-01,
    2025-03 or 2025: dated then or later), `fields` (with one of the values for each name, as `{"region": ["EU"]}`), and
    `documents` (only these, by id, name or URI, and the files added to the conversation). For those left out, the
    thread's settings apply. `heard` is what other people said just before, if several people talk: the question may
    refer to it. `profile` is a built-in or saved one; `switches` change it for this question only, as
    `{"rerank": false}`. `search` says what is searched: passages, or the summaries (S) and questions (Q) derived from
    them; "+" adds passages, U is all three. `effort`: "quick" calls a language model once, "thorough" lets it plan and
    search by itself.

    The last event is the `result`. If its status is `needs_choice`, send one of the choices to `answer`.
    """

    async def prepare() -> TurnJob:
        from argot.graph.question_validation import check_question

        text = check_question(question, kb.settings.limits.max_question_chars)
        chosen = await apply_search_choice(kb.document_store, search, switches)
        settings = answer_settings(profile, context, tags, since, fields, documents=documents, effort=effort)
        own = await _start_thread(kb, principal, text, settings, chosen) if thread is None else thread
        return TurnJob(principal, own, text, heard=tuple(heard or ()), settings=settings, switches=chosen)

    return _turn_events(kb, principal, prepare)


async def _start_thread(
    kb: KnowledgeBase, principal: Principal, question: str, settings: AnswerSettings, switches: Switches | None
) -> str:
    """Start a thread, unless these settings allow no answer in it; return its id."""
    kb.warm_model()  # in parallel with loading the documents
    await _resolve_settings(kb, principal, settings, AnswerSettings(), switches)
    return (await (await kb.threads()).start(principal.name, question)).id


@usecase("asker", asks=True)
def ask_again(kb: KnowledgeBase, principal: Principal, *, thread: Text) -> AsyncGenerator[AskEvent]:
    """Answer the last question of a thread again; the new answer replaces the old one. Events as for `ask`.

    Feedback on the old answer is removed with it.

    Raises:
        Conflict: no question was asked in it yet.
    """

    async def find_question(run: RunContext) -> TurnJob:
        from argot.graph.run import read_last_turn

        last = await read_last_turn(await kb.graph(), run, thread)
        if last is None:
            raise Conflict(translate("Nothing was asked in thread '%(thread)s' yet. Ask a question.", thread=thread))
        await require_forgetting(kb, principal.name, thread, last.result.turn)
        await (await kb.threads()).forget_feedback(principal.name, thread, last.result.turn)
        await forget_shared(kb, thread, last.result.turn)
        return replace(turn, text=last.result.question)

    turn = TurnJob(principal, thread, "", "again")
    return _turn_events(kb, principal, turn, find_question)


@usecase("asker", asks=True)
def ask_in_sense(
    kb: KnowledgeBase, principal: Principal, *, thread: Text, turn: Turn, term: Text, sense: SenseId
) -> AsyncGenerator[AskEvent]:
    """Answer a turn's question again with another sense of a term, which is remembered for the thread.

    `term` is spelt as in the turn's `jargon` (`surface`), `sense` is one of `other_senses`. Events as for `ask`.

    Raises:
        NotFound: there is no such turn or term, or the term has no such sense.
    """

    async def find_question(run: RunContext) -> TurnJob:
        asked, read = await find_reading(kb, run, thread, turn, term)
        offered = await kb.blocking(kb.glossary.lookup.senses, principal, [read.term, read.surface])
        if all(one.id != sense for senses in offered.values() for one in senses):
            text = "“%(term)s” no longer has this sense. Ask again, and choose one of its senses."
            raise NotFound(translate(text, term=read.surface))
        # Under both spellings: the glossary's, and the one that the question has.
        chosen = dict.fromkeys((read.term, read.surface), sense)
        # The conversation may have continued since: asked again, the question has to stand alone.
        settings = AnswerSettings(effort=asked.effort)
        return TurnJob(principal, thread, asked.stand_alone_question, senses=chosen, settings=settings)

    return _turn_events(kb, principal, TurnJob(principal, thread, ""), find_question)


@usecase("asker", asks=True)
def answer(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    thread: Text,
    choice: Text,
    context: Text | None = None,
    profile: Text | None = None,
    switches: Switches | None = None,
    search: SearchChoice | None = None,
    tags: Tags | None = None,
    since: Text | None = None,
    fields: Fields | None = None,
    documents: Tags | None = None,
    effort: Effort | None = None,
) -> AsyncGenerator[AskEvent]:
    """Answer what Argot asked back in a thread: with one of the choices, or in words. Events as for `ask`.

    Without an `effort`, that of the question applies.
    """

    async def prepare() -> TurnJob:
        settings = answer_settings(profile, context, tags, since, fields, documents=documents, effort=effort)
        chosen = await apply_search_choice(kb.document_store, search, switches)
        return TurnJob(principal, thread, choice, "choice", settings=settings, switches=chosen)

    return _turn_events(kb, principal, prepare)


def answer_settings(
    profile: str | None,
    context: str | None,
    tags: Sequence[str] | None,
    since: str | None,
    fields: Mapping[str, Sequence[str]] | None,
    *,
    documents: Sequence[str] | None = None,
    effort: Effort | None = None,
) -> AnswerSettings:
    """Return the settings of its answer that a question gives.

    Raises:
        InvalidInput: `since` is no date.
    """
    if since and not is_partial_date(since):
        raise InvalidInput(f"'{since:.40}' is not a date. Write it as 2025-03-01, 2025-03 or 2025.")
    pairs = tuple(
        (name.strip().lower(), " ".join(one.split())) for name, some in (fields or {}).items() for one in some
    )
    labels, named = tuple(dict.fromkeys(tags or ())), tuple(documents or ())
    return AnswerSettings(profile or None, context or None, labels, since or "", pairs, named, effort)


async def run_context(
    kb: KnowledgeBase,
    principal: Principal,
    settings: AnswerSettings | None = None,
    thread: Thread | None = None,
    switches: Switches | None = None,
) -> RunContext:
    """Build the graph's context for one run on this principal's behalf.

    In a thread of theirs they also read its files, and the thread's settings apply where `settings` has none.
    `switches`: changes to the profile for this run.

    Raises:
        NotFound: there is no such context or document, or not for this principal.
        InvalidSettings: there is no such profile or switch.
        InvalidInput: no document that the principal may read has a field of that name.
    """
    from argot.graph.run_context import build_run_context

    thread_settings = thread.settings if thread else AnswerSettings()
    if thread is not None:
        principal = read_in_thread(principal, thread.id)
    chosen = await _resolve_settings(kb, principal, settings or AnswerSettings(), thread_settings, switches)
    # The glossary may have changed since it was last read, which on PostgreSQL needs a query.
    run = await kb.look_up(
        build_run_context, await kb.load(), kb.glossary, principal, chosen.profile, kb.settings, chosen.context,
        kb.model_server,
    )  # fmt: skip
    servers = await kb.blocking(load_tool_servers, kb.settings) if chosen.profile.effort == "thorough" else {}
    run = replace(run, tool_servers=servers, is_shut_out=kb.people.is_shut_out)
    return replace(run, scope=chosen.scope, documents=chosen.documents)


@dataclass(frozen=True, slots=True)
class _ResolvedSettings:
    profile: Profile
    context: str | None
    scope: QuestionScope
    documents: tuple[str, ...]


async def _resolve_settings(
    kb: KnowledgeBase,
    principal: Principal,
    settings: AnswerSettings,
    thread_settings: AnswerSettings,
    switches: Switches | None,
) -> _ResolvedSettings:
    """Resolve the names in the settings; those of `thread_settings` apply where `settings` has none.

    Raises:
        NotFound, InvalidSettings, InvalidInput: as `run_context`.
    """
    profile = change_switches(await choose_profile(kb, settings.profile, thread_settings.profile), switches or {})
    effort = settings.effort or thread_settings.effort
    if effort and effort != profile.effort and "effort" not in (switches or {}):
        profile = change_profile(profile, {"effort": effort})
    corpus = await kb.load()
    context = await _choose_context(kb, principal, settings.context, thread_settings.context)
    if settings.fields:
        await kb.blocking(require_fields, corpus.store, principal, settings.fields)
    fields = tuple(DocumentField(name, value) for name, value in settings.fields or thread_settings.fields)
    scope = QuestionScope(settings.tags or thread_settings.tags, settings.since or thread_settings.since, fields)
    named = await find_named_documents(kb, principal, settings.documents) or thread_settings.documents
    named, scope = await add_tagged_documents(kb, principal, named, scope)
    return _ResolvedSettings(profile, context, scope, named)


def strip_for_surfaces(event: AskEvent) -> AskEvent:
    """Return the event without its information for the glossary's managers."""
    return AskEvent(event.kind, event.name, event.seconds, event.data, event.model_seconds)


def note_learned(kb: KnowledgeBase, principal: Principal, thread: str, event: AskEvent) -> None:
    """Record a finished turn's information for the glossary's managers, once nobody waits for it."""
    from argot.graph.run import TurnEnded

    if isinstance(event, TurnEnded) and event.learned is not None:
        kb.chores.call(record_learned, kb, principal, thread, event.learned)


def note_cited(kb: KnowledgeBase, event: AskEvent) -> None:
    """Count the documents that an answer rests on, without the question and the asker."""
    if event.kind == "result" and isinstance(event.data, AskResult) and event.data.cited_passages:
        from argot.corpus.store.citation_counts import count_citations

        kb.chores.call(count_citations, kb.document_store, {one.uri for one in event.data.cited_passages})


def read_in_thread(principal: Principal, thread: str) -> Principal:
    """Return the same person with access to the files of this thread."""
    return replace(principal, groups=principal.groups | {f"{THREAD}{thread}"})


async def find_reading(
    kb: KnowledgeBase, run: RunContext, thread: str, turn: int, term: str
) -> tuple[AskResult, Jargon]:
    """Return a turn of a thread and how one of its terms was read, as this principal may see both now.

    Raises:
        NotFound: there is no such turn or no such term in it.
    """
    from argot.graph.run import read_turn

    found = await read_turn(await kb.graph(), run, thread, turn)
    for read in found.jargon if found else ():
        if found and term in {read.surface, read.term}:
            return found, read
    text = "“%(term)s” is not a term of that question. Reload the page and try again."
    raise NotFound(translate(text, term=term))


async def _choose_context(
    kb: KnowledgeBase, principal: Principal, named: str | None, thread_context: str | None
) -> str | None:
    """Return the asker's context in the glossary's spelling; None if the thread's is deleted."""
    wanted = named or thread_context
    if not wanted:
        return None
    known = {found.name.casefold(): found.name for found in await kb.blocking(kb.glossary.contexts.all, principal)}
    if wanted.casefold() not in known and named:
        raise build_unknown_name(named, known.values())
    # The thread's context may have been removed since; its questions continue without one.
    return known.get(wanted.casefold())


async def _turn_events(
    kb: KnowledgeBase,
    principal: Principal,
    turn: TurnJob | Callable[[], Awaitable[TurnJob]],
    find_question: Callable[[RunContext], Awaitable[TurnJob]] | None = None,
) -> AsyncGenerator[AskEvent]:
    """Yield the events of one turn in a thread of this principal's, while no other turn runs in it.

    When the result is yielded, it is durable. Closing this stops the work behind it. The information for the glossary's
    managers is recorded after the result, and delays nobody.

    Args:
        turn: the turn; or a function that prepares it when the first event is requested.
        find_question: returns the question, once the turn is the only one of its thread.

    Raises:
        NotFound: there is no such thread, or it is somebody else's.
    """
    job = turn if isinstance(turn, TurnJob) else await turn()
    threads = await kb.threads()
    async with kb.threads_turns.of(job.thread) as hold:
        # Within the turn, so that it goes by the thread as it is when its turn comes.
        own = await threads.own(principal.name, job.thread)
        if find_question is not None:
            job = await find_question(await run_context(kb, principal, thread=own))
        async with aclosing(kb.answers.events(job)) as events:
            while (event := await hold.take_next(events)) is not None:
                if event.kind == "result":
                    # Otherwise another service may have continued this thread, and the next event is its answer.
                    await hold.confirm(AnswerLost(LOST))
                    # Before the result is yielded: the list of threads shows the latest first.
                    await threads.touch(job.thread)
                try:
                    yield strip_for_surfaces(event)
                finally:
                    # In `finally`: also if the asker leaves as soon as the result is out.
                    note_learned(kb, principal, job.thread, event)
                    note_cited(kb, event)
                    note_tool_calls(kb, principal, event)
