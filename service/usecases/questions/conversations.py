"""Conversations that the client stores: every request contains all messages, and none of them is stored here.

OpenAI's chat completions work this way. Argot's own questions are recovered from the messages: the previous question is
run again, which stops at the same point, and the next message is used as the reply to it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import ConfigDict, Field

from argot.errors import Conflict, InvalidInput
from argot.results import AskEvent, AskResult, Choice, FoundPassage, Jargon
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.scrubbing import scrub_stores
from argot.service.threads.thread_store import AnswerSettings
from argot.service.tool_servers import note_tool_calls
from argot.service.usecases.questions.attachments import (
    MAX_FILES,
    Base64,
    Name,
    add_file,
    decode_content,
    forget_files,
)
from argot.service.usecases.questions.profiles import Switches
from argot.service.usecases.questions.questions import (
    Fields,
    Tags,
    answer_settings,
    note_cited,
    note_learned,
    read_in_thread,
    run_context,
    strip_for_surfaces,
)
from argot.service.usecases.questions.search_choice import apply_search_choice
from argot.service.usecases.usecase_registry import Text, usecase
from argot.types import Effort, Principal, SearchChoice

if TYPE_CHECKING:
    from argot.graph.build import ArgotGraph
    from argot.graph.run_context import RunContext

MAX_MESSAGES = 2000
LATEST = 8
"""Maximum exchanges passed to the graph as history; it reads fewer."""
MAX_EXCHANGES = 50
"""Exchanges that are searched for choices."""
MAX_REPLIES = 3
"""How often one question can ask back (`argot.graph.state.MAX_QUESTIONS_BACK`); up to that many are run again."""
MAX_ANSWER_CHARS = 8000
"""Characters of an earlier answer that are examined."""
_OPTION = re.compile(r"^ {0,3}(\d{1,2})\. (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Message:
    """One message of a conversation; an assistant's is an answer without sources, as in `AskResult.answer`.

    Checked with the other parameters, not when it is made.
    """

    __pydantic_config__ = ConfigDict(extra="forbid", revalidate_instances="always")

    role: Literal["user", "assistant"]
    content: Text


@dataclass(frozen=True)
class AttachedPicture:
    """A picture that belongs to the last message: a file name, by whose suffix it is read, and its bytes (base64)."""

    __pydantic_config__ = ConfigDict(extra="forbid", revalidate_instances="always")

    name: Name
    content: Base64


Messages = Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)]
Pictures = Annotated[list[AttachedPicture], Field(max_length=MAX_FILES)]


@dataclass(frozen=True, slots=True)
class Exchange:
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class ConversationJob:
    """The last message of a conversation, to be answered (`argot.service.answer_jobs`).

    `asked`: the question, and each reply to Argot's own questions. `thread`: whose files are read, too; empty: none's.
    """

    principal: Principal
    past: tuple[Exchange, ...]
    asked: tuple[str, ...]
    settings: AnswerSettings
    thread: str = ""

    @property
    def name(self) -> str:
        """Name of the temporary thread, which nobody sees."""
        return _name_of(self.principal, self.past, self.asked[0])

    async def events(self, kb: KnowledgeBase) -> AsyncGenerator[AskEvent]:
        kb.warm_model()
        reader = read_in_thread(self.principal, self.thread) if self.thread else self.principal
        run, graph = await run_context(kb, reader, self.settings), await make_memory_graph(kb)
        try:
            turns, senses = await kb.blocking(_remember_choices, kb, self.principal, self.past)
            await _begin(graph, self.name, turns)
            async with aclosing(_answer_messages(graph, run, self.name, asked=self.asked, senses=senses)) as events:
                async for event in events:
                    yield event
        finally:
            await graph.checkpointer.adelete_thread(self.name)  # type: ignore[union-attr]


@dataclass(frozen=True, slots=True)
class SearchJob:
    """A search (`argot.service.answer_jobs`): a question that only needs passages, `limit` of them."""

    principal: Principal
    query: str
    limit: int
    settings: AnswerSettings
    switches: Switches | None

    async def events(self, kb: KnowledgeBase) -> AsyncGenerator[AskEvent]:
        from argot.graph.run import ask as ask_graph

        kb.warm_model()
        run = await run_context(kb, self.principal, self.settings, switches=self.switches)
        wanted = {"misses": "lenient", "choose_sense": False, "generate_answer": False, "passages": self.limit}
        # There can be no more passages than candidates.
        wanted |= {"candidates": max(run.profile.candidates, self.limit)}
        run = replace(run, profile=run.profile.model_copy(update=wanted), records_misses=False)
        # `id` is unique among the searches under way, and the thread is deleted at the end.
        thread, graph = f"search:{id(run)}", await make_memory_graph(kb)
        try:
            async with aclosing(ask_graph(graph, run, self.query, thread)) as events:
                async for event in events:
                    yield event
        finally:
            await graph.checkpointer.adelete_thread(thread)  # type: ignore[union-attr]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Passages that a search found, and the interpretation of its words."""

    query: str
    jargon: list[Jargon]
    context: str | None
    notes: list[str]
    passages: list[FoundPassage]


@usecase("asker", asks=True)
async def converse(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    messages: Messages,
    context: Text | None = None,
    profile: Text | None = None,
    tags: Tags | None = None,
    since: Text | None = None,
    fields: Fields | None = None,
    effort: Effort | None = None,
    pictures: Pictures | None = None,
) -> AsyncIterator[AskEvent]:
    """Answer the last message of a conversation, which is not stored. Events as for `ask`; `thread` is empty.

    `pictures` are read as files of a conversation are, and removed after the answer.

    Raises:
        InvalidInput: the last message is not the user's, or a picture cannot be read.
    """
    from argot.graph.question_validation import check_question

    past, asked = _split_exchanges(messages)
    for question in asked:
        check_question(question, kb.settings.limits.max_question_chars)
    settings = answer_settings(profile, context, tags, since, fields, effort=effort)
    job = ConversationJob(principal, tuple(past), tuple(asked), settings)
    async with (
        kb.threads_turns.of(job.name),
        _hold_pictures(kb, principal, job, pictures or []) as reading,
        aclosing(kb.answers.events(reading)) as events,
    ):
        async for event in events:
            yield _forget_thread(event)
            note_learned(kb, principal, job.name, event)
            note_cited(kb, event)
            note_tool_calls(kb, principal, event)


@asynccontextmanager
async def _hold_pictures(
    kb: KnowledgeBase, principal: Principal, job: ConversationJob, pictures: Sequence[AttachedPicture]
) -> AsyncGenerator[ConversationJob]:
    """Keep the pictures as documents of the job's temporary thread, which only this job reads."""
    if not pictures:
        yield job
        return
    try:
        async with kb.gates.attachments.place(principal):
            for one in pictures:
                await add_file(kb, job.name, one.name, decode_content(one.content, one.name))
        yield replace(job, thread=job.name)
    finally:
        await forget_files(kb, job.name)
        await scrub_stores(kb)


@usecase("asker", asks=True)
async def search(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    query: Text,
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
    context: Text | None = None,
    profile: Text | None = None,
    search: SearchChoice | None = None,
    tags: Tags | None = None,
    since: Text | None = None,
    fields: Fields | None = None,
) -> SearchResult:
    """Find the passages that answer a question best, as an answer would: with its jargon understood, re-ranked.

    `passages`, best first; `jargon`: how its terms were understood (Argot does not ask back and uses the likeliest
    sense); `context` and `notes` as in an answer. Unknown terms are not added to the managers' queue. `search` as in
    `ask`.
    """
    switches = await apply_search_choice(kb.document_store, search, None)
    settings = answer_settings(profile, context, tags, since, fields)
    found: AskResult | None = None
    async with aclosing(kb.answers.events(SearchJob(principal, query, limit, settings, switches))) as events:
        async for event in events:
            found = event.data if isinstance(event.data, AskResult) else found
    assert found is not None
    return SearchResult(found.question, found.jargon, found.context, found.notes, found.passages)


# -- walking through it again -----------------------------------------------------------------------------------------


async def make_memory_graph(kb: KnowledgeBase) -> ArgotGraph:
    """Return the graph over checkpoints in memory: nothing of these conversations is stored."""
    await kb.threads()  # sets a variable that langgraph reads on its first import
    return kb.part(_build_memory_graph)


def _build_memory_graph() -> ArgotGraph:
    from langgraph.checkpoint.memory import InMemorySaver

    from argot.graph.build import build_graph

    return build_graph(InMemorySaver())


async def _begin(graph: ArgotGraph, thread: str, turns: Sequence[Exchange]) -> None:
    """Make these turns the past of the thread."""
    from argot.graph.state import make_empty_turn

    # Without citations: the passages they rested on are unknown by now. The first turn of a conversation has number 0,
    # and is not among them where there are too many.
    records = [
        {
            **make_empty_turn(turn.question, number),
            "sentences": [{"gap": "", "text": turn.answer[:MAX_ANSWER_CHARS], "citations": []}] if turn.answer else [],
            "status": "answered",
        }
        for number, turn in list(enumerate(turns, int(len(turns) == MAX_EXCHANGES)))[-LATEST:]
    ]
    if records:
        # As if `abstain` had written it: after that node the graph is at its end and accepts a new question.
        await graph.aupdate_state({"configurable": {"thread_id": thread}}, {"turns": records}, as_node="abstain")


async def _answer_messages(
    graph: ArgotGraph, run: RunContext, thread: str, *, asked: Sequence[str], senses: dict[str, int]
) -> AsyncGenerator[AskEvent]:
    """Ask the first question, and pass the others as replies to Argot's questions; yield the events of the last."""
    from argot.graph.run import answer_choice, ask

    waiting = False
    for number, text in enumerate(asked):
        stream = answer_choice(graph, run, thread, text) if waiting else ask(graph, run, text, thread, senses=senses)
        senses = {}
        last = number == len(asked) - 1
        async with aclosing(stream) as events:
            async for event in events:
                if isinstance(event.data, AskResult):
                    waiting = bool(event.data.choices)
                    # The choice is settled by now: a mere choice answers nothing any more.
                    last = last or (not waiting and all(_is_choice(other) for other in asked[number + 1 :]))
                if last:
                    yield event
        if last:
            return


def _forget_thread(event: AskEvent) -> AskEvent:
    # The thread is deleted as soon as the answer is there, so its name is useless to anybody.
    if isinstance(event.data, AskResult):
        event = replace(event, data=event.data.model_copy(update={"thread": ""}))
    return strip_for_surfaces(event)


def _is_choice(text: str) -> bool:
    return len(text) <= 20 and bool(re.fullmatch(r"\W*(?:\d{1,2}|none|neither|anyway|answer anyway)\W*", text, re.I))


def _name_of(principal: Principal, past: Sequence[Exchange], question: str) -> str:
    # The same name for the same conversation, so that a repeated unknown term counts as one question.
    parts = [principal.name, question, *(text for one in past for text in (one.question, one.answer))]
    # ASCII's unit separator (31) between the texts keeps ("ab", "c") and ("a", "bc") apart.
    return f"c{hashlib.sha256(chr(31).join(parts).encode()).hexdigest()[:24]}"


# -- reading what was said --------------------------------------------------------------------------------------------


def _split_exchanges(messages: Sequence[Message]) -> tuple[list[Exchange], list[str]]:
    """Split messages into past questions with their answers, and the present question with replies to Argot's
    questions.

    Raises:
        InvalidInput: the last message is not the user's.
    """
    if messages[-1].role != "user":
        raise InvalidInput("The last message is not the user's. Send the question as the last message.")
    past: list[Exchange] = []
    question: str | None = None
    for message in messages[:-1]:
        if message.role == "user":
            if question is not None:
                # Two messages of the user in a row: the first got no answer.
                past.append(Exchange(question, ""))
            question = message.content
        elif question is not None:
            past.append(Exchange(question, message.content))
            question = None
    if question is not None:
        past.append(Exchange(question, ""))
    asked = [messages[-1].content]
    while past and len(asked) <= MAX_REPLIES and _is_asking_back(past[-1].answer):
        asked.insert(0, past.pop().question)
    return past[-MAX_EXCHANGES:], asked


def _is_asking_back(answer: str) -> bool:
    return _find_term(answer) is not None or "“answer anyway”" in answer


def _find_term(answer: str) -> str | None:
    """Return the term whose meaning an answer asks for; None if it asks for none."""
    from argot.graph.presentation.wording import write_document_choice, write_sense_choice, write_unknown_term

    # The wording with a NUL in place of the term: the text before and after it is searched.
    for text in (write_sense_choice("\x00", ()), write_unknown_term("\x00", ()), write_document_choice("\x00", ())):
        before, _, after = text.partition("\x00")
        found = re.search(f"{re.escape(before)}(.{{1,200}}?){re.escape(after)}", answer[:MAX_ANSWER_CHARS])
        if found:
            return found[1]
    return None


def _remember_choices(
    kb: KnowledgeBase, principal: Principal, past: Sequence[Exchange]
) -> tuple[list[Exchange], dict[str, int]]:
    """Return the exchanges, where choices are joined with the answer they led to; and the senses chosen, by term.

    Only senses that this person may read now.
    """
    turns: list[Exchange] = []
    senses: dict[str, int] = {}
    question: str | None = None
    for one in past:
        if question is not None and turns and (picked := _read_choice(kb, principal, turns[-1].answer, one.question)):
            senses |= {term: sense for term, sense in picked if sense}
            turns[-1] = Exchange(question, one.answer)
        else:
            turns.append(one)
            question = one.question
        if not _is_asking_back(one.answer):
            question = None
    return turns, senses


def _read_choice(kb: KnowledgeBase, principal: Principal, back: str, reply: str) -> list[tuple[str, int]]:
    """Return the term in question and the chosen sense (0: none of them); empty if the reply was no choice."""
    from argot.graph.choices import (
        ANSWER_ANYWAY,
        NONE_OF_THESE,
        SENSE,
        describe_choice,
        make_sense_choice,
        parse_choice,
    )

    term = _find_term(back)
    known = [] if term is None else kb.glossary.lookup.senses(principal, [term]).get(term, [])
    # A choice is written with its context unless all share one (`make_sense_choices`).
    forms = (make_sense_choice(term or "", sense, with_context=named) for named in (False, True) for sense in known)
    senses = {describe_choice(one): one for one in forms}
    choices = [Choice(answer=ANSWER_ANYWAY, term=""), Choice(answer=NONE_OF_THESE, term="")]
    none = describe_choice(choices[1])
    offered = [
        senses.get(text) or Choice(answer=NONE_OF_THESE if text == none else f"{number}:{text}", term=text)
        for number, text in _OPTION.findall(back[:MAX_ANSWER_CHARS])
    ]
    try:
        meant = parse_choice(reply, offered or choices)
    except (Conflict, InvalidInput):
        return []
    if meant is None:
        return []
    sense = int(meant.removeprefix(SENSE)) if meant.startswith(SENSE) else 0
    return [(term or "", sense)]
