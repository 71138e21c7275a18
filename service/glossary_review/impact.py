"""Impact of a change to the glossary on past questions, shown before the change is made.

The change is made in a copy of the glossary, by the same code, and the questions that mention its term are read and
searched twice: with the glossary, and with the copy. No answer is written, no language model called, nothing stored.
"""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cachetools import TTLCache

from argot.results import AskResult
from argot.service.glossary_review.impact_results import (
    Impact,
    PassageReached,
    QuestionAsRead,
    QuestionImpact,
    Source,
    TermReading,
)
from argot.service.glossary_review.occurrences import find_excerpt
from argot.types import Principal, Sense

if TYPE_CHECKING:
    from argot.graph.build import ArgotGraph
    from argot.graph.glossary_feedback import GlossaryFeedback
    from argot.graph.run_context import RunContext
    from argot.jargon_db.glossary import Glossary
    from argot.service.knowledge_base import KnowledgeBase

MAX_QUESTIONS = 30
SECONDS = 10.0
"""Time limit for asking questions; the remaining ones are counted and reported as left out."""
MAX_THREADS = 200
THREAD_SECONDS = 3.0
TOP = 3
"""Number of passages shown for each question. Changes in the ranks below do not count."""
EXCERPT = 200
AROUND = 45
"""Characters of an excerpt before and after the matched word."""
KEPT = 64
KEPT_SECONDS = 600.0

Apply = Callable[["Glossary"], object]
"""Makes the change in the given glossary."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change to be tried. `names` are the spellings its questions may use; `key` distinguishes it from other
    changes.
    """

    key: tuple[Any, ...]
    names: tuple[str, ...]
    apply: Apply


@dataclass(frozen=True, slots=True)
class PastQuestion:
    text: str
    source: Source


async def measure_effects(
    kb: KnowledgeBase, principal: Principal, change: Change, given: Sequence[str] = (), *, seconds: float = SECONDS
) -> Impact:
    """Return the questions this principal may see that mention the term, each before and after; those that change
    first.
    """
    corpus = await kb.load()
    # With the versions of both stores, so that any change to them invalidates the cache.
    key = (principal, change.key, tuple(given), await kb.blocking(kb.glossary.version), corpus.store.version)
    kept = kb.part(_make_impact_cache)
    if (known := kept.get(key)) is not None:
        return known
    begun = time.monotonic()
    questions = await find_mentions(kb, principal, change.names, given)
    rows = (
        await _compare_questions(kb, principal, change, questions[:MAX_QUESTIONS], begun + seconds) if questions else []
    )
    found = Impact(
        questions=len(questions),
        asked=len(rows),
        changed=sum(bool(row.changed) for row in rows),
        left_out=len(questions) - len(rows),
        seconds=round(time.monotonic() - begun, 2),
        rows=sorted(rows, key=lambda row: -len(row.changed)),
    )
    kept[key] = found
    return found


def _make_impact_cache() -> TTLCache[tuple[Any, ...], Impact]:
    return TTLCache(KEPT, KEPT_SECONDS)


# -- which questions --------------------------------------------------------------------------------------------------


async def find_mentions(
    kb: KnowledgeBase, principal: Principal, names: Sequence[str], given: Sequence[str] = ()
) -> list[PastQuestion]:
    """Return the questions that use one of these names: given ones first, then the principal's own, then those others
    shared.

    A thread belongs to its owner, whatever else somebody may read; of other people only shared questions are examined.
    """
    from argot.jargon_db.lookup.matcher import TermMatcher
    from argot.jargon_db.lookup.normalise import normalise
    from argot.jargon_db.lookup.spelling import Spelling

    matcher = TermMatcher(Spelling(name, name, normalise(name)) for name in names if normalise(name))
    missed = await kb.blocking(kb.glossary.misses.find, principal)
    own = await _list_own_questions(kb, principal)
    mine = {question.text for question in own}
    # The principal's own are not repeated as those of others, since misses contain them, too.
    others = [PastQuestion(text, "missed") for miss in missed for text in miss.questions if text not in mine]
    found: dict[str, PastQuestion] = {}
    for question in (*(PastQuestion(text, "given") for text in given), *own, *others):
        text = question.text.strip()
        if text and len(text) <= kb.settings.limits.max_question_chars and text not in found and matcher.find(text):
            found[text] = replace(question, text=text)
    return list(found.values())


async def _list_own_questions(kb: KnowledgeBase, principal: Principal) -> list[PastQuestion]:
    """Return the questions that this person asked in the existing threads, the latest first."""
    from argot.graph.checkpoints.thread_history import read_past_turns

    threads, graph = await kb.threads(), await kb.graph()
    enough = time.monotonic() + THREAD_SECONDS
    asked: list[PastQuestion] = []
    # Reading hundreds of threads takes seconds, while somebody waits for a preview.
    for thread in (await threads.of(principal.name))[:MAX_THREADS]:
        values = (await graph.aget_state({"configurable": {"thread_id": thread.id}})).values
        # The latest turn joins the past ones only when the next begins.
        turns = [*read_past_turns(values), *([values] if values.get("question") else [])]
        asked += [PastQuestion(turn["stand_alone_question"], "yours") for turn in reversed(turns)]
        if time.monotonic() > enough:
            break
    return asked


# -- before and after -------------------------------------------------------------------------------------------------


async def _compare_questions(
    kb: KnowledgeBase, principal: Principal, change: Change, questions: Sequence[PastQuestion], until: float
) -> list[QuestionImpact]:
    from langgraph.checkpoint.memory import InMemorySaver

    from argot.graph.build import build_graph

    corpus = await kb.load()
    with tempfile.TemporaryDirectory(prefix="argot-effects-") as folder:
        # In a folder that only this user may read.
        glossary = await kb.blocking(_apply_change, kb.glossary, Path(folder) / "glossary.db", change)
        try:
            before = _make_run(kb, corpus, kb.glossary, principal)
            after = _make_run(kb, corpus, glossary, principal)
            graph = build_graph(InMemorySaver())
            rows: list[QuestionImpact] = []
            for question in questions:
                # At least one, so that there is a result on a slow machine.
                if rows and time.monotonic() > until:
                    break
                sides = [await _read_question(graph, run, question.text) for run in (before, after)]
                rows.append(_compare_sides(question, *sides))
            return rows
        finally:
            await kb.blocking(glossary.close)


def _apply_change(present: Glossary, path: Path, change: Change) -> Glossary:
    glossary = present.copy(path)
    try:
        change.apply(glossary)
    except BaseException:
        glossary.close()
        raise
    return glossary


def _make_run(kb: KnowledgeBase, corpus: Any, glossary: Glossary, principal: Principal) -> RunContext:
    """Make a run in which questions are only read and searched: no answer, no model, no queue, no choices."""
    from argot.graph.run_context import build_extractive_context

    # Stages that ask or write are switched off: they would take time, and change nothing that is compared.
    profile = kb.profiles.find(kb.settings.profile).model_copy(
        update={"misses": "lenient", "choose_sense": False, "generate_answer": False, "passages": TOP}
    )
    run = build_extractive_context(corpus, glossary, principal, profile, kb.settings)
    # A question that is only tried must not be counted as missed once more.
    return replace(run, records_misses=False)


async def _read_question(graph: ArgotGraph, run: RunContext, question: str) -> QuestionAsRead:
    """Read a question and search for it, in a separate thread."""
    from argot.graph.run import TurnEnded, ask

    result: AskResult | None = None
    learned: GlossaryFeedback | None = None
    # A random thread each time, so that one question does not read as a follow-up of another.
    async for event in ask(graph, run, question, secrets.token_hex(8)):
        if isinstance(event, TurnEnded) and isinstance(event.data, AskResult):
            result, learned = event.data, event.learned
    assert result is not None
    return _make_reading(result, learned)


def _make_reading(result: AskResult, learned: GlossaryFeedback | None) -> QuestionAsRead:
    guessed = set(learned.guessed) if learned else set()
    unknown = [*learned.missed, *learned.undefined] if learned else []
    words = [word for one in result.jargon for word in (one.expansion, one.surface) if word]
    terms = [
        TermReading(one.surface, one.term, one.expansion, one.context, one.term in guessed or one.surface in guessed)
        for one in result.jargon
    ]
    passages = [
        PassageReached(
            passage_id=one.passage_id,
            document=one.document,
            heading=one.heading,
            page=one.page,
            text=" ".join(one.text.split())[:EXCERPT],
            excerpt=_find_excerpt(one.text, [*words, *unknown]),
        )
        for one in result.passages[:TOP]
    ]
    query = result.search_queries[0] if result.search_queries else result.stand_alone_question
    return QuestionAsRead(terms, unknown, query, passages)


def _find_excerpt(text: str, words: Sequence[str]) -> tuple[str, str, str] | None:
    """Return the passage around the first of these words in it: before, the word, after. None: it contains none."""
    return next((found for word in words if (found := find_excerpt(text, word, AROUND))), None)


def _compare_sides(question: PastQuestion, before: QuestionAsRead, after: QuestionAsRead) -> QuestionImpact:
    changed: list[Literal["reading", "passages"]] = []
    if (before.terms, before.unknown) != (after.terms, after.unknown):
        changed.append("reading")
    # A different order counts too: an answer is written from the first passages.
    if _list_ids(before) != _list_ids(after):
        changed.append("passages")
    return QuestionImpact(
        question.text, question.source, changed, _mark_passages(before, after), _mark_passages(after, before)
    )


def _list_ids(side: QuestionAsRead) -> list[str]:
    return [one.passage_id for one in side.passages]


def _mark_passages(side: QuestionAsRead, other: QuestionAsRead) -> QuestionAsRead:
    """Mark in each passage whether only this side has it."""
    elsewhere = set(_list_ids(other))
    return replace(side, passages=[replace(one, only_here=one.passage_id not in elsewhere) for one in side.passages])


# -- changes ----------------------------------------------------------------------------------------------------------

TRIED = "tried before it is approved"
"""The reason given in the copy, where nobody has to justify a second meaning in a context."""


def plan_approval(glossary: Glossary, principal: Principal, sense_id: int) -> Change:
    """Return the change that approves a draft (or a retired sense).

    Raises:
        NotFound: there is no such sense, or not for this principal.
    """
    sense = glossary.senses.get(principal, sense_id)

    def apply(copy: Glossary) -> Sense:
        return copy.senses.approve(principal, sense_id, sense.version, TRIED)

    return Change(("approve", sense_id, sense.version), (sense.term, *sense.aliases), apply)


def plan_retirement(glossary: Glossary, principal: Principal, sense_id: int) -> Change:
    """Return the change that retires a sense.

    Raises:
        NotFound: there is no such sense, or not for this principal.
    """
    sense = glossary.senses.get(principal, sense_id)

    def apply(copy: Glossary) -> Sense:
        return copy.senses.retire(principal, sense_id, sense.version, TRIED)

    return Change(("retire", sense_id, sense.version), (sense.term, *sense.aliases), apply)


def plan_edit(
    glossary: Glossary, principal: Principal, sense_id: int, version: int, fields: Mapping[str, Any]
) -> Change:
    """Return the change that saves these fields of a sense, as `Senses.save` takes them.

    Raises:
        NotFound: there is no such sense, or not for this principal.
    """
    sense = glossary.senses.get(principal, sense_id)
    names = (sense.term, *sense.aliases, fields.get("term") or "", *(fields.get("aliases") or ()))

    def apply(copy: Glossary) -> Sense:
        return copy.senses.save(principal, sense_id, version=version, **fields, why=TRIED)

    # Lists cannot be part of a key.
    key = tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in fields.items())
    return Change(("edit", sense_id, version, key), tuple(dict.fromkeys(filter(None, names))), apply)


def plan_acceptance(glossary: Glossary, principal: Principal, proposal_id: int, context: str) -> Change:
    """Return the change that makes an approved sense of a proposal.

    Raises:
        NotFound: there is no such proposal, or not for this principal.
    """
    proposal = glossary.proposals.get(principal, proposal_id)
    chosen = context or proposal.context or ""

    def apply(copy: Glossary) -> Sense:
        return copy.proposals.accept(principal, proposal_id, context=chosen, status="approved", why=TRIED)

    return Change(("accept", proposal_id, chosen), (proposal.term,), apply)
