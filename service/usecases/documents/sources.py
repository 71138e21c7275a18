"""Sources with which documents are synchronised: adding, listing, syncing, removing them."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Collection
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic import AfterValidator, Field, TypeAdapter

from argot.clock import utc_now
from argot.corpus.connectors.source_store import (
    DAY_SECONDS,
    SourceKind,
    SourceRecord,
    SourceStore,
    SyncProblem,
    SyncState,
    compute_retry_seconds,
)
from argot.errors import Conflict, build_name_refusal
from argot.service.blocking_work import stream
from argot.service.identity.people import make_local_principal
from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.scrubbing import scrub_stores
from argot.service.usecases.audited_cases import note_sync
from argot.service.usecases.documents.documents import forget_quotes
from argot.service.usecases.documents.source_access import (
    drop_hidden_names,
    drop_hidden_problems,
    get_visible_source,
    list_hidden_addresses,
    list_visible_sources,
)
from argot.service.usecases.documents.source_options import (
    check_address,
    check_options,
    find_kind,
    name_of,
    parse_seconds,
    require_admin,
)
from argot.service.usecases.operations.queued_work import follow_job
from argot.service.usecases.usecase_registry import Event, Finished, Reader, Text, get_outcome, usecase
from argot.types import Principal, distinct_tags
from argot.work.job_kinds import job_kind
from argot.work.job_types import JobRequest, JobRun, TellProgress

if TYPE_CHECKING:
    from argot.corpus.connectors.synchronisation import SyncEvent, Synchronisation
    from argot.corpus.corpus import Corpus
    from argot.work.job_types import Jobs

__all__ = ["SourceKind", "SourceRecord", "SyncProblem"]

logger = logging.getLogger(__name__)

KINDS: tuple[SourceKind, ...] = get_args(SourceKind)


def _check_source_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise ValueError("use 1 to 64 letters of a to z, digits, '.', '_' or '-', beginning with a letter or digit")
    return name


SourceName = Annotated[Text, AfterValidator(_check_source_name)]
Address = Annotated[Text, Field(max_length=2000)]
SomePatterns = Annotated[list[Text], Field(max_length=100)]

SYNC = "sync"
"""The kind of the jobs that sync a source."""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """Numbers of documents of a source by outcome. `state`: synced, held or failed; `detail` says why.

    `problems` are the first of those that `failed`; the next sync tries them again. `near`: the first added ones that
    are nearly the same as other documents. `waiting` is the number that wait for a confirmation before they are
    removed, and `gone` the names of the first of them.
    """

    source: str
    state: SyncState
    detail: str
    added: int
    updated: int
    renamed: int
    removed: int
    unchanged: int
    duplicate: int
    skipped: int
    failed: int
    waiting: int
    problems: list[SyncProblem]
    near: list[SyncProblem]
    gone: list[str]


_REPORT = TypeAdapter(SyncReport)


@dataclass(frozen=True, slots=True)
class SyncUnderWay:
    """Progress of a sync: `done` of the `total` documents to read or remove; 0 while it still compares."""

    source: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class RemovedSource:
    """A source with which documents are no longer synchronised. `removed`: documents that were removed with it."""

    name: str
    removed: int
    kept: int


# -- naming them ------------------------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def source_add(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    address: Address,
    name: SourceName | None = None,
    kind: SourceKind | None = None,
    include: SomePatterns | None = None,
    exclude: SomePatterns | None = None,
    audience: list[Reader] | None = None,
    tags: list[Text] | None = None,
    every: Text = "",
    options: dict[Text, Text] | None = None,
    variables: dict[Text, Text] | None = None,
) -> SourceRecord:
    """Add a source with which documents are kept in step; nothing is read before it is synced.

    Only an admin may add folders and other sources on the server's own machine or in its network. `every`: "30m", "6h"
    or "1d", how often a running service syncs it. `audience` and `tags` apply to new documents. `variables`: options
    whose values are read from these environment variables, as secrets should be.

    Raises:
        InvalidInput: the address or an option is not valid.
        Conflict: there is a source of this name.
        NotAllowed: there is one, and it is hidden from the caller, who is only told that the name cannot be used.
    """
    found = kind or find_kind(address)
    record = SourceRecord(
        name=name or name_of(found, address),
        kind=found,
        address=address,
        options=check_options(found, include, exclude, options or {}, variables or {}),
        audience=frozenset(audience or ()),
        tags=distinct_tags(tags or ()),
        every=parse_seconds(every),
    )
    require_admin(principal, record)
    await kb.blocking(check_address, kb.home, record)
    try:
        return await kb.blocking(SourceStore(kb.document_store.database).add, record)
    except Conflict:
        visible = await kb.blocking(list_visible_sources, kb, principal)
        if all(one.name != record.name for one in visible):
            raise build_name_refusal(record.name) from None
        raise


@usecase("manager", everywhere=True)
async def source_list(kb: KnowledgeBase, principal: Principal) -> list[SourceRecord]:
    """List the sources whose documents the caller may read, each with its options, schedule and last sync."""
    return await kb.blocking(list_visible_sources, kb, principal)


@usecase("manager", everywhere=True)
async def source_remove(
    kb: KnowledgeBase, principal: Principal, *, name: Text, with_documents: bool = False
) -> RemovedSource:
    """Remove a source, so that documents are no longer kept in step with it.

    The documents stay, unless they are to be removed with it; documents that the caller may not read stay in any case.

    Raises:
        NotFound: there is no such source.
        Conflict: it is being synced.
    """
    store = SourceStore(kb.document_store.database)
    record = await kb.blocking(get_visible_source, kb, principal, name)
    async with kb.jobs.run_here(_sync_job(principal, name)):
        removed = 0
        if with_documents:
            corpus = await kb.load()
            from argot.corpus.connectors.synchronisation import remove_documents

            turn = kb.writing.turns()
            async with aclosing(stream(lambda: remove_documents(corpus, name, turn, principal))) as uris:
                removed = len([uri async for uri in uris])
            await _forget_removed(kb, corpus)
        await kb.blocking(store.remove, name)
    return RemovedSource(name, removed, record.documents - removed)


# -- syncing them -----------------------------------------------------------------------------------------------------


@usecase("manager", everywhere=True)
async def source_sync(
    kb: KnowledgeBase, principal: Principal, *, name: Text, confirm: bool = False, patient: bool = False
) -> AsyncIterator[Event | Finished[SyncReport]]:
    """Bring the documents in step with a source. Events: one for each document that is new, changed or gone.

    Only changes are read. If the source does not answer, nothing is removed; if it lost more than half of its
    documents, they are removed only with `confirm`. Files that failed are tried again each time. With `patient`, as in
    scheduled syncs, they are tried again at growing intervals, unless they have changed.

    Raises:
        NotFound: there is no such source.
        Conflict: it is being synced already.
    """
    await kb.blocking(get_visible_source, kb, principal, name)
    # The whole record: the stored record of a sync is for everyone who may read the source.
    record = await kb.blocking(SourceStore(kb.document_store.database).get_source, name)
    job = _sync_job(principal, name, confirm=confirm, patient=patient)
    if await kb.jobs.has_workers(SYNC):
        async with aclosing(follow_job(kb.jobs, job)) as events:
            async for event in events:
                yield Finished(_REPORT.validate_python(event.data)) if isinstance(event, Finished) else event
        return
    async with (
        kb.jobs.run_here(job) as tell,
        aclosing(_sync_in_steps(kb, principal, record, tell, confirm=confirm, patient=patient)) as steps,
    ):
        async for step in steps:
            yield step


@usecase("manager", everywhere=True)
async def source_sync_start(
    kb: KnowledgeBase, principal: Principal, *, name: Text, confirm: bool = False
) -> SyncUnderWay:
    """Start `source_sync` in the background; `source_progress` returns the progress.

    Raises:
        NotFound: there is no such source.
        Conflict: it is being synced already.
    """
    await kb.blocking(get_visible_source, kb, principal, name)
    job = await kb.jobs.submit(_sync_job(principal, name, confirm=confirm))
    return SyncUnderWay(name, job.done, job.total)


@usecase("manager", everywhere=True)
async def source_progress(kb: KnowledgeBase, principal: Principal) -> list[SyncUnderWay]:
    """List the sources that are being synced now, whoever started it."""
    known = {one.name for one in await kb.blocking(list_visible_sources, kb, principal)}
    found = [job for job in await kb.jobs.list_jobs(SYNC) if job.is_under_way and job.label in known]
    return [SyncUnderWay(job.label, job.done, job.total) for job in reversed(found)]


def _sync_job(principal: Principal, name: str, *, confirm: bool = False, patient: bool = False) -> JobRequest:
    """Describe the job that syncs one source, which no other job may sync at the same time."""
    parameters = {"name": name, "confirm": confirm, "patient": patient}
    return JobRequest(SYNC, principal, parameters, label=name, key=f"{SYNC}:{name}")


@job_kind(SYNC, busy="The source '{label}' is being synced. Wait until that is done, or stop it.")
async def sync_work(run: JobRun) -> Any:
    """Return a `SyncReport` as JSON; None if another job has synced it since it was due."""
    kb, parameters = run.kb, run.parameters
    record = await kb.blocking(SourceStore(kb.document_store.database).get_source, parameters["name"])
    if parameters["patient"] and not is_sync_due(record, utc_now()):
        return None
    steps = _sync_in_steps(
        kb, run.principal, record, run.tell, confirm=parameters["confirm"], patient=parameters["patient"]
    )
    report = await get_outcome(steps)
    note_sync(kb, run.principal, record.name, report)
    log = logger.info if report.state == "synced" else logger.warning
    log("source %s: %s", record.name, report.detail or report.state)
    return convert_to_json(report)


async def sync_put(jobs: Jobs, name: str) -> None:
    """Have a source synced that is due. What was put aside stays there.

    Raises:
        Conflict: it is being synced.
    """
    await jobs.submit(_sync_job(make_local_principal(), name, patient=True), again=False)


def is_sync_due(record: SourceRecord, now: datetime) -> bool:
    if not record.every:
        return False
    if record.tried_at is None:
        return True
    wait = record.every
    if record.failures:
        wait = compute_retry_seconds(record.failures, longest=max(record.every, DAY_SECONDS))
    return now >= datetime.fromisoformat(record.tried_at) + timedelta(seconds=wait)


async def _sync_in_steps(
    kb: KnowledgeBase,
    principal: Principal,
    record: SourceRecord,
    tell: TellProgress,
    *,
    confirm: bool,
    patient: bool,
) -> AsyncGenerator[Event | Finished[SyncReport]]:
    corpus = await kb.load()
    from argot.corpus.connectors.connector_choice import make_connector
    from argot.corpus.connectors.synchronisation import Synchronisation

    total = 0
    hidden = await kb.blocking(list_hidden_addresses, kb, principal, record.name)
    async with kb.writing.adding:
        sync = Synchronisation(
            corpus,
            record,
            lambda: make_connector(record),
            turn=kb.writing.turns(),
            by=principal,
            confirmed=confirm,
            patient=patient,
        )
        async with aclosing(stream(sync.run)) as events:
            async for event in events:
                total = event.total or total
                # Without the name: a viewer of the job may have fewer rights than its creator.
                tell(event.done, total)
                yield _hide_documents(event, hidden)
    if sync.counts["removed"]:
        await _forget_removed(kb, corpus)
    yield Finished(_report(record, sync, hidden))


async def _forget_removed(kb: KnowledgeBase, corpus: Corpus) -> None:
    async with kb.writing:
        await kb.blocking(forget_quotes, kb, corpus)
    await scrub_stores(kb)


def _hide_documents(event: SyncEvent, hidden: Collection[str]) -> Event:
    # Progress is reported for all documents, their names only for readable ones.
    known = event.uri not in hidden
    return {
        "kind": event.kind if known else "progress",
        "name": event.name if known else "",
        "uri": event.uri if known else "",
        "detail": event.detail if known else "",
        "done": event.done,
        "total": event.total,
    }


def _report(record: SourceRecord, sync: Synchronisation, hidden: Collection[str]) -> SyncReport:
    counts = {
        name: sync.counts[name]
        for name in ("added", "updated", "renamed", "removed", "unchanged", "duplicate", "skipped", "failed")
    }
    return SyncReport(
        record.name,
        sync.state,
        sync.detail,
        **counts,
        waiting=len(sync.gone),
        problems=drop_hidden_problems(sync.first_problems, hidden),
        near=drop_hidden_problems(sync.first_near_duplicates, hidden),
        gone=drop_hidden_names(sync.first_removals, hidden),
    )
