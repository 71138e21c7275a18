"""Terms and meanings proposed from what the documents themselves say: watched to the end, or in the background."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from typing import Annotated, Literal
from weakref import WeakKeyDictionary

from pydantic import Field

from argot.errors import ArgotError, NotFound
from argot.jargon_db.glossary import Glossary
from argot.jargon_db.lookup.normalise import normalise
from argot.service.blocking_work import stream
from argot.service.glossary_review.document_mining import FoundMeaning, Mining, unread
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import Count, Event, Finished, Text, usecase
from argot.types import Audience, Principal

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MinedQuote:
    """The id of a passage, and its words that give a meaning."""

    passage: str
    quote: str


@dataclass(frozen=True, slots=True)
class MinedMeaning:
    """A meaning that documents give. `id` is its proposal's, None where none was stored; `score` is in [0, 1]; `count`:
    how many passages give it, of which `evidence` quotes the best; `audience`: who may read their documents.
    """

    id: int | None
    term: str
    expansion: str
    description: str
    score: float
    count: int
    kinds: list[str]
    audience: Audience
    evidence: list[MinedQuote]


@dataclass(frozen=True, slots=True)
class MiningReport:
    """What a run came to: the surest of the `offered` meanings; how many documents were read, and how many `skipped`,
    as they were mined before; how many passages they have; how many meanings were `found`, `known` to the glossary
    already, and `decided` on before. `stored`: whether proposals were made.
    """

    proposals: list[MinedMeaning]
    offered: int
    documents: int
    skipped: int
    passages: int
    found: int
    known: int
    decided: int
    stored: bool


@dataclass(frozen=True, slots=True)
class MiningStatus:
    """How far a run in the background is: `name` is the document that is read, `done` of `total` documents are;
    `offered` counts meanings. `unread` of the `documents` that one may read were not mined yet.
    """

    state: Literal["idle", "running", "done", "stopped", "failed"]
    name: str
    done: int
    total: int
    offered: int
    error: str
    documents: int
    unread: int


@usecase("manager")
async def glossary_mine(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    limit: Annotated[Count, Field(ge=1)] = 100,
    context: Text | None = None,
    dry_run: bool = False,
    again: bool = False,
) -> AsyncIterator[Event | Finished[MiningReport]]:
    """Propose meanings from the definitions in the documents one may read that were not mined before.

    Events: `{"kind": "progress", "name", "done", "total", "offered"}`; the result holds the surest `proposals`, at most
    `limit` (with `stored` false for a `dry_run`, which reads all documents), and the numbers of `offered` meanings, of
    `documents` read and `skipped` (mined before; not with `again`), `passages`, meanings `found`, `known` to the
    glossary already and `decided` before. Nothing becomes a sense, and what was dismissed stays dismissed.
    Every few documents what was found is stored: stopped half way, the next run goes on there.

    Raises:
        NotFound: there is no such context.
    """
    if context is not None:
        context = await kb.blocking(_context_named, kb.glossary, principal, context)
    mining = Mining(kb.document_store, kb.glossary, principal, context, stored=not dry_run, again=again)
    # One run after the other: two at once would read the same documents and make the same proposals.
    async with _of(kb).turn, aclosing(stream(mining.run)) as steps:
        async for step in steps:
            yield {"kind": "progress", **asdict(step)}
    report = MiningReport(
        proposals=[_mined_meaning(one) for one in mining.best(limit)],
        offered=len(mining.offered),
        documents=mining.documents,
        skipped=mining.skipped,
        passages=mining.passages,
        found=mining.found,
        known=mining.known,
        decided=mining.decided,
        stored=not dry_run,
    )
    yield Finished(report)


def _mined_meaning(one: FoundMeaning) -> MinedMeaning:
    mined = one.mined
    return MinedMeaning(
        id=one.proposal,
        term=mined.term,
        expansion=mined.expansion,
        description=mined.description,
        score=mined.score,
        count=mined.count,
        kinds=list(mined.kinds),
        audience=one.audience,
        evidence=[MinedQuote(passage, quote) for passage, quote in mined.evidence],
    )


def _context_named(glossary: Glossary, principal: Principal, name: str) -> str:
    """
    Raises:
        NotFound: there is no such context, or not for this person.
    """
    for context in glossary.contexts.all(principal):
        if normalise(context.name) == normalise(name):
            return context.name
    raise NotFound(f"There is no context '{name}'. See them with: argot context list")


# -- in the background ------------------------------------------------------------------------------------------------


@dataclass
class Job:
    """How far somebody's run is. It goes on when they leave, and ends with the service; the next goes on there."""

    state: Literal["running", "done", "stopped", "failed"] = "running"
    name: str = ""
    done: int = 0
    total: int = 0
    offered: int = 0
    error: str = ""
    task: asyncio.Task[None] | None = field(default=None, repr=False)


@dataclass
class _Jobs:
    """Those of one knowledge base, by person; one after the other."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    by_person: dict[str, Job] = field(default_factory=dict)


_jobs: WeakKeyDictionary[KnowledgeBase, _Jobs] = WeakKeyDictionary()


def _of(kb: KnowledgeBase) -> _Jobs:
    return _jobs.setdefault(kb, _Jobs())


@usecase("manager")
async def glossary_mine_start(kb: KnowledgeBase, principal: Principal, *, again: bool = False) -> MiningStatus:
    """Begin mining in the background; if one's own run is under way, that goes on. How far it is: `glossary_mined`."""
    jobs = _of(kb).by_person
    if principal.name not in jobs or jobs[principal.name].state != "running":
        job = jobs[principal.name] = Job()
        # Not a part of this request: it goes on when whoever began it has left.
        job.task = kb.beside(_mine(kb, principal, job, again))
    return await glossary_mined.function(kb, principal)


@usecase("manager")
async def glossary_mine_stop(kb: KnowledgeBase, principal: Principal) -> MiningStatus:
    """Stop one's own run. What it found so far stays."""
    job = _of(kb).by_person.get(principal.name)
    if job is not None and job.task is not None and not job.task.done():
        job.task.cancel()
        await asyncio.gather(job.task, return_exceptions=True)
        # A task that is cancelled before its first step never reaches the handler in `_mine`.
        job.state = "stopped" if job.state == "running" else job.state
    return await glossary_mined.function(kb, principal)


@usecase("manager")
async def glossary_mined(kb: KnowledgeBase, principal: Principal) -> MiningStatus:
    """How far one's own last run is: `state` (idle, running, done, stopped, failed), `name` of the document, `done` of
    `total`, `offered` meanings, `error`. And of the `documents` one may read, how many were not mined yet (`unread`).
    """

    def counted() -> tuple[int, int]:
        return len(kb.document_store.documents(principal)), len(unread(kb.document_store, kb.glossary, principal))

    documents, new = await kb.blocking(counted)
    job = _of(kb).by_person.get(principal.name)
    if job is None:
        return MiningStatus("idle", "", 0, 0, 0, "", documents, new)
    return MiningStatus(job.state, job.name, job.done, job.total, job.offered, job.error, documents, new)


async def _mine(kb: KnowledgeBase, principal: Principal, job: Job, again: bool) -> None:
    try:
        # Nobody sees the report: a limit of 1, the least, spares putting it together.
        async with aclosing(glossary_mine.function(kb, principal, limit=1, again=again)) as events:
            async for event in events:
                if not isinstance(event, Finished):
                    job.name, job.done, job.total = event["name"], event["done"], event["total"]
                    job.offered = event["offered"]
        job.state = "done"
    except asyncio.CancelledError:
        job.state = "stopped"
        raise
    except ArgotError as error:
        job.state, job.error = "failed", str(error)
    # Nobody awaits this task: only its state can tell that it failed.
    except Exception:
        logger.exception("mining the documents failed")
        job.state, job.error = "failed", "Something went wrong. The log of the service tells more."
