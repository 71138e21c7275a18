"""Rating studies whose answers come from this knowledge base: asked through profiles, or judged by a thumb."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from argot.errors import InvalidInput, TooManyQuestions
from argot.ratings.passage_files import MAX_PASSAGES
from argot.ratings.store.rating_store import RatingStore
from argot.ratings.study import Answer, NewItem, Sources, Study, StudyItem, StudyKind
from argot.ratings.study_files import MAX_SYSTEMS, read_plain_questions
from argot.ratings.usecases.studies import Lines, StudyForm, StudySummary, store_study, summarize_study
from argot.results import AskResult
from argot.service.knowledge_base import KnowledgeBase
from argot.service.threads.thread_store import AnswerSettings
from argot.service.usecases.moments import Moment
from argot.service.usecases.questions.conversations import make_memory_graph
from argot.service.usecases.questions.profiles import get_profile
from argot.service.usecases.questions.questions import run_context
from argot.service.usecases.usecase_registry import Event, Finished, Text, usecase
from argot.types import Principal

if TYPE_CHECKING:
    from argot.graph.run_context import RunContext

ProfileNames = Annotated[list[Text], Field(max_length=MAX_SYSTEMS)]
RETRIEVED = 10
"""Passages that are judged of each question, as many as *Trustworthy Answers* looks at (4.2)."""
WAIT_SECONDS = 2.0
"""Pause before the next try when the service is busy: people's questions take precedence."""


@usecase("manager", everywhere=True)
async def rating_create_asked(
    kb: KnowledgeBase, principal: Principal, *, form: StudyForm, questions: Lines, profiles: ProfileNames | None = None
) -> StudySummary:
    """Create a study of questions that are to be asked through two or more profiles.

    One question a line, as plain text or as JSON with `question` and `reference`. `rating_ask` asks them; raters see
    each question once it has all its answers. For the `kind` "passages", one profile searches the passages; for
    "references" it also answers. Without a named profile it is that of the service.

    Raises:
        InvalidInput: too few or too many profiles, or a line is wrong.
        InvalidSettings: there is no such profile.
        Conflict: there is a study of this name.
    """
    single = form.kind != "answers"
    wanted = await _require_profiles(kb, profiles or ([kb.settings.profile] if single else []))
    if single and len(wanted) > 1:
        raise InvalidInput("Passages are those that one profile finds. Name one.")
    if not single and len(wanted) < 2:
        raise InvalidInput("To compare, name two profiles or more. See them with: argot profile list")
    return await store_study(kb, principal, form, read_plain_questions(questions), "profiles", wanted)


@usecase("manager", everywhere=True)
async def rating_create_from_thumbs(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    form: StudyForm,
    value: Literal[-1, 1] | None = None,
    since: Moment = "",
    profiles: ProfileNames | None = None,
) -> StudySummary:
    """Create a study of the answers that askers rated with a thumb and shared.

    They are those that `feedback_list` shows to the caller, without who asked. Only managers of all contexts can be
    invited, because the askers shared the answers with nobody else. `value`: only those with this thumb; `since`: an
    ISO date or time. With `profiles` the same questions are also asked through these (`rating_ask`). An asker who takes
    a thumb back, or deletes the conversation, removes the question from the study.

    Raises:
        InvalidInput: nobody shared such an answer, or the study is of passages.
    """
    from argot.graph.presentation.turn_view import assemble

    if form.kind != "answers":
        raise InvalidInput("Of answers with thumbs people judge the answers alone. Ask questions, or give a file.")
    wanted = await _require_profiles(kb, profiles or [])
    run = await run_context(kb, principal)
    judged = await (await kb.threads()).list_judged(since)
    shared = [one for one in judged if one.said.shared and one.turn and value in {None, one.said.value}]

    def items() -> list[NewItem]:
        found = ((one, assemble(one.turn, run, "")) for one in shared)
        return [
            NewItem(
                result.stand_alone_question or result.question,
                answers=(Answer(f"given ({result.profile or 'default'})", result.answer, collect_sources(result)),),
                thread=one.said.thread,
                turn=one.said.turn,
            )
            for one, result in found
            if result.answer
        ]

    made = await kb.blocking(items)
    if not made:
        raise InvalidInput("Nobody has shared such an answer by a thumb. See what there is: argot threads feedback")
    return await store_study(kb, principal, form, made, "thumbs", wanted)


@usecase("manager", everywhere=True)
async def rating_ask(
    kb: KnowledgeBase, principal: Principal, *, study: Text
) -> AsyncIterator[Event | Finished[StudySummary]]:
    """Ask the questions of a study through its profiles, as far as answers are missing.

    It can be stopped at any time and called again: answers so far are kept. Events: `asking` with `done`, `total`,
    `question` and `name` (the profile). Argot does not ask back: if several senses or documents fit, the best one is
    used. From a study of passages, a question is removed if no passage is found for it; from a study of references also
    if it gets no answer.
    """
    found = await kb.blocking(kb.open_store(RatingStore).get_study, study)
    items = await kb.blocking(kb.open_store(RatingStore).list_items, found)
    missing = [(item, profile) for item in items for profile in _find_unanswered(found, item)]
    total = len(items) * len(found.profiles)
    for done, (item, profile) in enumerate(missing, total - len(missing)):
        yield {"kind": "asking", "done": done, "total": total, "question": item.question, "name": profile}
        result = await _ask_profile(kb, principal, item.question, profile, found.kind)
        if found.kind == "answers":
            answer = Answer(profile, result.answer, collect_sources(result))
            await kb.blocking(kb.open_store(RatingStore).add_answer, item.id, answer)
        else:
            await kb.blocking(kb.open_store(RatingStore).add_passages, item.id, *_take_passages(result, found.kind))
    yield Finished(await kb.blocking(summarize_study, kb, found))


def collect_sources(result: AskResult) -> Sources:
    """Collect all sources of an answer: passages that it does not cite may be in its words, too."""
    documents = dict.fromkeys(one.uri for one in result.passages)
    stated = [*(one.sense_id for one in result.jargon), *(one.sense_id for one in result.sentences)]
    return Sources(tuple(documents), tuple(dict.fromkeys(filter(None, stated))))


def _take_passages(result: AskResult, kind: StudyKind) -> tuple[list[Answer], list[str]]:
    """Return the passages in the order found; of references also the sentences that could rest on them."""
    # Sentences from the glossary rest on no passage.
    sentences = [one.text for one in result.sentences if not one.sense_id] if kind == "references" else []
    if kind == "references" and not sentences:
        return [], []
    passages = []
    for number, one in enumerate(result.passages[:MAX_PASSAGES], 1):
        sources = collect_sources(result) if sentences else Sources((one.uri,))
        passages.append(Answer(str(number), one.text, sources, " > ".join(filter(None, (one.document, one.heading)))))
    return passages, sentences


def _find_unanswered(study: Study, item: StudyItem) -> list[str]:
    if study.kind != "answers":
        return [] if item.answers else list(study.profiles)
    there = {one.system for one in item.answers}
    return [profile for profile in study.profiles if profile not in there]


async def _require_profiles(kb: KnowledgeBase, profiles: list[str]) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(profiles))
    for name in wanted:
        await get_profile(kb.profiles, name)
    return wanted


async def _ask_profile(
    kb: KnowledgeBase, principal: Principal, question: str, profile: str, kind: StudyKind
) -> AskResult:
    run = await run_context(kb, principal, AnswerSettings(profile))
    # Nobody can choose; and terms in a study's questions must not be counted as missed.
    wanted: dict[str, object] = {"choose_sense": False, "choose_document": False}
    if run.profile.misses == "ask" or kind == "passages":
        wanted |= {"misses": "lenient"}
    if kind == "passages":
        # There can be no more passages than candidates.
        candidates = max(run.profile.candidates, RETRIEVED)
        wanted |= {"generate_answer": False, "passages": RETRIEVED, "candidates": candidates}
    # What another server says is its asker's alone: nobody could rate an answer from it.
    run = replace(run, profile=run.profile.model_copy(update=wanted), records_misses=False, tool_servers={})
    while True:
        try:
            async with kb.gates.questions.place(principal):
                return await _answer(kb, run, question)
        except TooManyQuestions:
            await asyncio.sleep(WAIT_SECONDS)


async def _answer(kb: KnowledgeBase, run: RunContext, question: str) -> AskResult:
    from argot.graph.run import ask

    thread, graph = f"rating:{secrets.token_hex(8)}", await make_memory_graph(kb)
    found: AskResult | None = None
    try:
        async with aclosing(ask(graph, run, question, thread)) as events:
            async for event in events:
                found = event.data if isinstance(event.data, AskResult) else found
    finally:
        await graph.checkpointer.adelete_thread(thread)  # type: ignore[union-attr]
    assert found is not None
    return found
