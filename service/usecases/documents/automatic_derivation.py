"""Texts that the service derives from documents automatically: their kinds, the progress with each, and the budget."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from argot.clock import utc_now
from argot.corpus.ingestion.derivation import DERIVABLE_KINDS
from argot.corpus.ingestion.derivation_states import DerivationState, DerivationStates
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.derivation_servers import has_server
from argot.service.usecases.usecase_registry import Text, usecase
from argot.settings import Settings
from argot.types import DerivableKind, Document, Principal, is_of_thread
from argot.work.schedule import ScheduleState, is_done_by_a_service

Progress: TypeAlias = Literal["waiting", "being derived", "derived", "failed", "over budget", "not wanted"]


DERIVE = "derive"
"""The kind of the jobs that derive texts from a document."""
UNASKED = "derive unasked"
"""The name of the scheduled work that has them done."""


def make_derivation_key(document: str) -> str:
    """Return the key of such a job."""
    return f"{DERIVE}:{document}"


@dataclass(frozen=True, slots=True)
class DocumentProgress:
    """Progress with a document. `tries`: those that failed; `detail`: why; `tried_at`: ISO 8601, UTC."""

    document: str
    name: str
    state: Progress
    tries: int = 0
    detail: str = ""
    tried_at: str = ""


@dataclass(frozen=True, slots=True)
class DerivationStatus:
    """Progress of automatically derived texts, and the amount spent on them today (UTC).

    `kinds`: the kinds to derive; none: nothing is derived. `running`: whether a service does it now; `resting`: why it
    waits. `calls_per_day`: 0 is unlimited.
    """

    kinds: list[DerivableKind]
    running: bool
    resting: str
    calls_per_day: int
    calls_today: int
    tokens_today: int
    counts: dict[Progress, int]
    documents: list[DocumentProgress]


@dataclass(slots=True)
class Doing:
    """Derivation in progress.

    `document`: the present one; `put_off`: the documents at which the server has failed since its last success.
    """

    document: str = ""
    put_off: set[str] = field(default_factory=set)


def doing_now(kb: KnowledgeBase) -> Doing:
    return kb.part(Doing)


@usecase("manager")
async def derivation_status(
    kb: KnowledgeBase, principal: Principal, *, documents: list[Text] | None = None
) -> DerivationStatus:
    """Show the progress of automatic derivation for the documents named.

    Without documents, it covers all that the caller may read. `state`: waiting, being derived, derived, failed (with
    `detail` and `tries`), over budget (until midnight UTC), or not wanted: automatic derivation is off, or it is a file
    of a conversation.
    """
    store = kb.document_store
    if documents:
        found = [await kb.blocking(store.document, principal, one) for one in documents]
    else:
        found = await kb.blocking(store.documents, principal)
    keys = {job.key for job in await kb.jobs.list_jobs(DERIVE) if job.state == "running"}
    is_running = await is_done_by_a_service(kb, UNASKED)
    return await kb.blocking(_count_status, kb, found, keys, is_running=is_running)


def _count_status(
    kb: KnowledgeBase, documents: list[Document], keys: set[str], *, is_running: bool
) -> DerivationStatus:
    settings, states = kb.settings, DerivationStates(kb.document_store.database)
    spent, limit = states.read_spending(find_budget_day(utc_now())), settings.derivation.calls_per_day
    has_model = bool(settings.model_server.url or settings.vision.url)
    is_spent = bool(limit) and spent.calls >= limit and has_model
    noted = states.read_states()
    shown = [
        DocumentProgress(one.id, one.name, "being derived")
        if make_derivation_key(one.id) in keys
        else _show_progress(kb, one, noted.get(one.id), is_spent=is_spent)
        for one in documents
    ]
    return DerivationStatus(
        kinds=list_wanted_kinds(settings),
        running=is_running,
        resting=kb.part(ScheduleState).resting.get(UNASKED, ""),
        calls_per_day=limit,
        calls_today=spent.calls,
        tokens_today=spent.tokens,
        counts=dict(Counter(one.state for one in shown)),
        documents=shown,
    )


def _show_progress(
    kb: KnowledgeBase, document: Document, noted: DerivationState | None, *, is_spent: bool
) -> DocumentProgress:
    id_, name = document.id, document.name
    if not list_wanted_kinds(kb.settings) or is_of_thread(document.audience):
        return DocumentProgress(id_, name, "not wanted")
    if doing_now(kb).document == id_:
        return DocumentProgress(id_, name, "being derived")
    if noted and noted.wanted == describe_wanted_texts(kb.settings):
        return DocumentProgress(id_, name, noted.state, noted.tries, noted.detail, noted.tried_at)
    return DocumentProgress(id_, name, "over budget" if is_spent else "waiting")


def list_wanted_kinds(settings: Settings) -> list[DerivableKind]:
    """The kinds of texts that are made unasked, in the order in which they are made; none: nothing is."""
    if settings.derivation.in_background == "off":
        return []
    named = settings.derivation.kinds.split(",")
    found = [kind for kind in DERIVABLE_KINDS if kind in named and has_server(settings, kind)]
    by_rules = not settings.model_server.url and settings.derivation.in_background == "always"
    return ["triple", *found] if by_rules else found


def describe_wanted_texts(settings: Settings) -> str:
    """The same as it is noted of a document that is done."""
    kinds = list_wanted_kinds(settings)
    return ",".join(kinds) + (" by rules" if "triple" in kinds and not settings.model_server.url else "")


def find_budget_day(now: datetime) -> str:
    """Return the day, in UTC, for which present spending counts."""
    return now.date().isoformat()
