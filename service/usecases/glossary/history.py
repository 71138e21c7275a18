"""History of the glossary, undoing changes, and the use of its terms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from pydantic import Field

from argot.clock import utc_now
from argot.jargon_db.store.history_entries import ChangeSet, HistoryEntry
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.glossary.senses import Limit, SenseId, Words
from argot.service.usecases.usecase_registry import Number, Text, usecase
from argot.types import Context, Principal, Sense

if TYPE_CHECKING:
    from argot.jargon_db.store.misses import WeekOfMisses
    from argot.jargon_db.store.usage import WeekOfUse

# For the surfaces, which may not import the glossary's own modules.
__all__ = ["ChangeSet", "HistoryEntry"]

WEEKS = 12
ChangeId = Number
Saved = TypeVar("Saved", Sense, Context)


@dataclass(frozen=True, slots=True)
class SavedSince(Generic[Saved]):
    """Stored value now, and in the version that somebody saw (None: unknown); who saved it last, when (ISO, UTC) and
    why.
    """

    current: Saved
    base: Mapping[str, Any] | None
    who: str
    at: str
    why: str


@dataclass(frozen=True, slots=True)
class TermUse:
    """Numbers of questions of each week in which a term was meant, or missed; `growth`: the second half of the weeks
    less the first.
    """

    term: str
    counts: list[int]
    total: int
    growth: int


@dataclass(frozen=True, slots=True)
class GlossaryUse:
    """The ISO weeks, oldest first; the terms that were meant, the most used first; and those that were missed, the most
    growing first.
    """

    weeks: list[str]
    used: list[TermUse]
    missed: list[TermUse]


async def glossary_version(kb: KnowledgeBase) -> int:
    """Counts up with every change, for callers that poll for changes. It tells nothing else."""
    return await kb.blocking(kb.glossary.version)


@usecase("manager")
async def glossary_history(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    term: Words | None = None,
    sense_id: SenseId | None = None,
    change: ChangeId | None = None,
    limit: Limit = 200,
) -> list[HistoryEntry]:
    """List changes with their author, time and reason, newest first: of a term, of a sense, of one change, or all."""
    return await kb.blocking(
        kb.glossary.history.entries, principal, term=term, sense_id=sense_id, change=change, limit=limit
    )


@usecase("manager")
async def glossary_changes(kb: KnowledgeBase, principal: Principal, *, limit: Limit = 50) -> list[ChangeSet]:
    """List the changes, newest first, each with everything that was done in it."""
    return await kb.blocking(kb.glossary.history.changes, principal, limit)


@usecase("manager")
async def glossary_roll_back(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    change: ChangeId | None = None,
    term: Words | None = None,
    moment: Text | ChangeId | None = None,
    why: Words = "",
    force: bool = False,
) -> ChangeSet:
    """Roll a change back, or restore a term as it was at a moment.

    The moment is a date, or the number of a change.
    """
    return await kb.blocking(
        kb.glossary.history.roll_back, principal, change, term=term, moment=moment, why=why, force=force
    )


@usecase("manager")
async def glossary_since(
    kb: KnowledgeBase, principal: Principal, *, sense_id: SenseId, version: Number
) -> SavedSince[Sense]:
    """Return a sense as it was in a version, and as it is now, to resolve a concurrent edit.

    Also returns who saved it last. `base` is None if that version is not known.
    """
    current = await kb.blocking(kb.glossary.senses.get, principal, sense_id)
    # `between` counts saves in this list: with more than 1,000 of them since, the base is not known.
    every = await kb.blocking(kb.glossary.history.entries, principal, sense_id=sense_id, limit=1000)
    entries = [one for one in every if one.before != one.after]  # accepting a conflict of the sense saved nothing
    return collect_saves(current, entries, version)


def collect_saves(current: Saved, entries: Sequence[HistoryEntry], version: int) -> SavedSince[Saved]:
    """Collect the saves since a version, by the entries of each, newest first."""
    # Every save increments the version by one: the entry that many saves ago contains the value before it.
    ago = current.version - version
    base = entries[ago - 1].before if 0 < ago <= len(entries) else None
    if not entries:
        return SavedSince(current, base, who="", at="", why="")
    last = entries[0]
    return SavedSince(current, base, last.who, last.at, last.why)


@usecase("manager")
async def glossary_use(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    term: Words | None = None,
    weeks: Annotated[int, Field(ge=2, le=52)] = WEEKS,
) -> GlossaryUse:
    """Count the questions that used each term, and those that missed each, in the last weeks.

    `weeks`: the ISO weeks, oldest first. `used` and `missed`: each `term` with its `counts` (one a week), their `total`
    and its `growth`: the second half of the weeks minus the first. The most used come first, and the most growing.
    """
    from argot.jargon_db.store.usage import format_week

    today = utc_now()
    named = [format_week(today - timedelta(weeks=ago)) for ago in reversed(range(weeks))]
    used = await kb.blocking(kb.glossary.usage.by_week, principal, term)
    missed = await kb.blocking(kb.glossary.misses.by_week, principal) if term is None else []
    return GlossaryUse(
        named,
        sorted(_group_by_term(used, named), key=lambda one: (-one.total, one.term)),
        sorted(_group_by_term(missed, named), key=lambda one: (-one.growth, -one.total, one.term)),
    )


def _group_by_term(counted: Iterable[WeekOfUse | WeekOfMisses], weeks: list[str]) -> list[TermUse]:
    rows: defaultdict[str, list[int]] = defaultdict(lambda: [0] * len(weeks))
    place = {week: number for number, week in enumerate(weeks)}
    for one in counted:
        # Counts are kept for longer than the weeks that are shown.
        if one.week in place:
            rows[one.term][place[one.week]] += one.count
    # With an odd number of weeks the middle one is in neither half.
    half = len(weeks) // 2
    return [
        TermUse(term, counts, sum(counts), sum(counts[-half:]) - sum(counts[:half])) for term, counts in rows.items()
    ]
