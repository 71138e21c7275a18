"""The state of a service and its knowledge base in one result, for administrators who look for a fault."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast

from argot import __version__
from argot.errors import ArgotError, InvalidSettings
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.findings import Finding, make_bad_finding, make_good_finding
from argot.service.maintenance.job_check import check_jobs
from argot.service.maintenance.licences import InstalledPackage, list_licences
from argot.service.maintenance.model_checks import NAME, VISION_NAME
from argot.service.maintenance.process_checks import EMBEDDER, RERANKER, SETTING
from argot.service.maintenance.recent_checks import RecentChecks
from argot.service.maintenance.settings_in_force import SettingShown, list_settings
from argot.service.maintenance.storage_sizes import StoreSize, check_free_space, measure_free_space, measure_stores
from argot.service.observability.metrics import ModelFailure
from argot.service.storage.damage import require_readable
from argot.service.storage.home_folder import read_noted_backup
from argot.service.storage.opened_stores import describe_place
from argot.service.usecases.documents.dustbin import removed_list
from argot.service.usecases.operations.job_queue import JobShown, job_list
from argot.service.usecases.usecase_registry import Text, usecase
from argot.sqlite_database import SqliteStores
from argot.types import Principal
from argot.work.job_types import UNDER_WAY

if TYPE_CHECKING:
    from argot.postgresql.stores import PostgresqlStores
    from argot.tools.llm.endpoint import Endpoint

T = TypeVar("T")

READY_SECONDS = 3.0
MAX_FAILED_JOBS = 20


@dataclass(frozen=True, slots=True)
class ServiceHealth:
    """The process that answers, and the findings of its checks.

    `opened_at`: when it opened the knowledge base. `answers`: which process gives them. `processes`: those that have a
    knowledge base on PostgreSQL open, each with its machine.
    """

    version: str
    opened_at: str
    answers: str
    questions_running: int
    questions_waiting: int
    processes: list[str]
    findings: list[Finding]


@dataclass(frozen=True, slots=True)
class ServerInUse:
    """A model server of the settings. `address`: host and port, empty if there is none; `model`: empty if unknown.

    `does_answer`: None if there is no server.
    """

    address: str
    model: str
    does_answer: bool | None
    detail: str


@dataclass(frozen=True, slots=True)
class ModelsInUse:
    """The models that answers rest on. `last_failure`: the last failed call to a server since the service started."""

    language: ServerInUse
    vision: ServerInUse
    profile: str
    embedder: str
    reranker: str
    last_failure: ModelFailure | None


@dataclass(frozen=True, slots=True)
class JobsUnderWay:
    """Jobs that wait or run, and the latest of those that failed or were put aside."""

    under_way: list[JobShown] = field(default_factory=list)
    failed: list[JobShown] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class StoredAmounts:
    """The contents of the knowledge base in numbers, and the space that they take.

    `place`: its folder, or its PostgreSQL without user and password; `last_backup`: empty if none is known of;
    `documents`, `passages`, `vectors`, `removed`: -1 if they cannot be counted.
    """

    place: str
    stores: list[StoreSize]
    free_bytes: int
    documents: int
    passages: int
    vectors: int
    removed: int
    last_backup: str


@dataclass(frozen=True, slots=True)
class Administration:
    """The state of the service and its settings. `settings`: those that were asked for."""

    health: ServiceHealth
    models: ModelsInUse
    settings: list[SettingShown]
    jobs: JobsUnderWay
    storage: StoredAmounts
    licences: list[InstalledPackage]


@usecase("admin")
async def administration(
    kb: KnowledgeBase, principal: Principal, *, search: Text = "", changed: bool = False
) -> Administration:
    """Return the health of the service, its models, settings, jobs, storage and the licences of its packages.

    `search`: only settings whose name, group, value or description has all these words. `changed`: only settings that
    differ from their defaults. Secrets are never contained: settings say whether they are set.
    """
    findings = await _find_faults(kb)
    jobs = await _guard(findings, "jobs", _read_jobs(kb, principal)) or JobsUnderWay()
    storage = await _measure_storage(kb, principal, findings)
    processes = await _guard(findings, "processes", kb.blocking(_list_processes, kb)) or []
    health = ServiceHealth(
        __version__,
        kb.opened_at,
        kb.answers.describe(),
        kb.gates.questions.running,
        kb.gates.questions.waiting,
        processes,
        # Settings have a part of their own; the others come in the order in which problems should be mended.
        sorted((one for one in findings if not one["name"].startswith(SETTING)), key=lambda one: one["ok"]),
    )
    licences = await kb.blocking(list_licences)
    shown = [one for one in list_settings(kb.settings) if _is_wanted(one, search, changed=changed)]
    return Administration(health, _describe_models(kb, findings), shown, jobs, storage, list(licences))


# -- health -----------------------------------------------------------------------------------------------------------


async def _find_faults(kb: KnowledgeBase) -> list[Finding]:
    return [
        await _check_readiness(kb),
        *await kb.part(RecentChecks).find(kb.settings),
        check_free_space(kb.home),
        *await check_jobs(kb.jobs),
    ]


async def _check_readiness(kb: KnowledgeBase) -> Finding:
    """Check the conditions that `/ready` reports."""
    try:
        kb.gates.questions.require_open()
        async with asyncio.timeout(READY_SECONDS):
            await kb.blocking(require_readable, kb.home, kb.stores)
        await kb.require_answering()
    except ArgotError as error:
        return make_bad_finding("ready", str(error), "see the message; argot doctor looks at every store")
    except TimeoutError:
        return make_bad_finding("ready", f"a store does not answer within {READY_SECONDS:.0f} seconds", "argot doctor")
    return make_good_finding("ready", "the stores answer, and questions are accepted")


def _list_processes(kb: KnowledgeBase) -> list[str]:
    return [] if isinstance(kb.stores, SqliteStores) else cast("PostgresqlStores", kb.stores).list_processes()


# -- models -----------------------------------------------------------------------------------------------------------


def _describe_models(kb: KnowledgeBase, findings: list[Finding]) -> ModelsInUse:
    return ModelsInUse(
        _describe_server(findings, NAME, lambda: kb.model_server, kb.settings.model_server.name),
        _describe_server(findings, VISION_NAME, lambda: kb.vision_server, kb.settings.vision.name),
        kb.settings.profile,
        _get_detail(findings, EMBEDDER),
        _get_detail(findings, RERANKER),
        kb.metrics.last_model_failure if kb.metrics else None,
    )


def _describe_server(
    findings: list[Finding], name: str, find: Callable[[], Endpoint | None], named: str
) -> ServerInUse:
    detail = _get_detail(findings, name)
    try:
        server = find()
    except InvalidSettings as error:
        return ServerInUse("", named, does_answer=False, detail=str(error))
    if server is None:
        return ServerInUse("", "", does_answer=None, detail=detail)
    does_answer = any(one["name"] == name and one["ok"] for one in findings)
    return ServerInUse(str(server.address), server.known.model if server.known else named, does_answer, detail)


def _get_detail(findings: list[Finding], name: str) -> str:
    return next((one["detail"] for one in findings if one["name"] == name), "")


# -- settings ---------------------------------------------------------------------------------------------------------


def _is_wanted(one: SettingShown, search: str, *, changed: bool) -> bool:
    text = f"{one.name} {one.group} {one.value} {one.description}".lower()
    return (one.is_changed or not changed) and all(word in text for word in search.lower().split())


# -- jobs and stores --------------------------------------------------------------------------------------------------


async def _read_jobs(kb: KnowledgeBase, principal: Principal) -> JobsUnderWay:
    found = await job_list.function(kb, principal)
    failed = [one for one in found if one.state in ("failed", "aside")]
    return JobsUnderWay([one for one in found if one.state in UNDER_WAY], failed[:MAX_FAILED_JOBS])


async def _measure_storage(kb: KnowledgeBase, principal: Principal, findings: list[Finding]) -> StoredAmounts:
    async def count(what: str, counting: Callable[[], int]) -> int:
        found = await _guard(findings, what, kb.blocking(counting))
        return -1 if found is None else found

    removed = await _guard(findings, "dustbin", removed_list.function(kb, principal))
    return StoredAmounts(
        place=describe_place(kb.stores) or str(kb.home),
        stores=await _guard(findings, "sizes", kb.blocking(_measure_sizes, kb)) or [],
        free_bytes=measure_free_space(kb.home),
        documents=await count("documents", lambda: len(kb.document_store.documents(principal))),
        passages=await count("passages", lambda: kb.document_store.count_passages(principal)),
        vectors=await count("vectors", lambda: sum(kb.corpus.vectors.counts().values())),
        removed=-1 if removed is None else len(removed),
        last_backup=await kb.blocking(read_noted_backup, kb.home),
    )


def _measure_sizes(kb: KnowledgeBase) -> list[StoreSize]:
    found = list(measure_stores(kb.home))
    if not isinstance(kb.stores, SqliteStores):
        from argot.service.maintenance.postgresql_checks import measure_schema

        found.insert(0, StoreSize("PostgreSQL", measure_schema(cast("PostgresqlStores", kb.stores))))
    return found


async def _guard(findings: list[Finding], name: str, work: Awaitable[T]) -> T | None:
    """Return the result of a part; None if it fails, with a finding that says why. The other parts are shown all the
    same.
    """
    try:
        return await work
    except ArgotError as error:
        findings.append(make_bad_finding(name, str(error), "see the message; argot doctor looks at every store"))
        return None
