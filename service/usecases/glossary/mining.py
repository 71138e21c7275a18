"""Terms and meanings proposed from the documents themselves: watched to the end, or in the background."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from argot.errors import Conflict, NotFound
from argot.jargon_db.glossary import Glossary
from argot.jargon_db.lookup.normalise import normalise
from argot.service.blocking_work import stream
from argot.service.glossary_review.document_mining import FoundMeaning, Mining, unread
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.operations.queued_work import stop_job
from argot.service.usecases.usecase_registry import Count, Event, Finished, Text, usecase
from argot.types import Audience, Principal
from argot.work.job_kinds import job_kind
from argot.work.job_types import JobRequest, JobRun, JobState


@dataclass(frozen=True, slots=True)
class MinedQuote:
    """The id of a passage, and its words that state a meaning."""

    passage: str
    quote: str


@dataclass(frozen=True, slots=True)
class MinedMeaning:
    """A meaning stated in documents. `id` is its proposal's, None if none was stored; `score` is in [0, 1]; `count`:
    how many passages state it, of which `evidence` quotes the best; `audience`: the readers of their documents.
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
    """Outcome of a run: the most certain of the `offered` meanings; how many documents were read, and how many
    `skipped`, because they were mined before; how many passages they have; how many meanings were `found`, `known` to
    the glossary already, and `decided` on before. `stored`: whether proposals were made.
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
    """Progress of a run in the background: `name` is the present document, `done` of `total` documents are read;
    `offered` counts meanings. `unread` of the readable `documents` were not mined yet.
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
    """Propose meanings from definitions in the documents that were not mined before.

    Only documents that the caller may read are mined. Events:
    `{"kind": "progress", "name", "done", "total", "offered"}`. The result has the surest `proposals`, at most `limit`
    (with `stored` false for a `dry_run`, which reads all documents), and the numbers of `offered` meanings, of
    `documents` read and `skipped` (mined before; not with `again`), of `passages`, and of meanings `found`, `known` to
    the glossary already and `decided` before. No proposal becomes a sense by itself, and dismissed ones stay dismissed.
    Results are stored every few documents, so the next run continues where this one stopped.

    Raises:
        NotFound: there is no such context.
    """
    if context is not None:
        context = await kb.blocking(_find_context, kb.glossary, principal, context)
    mining = Mining(kb.document_store, kb.glossary, principal, context, stored=not dry_run, again=again)
    # One run after the other: two concurrent ones would read the same documents and make the same proposals.
    async with kb.jobs.turn(MINE), aclosing(stream(mining.run)) as steps:
        async for step in steps:
            yield {"kind": "progress", **asdict(step)}
    report = MiningReport(
        proposals=[_convert_meaning(one) for one in mining.best(limit)],
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


def _convert_meaning(one: FoundMeaning) -> MinedMeaning:
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


def _find_context(glossary: Glossary, principal: Principal, name: str) -> str:
    """
    Raises:
        NotFound: there is no such context, or not for this person.
    """
    for context in glossary.contexts.all(principal):
        if normalise(context.name) == normalise(name):
            return context.name
    raise NotFound(f"There is no context '{name}'. See them with: argot context list")


# -- in the background ------------------------------------------------------------------------------------------------

MINE = "mine"
"""The kind of the jobs that mine the documents."""
STATES: Mapping[JobState, Literal["running", "done", "stopped", "failed"]] = {
    "waiting": "running",
    "running": "running",
    "done": "done",
    "failed": "failed",
    "aside": "failed",
    "cancelled": "stopped",
}


@usecase("manager")
async def glossary_mine_start(kb: KnowledgeBase, principal: Principal, *, again: bool = False) -> MiningStatus:
    """Start mining in the background, unless a run of the caller's is under way.

    `glossary_mined` returns the progress.
    """
    with suppress(Conflict):
        await kb.jobs.begin(JobRequest(MINE, principal, {"again": again}, key=_make_key(principal)))
    return await glossary_mined.function(kb, principal)


@usecase("manager")
async def glossary_mine_stop(kb: KnowledgeBase, principal: Principal) -> MiningStatus:
    """Stop the caller's own run. The proposals found so far stay."""
    job = await kb.jobs.find_latest(MINE, _make_key(principal))
    if job is not None and job.is_under_way:
        await stop_job(kb.jobs, job.id)
    return await glossary_mined.function(kb, principal)


@usecase("manager")
async def glossary_mined(kb: KnowledgeBase, principal: Principal) -> MiningStatus:
    """Show the progress of the caller's last run.

    `state` (idle, running, done, stopped, failed), `name` of the document, `done` of `total`, `offered` meanings,
    `error`. `unread`: how many of the `documents` that the caller may read were not mined yet.
    """

    def count_documents() -> tuple[int, int]:
        return len(kb.document_store.documents(principal)), len(unread(kb.document_store, kb.glossary, principal))

    job = await kb.jobs.find_latest(MINE, _make_key(principal))
    documents, new = await kb.blocking(count_documents)
    if job is None:
        return MiningStatus("idle", "", 0, 0, 0, "", documents, new)
    offered = (job.outcome or {}).get("offered", 0)
    return MiningStatus(STATES[job.state], job.doing, job.done, job.total, offered, job.error, documents, new)


def _make_key(principal: Principal) -> str:
    return f"{MINE}/{principal.name}"


@job_kind(
    MINE,
    busy="Your documents are being mined.",
    is_retried=False,
    fault="Something went wrong. The service's log has the details.",
)
async def mine_work(run: JobRun) -> Any:
    """Mine the documents; return the number of meanings `offered`."""
    found = {"offered": 0}
    # Nobody sees the report: a limit of 1, the minimum, saves assembling it.
    async with aclosing(glossary_mine.function(run.kb, run.principal, limit=1, **run.parameters)) as events:
        async for event in events:
            if not isinstance(event, Finished):
                found = {"offered": event["offered"]}
                run.tell(event["done"], event["total"], event["name"], found)
    return found
