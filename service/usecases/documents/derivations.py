"""Derived texts and triples by the language model, for existing documents.

The work runs beside questions and may be stopped at any time: every passage is stored as soon as it is done, and the
next run makes only the missing texts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, TypeAdapter

from argot.service.json_values import convert_to_json
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.documents.derivation_run import (
    DERIVE_DOCUMENTS,
    DerivationRun,
    DeriveReport,
    DerivingTurn,
    plan_jobs,
    to_the_end,
)
from argot.service.usecases.documents.derivation_servers import require_servers
from argot.service.usecases.operations.queued_work import follow_job
from argot.service.usecases.usecase_registry import Event, Finished, Text, usecase
from argot.types import DerivableKind, Document, Principal
from argot.work.job_kinds import job_kind
from argot.work.job_types import JobRequest, JobRun

if TYPE_CHECKING:
    from argot.corpus.ingestion.derivation import DerivedStock, Recipe

__all__ = ["DeriveReport"]

Kinds = Annotated[list[DerivableKind], Field(min_length=1)]
_REPORT = TypeAdapter(DeriveReport)


@dataclass(frozen=True, slots=True)
class DerivedTexts:
    """Numbers of texts that one prompt and model made, of passages and documents; `outdated`: by a former prompt."""

    kind: DerivableKind
    prompt: str
    model: str
    documents: int
    passages: int
    texts: int
    outdated: bool


@dataclass(frozen=True, slots=True)
class DerivedList:
    """Derived texts by kind, and the number of passages of all documents that the principal may read."""

    rows: list[DerivedTexts]
    passages: int


@dataclass(frozen=True, slots=True)
class RemovedTexts:
    """Numbers of removed texts, by kind."""

    removed: dict[DerivableKind, int]


@usecase("manager", everywhere=True)
async def derive(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    kinds: Kinds,
    documents: list[Text] | None = None,
    renew: bool = False,
) -> AsyncIterator[Event | Finished[DeriveReport]]:
    """Derive texts of these kinds from the documents named (or from all), where they are missing. `picture` takes a
    vision model, the other kinds take a language model.

    Events: `{"kind": "progress", "name", "done", "total"}`; the result says what was made. With `renew`, texts made
    with an earlier prompt or another model are also made again and replaced. A passage whose reply from the model could
    not be used is named, and tried again by the next run.

    Raises:
        InvalidSettings: the settings name no server for one of these kinds.
        ModelUnavailable: it does not answer, or stopped answering; the texts made until then are kept.
        Conflict: another derivation is running.
    """
    require_servers(kb.settings, kinds)
    parameters = {"kinds": kinds, "documents": documents, "renew": renew}
    job = JobRequest(DERIVE_DOCUMENTS, principal, parameters, key=DERIVE_DOCUMENTS)
    async with aclosing(follow_job(kb.jobs, job)) as events:
        async for event in events:
            yield Finished(_REPORT.validate_python(event.data)) if isinstance(event, Finished) else event


@job_kind(
    DERIVE_DOCUMENTS,
    busy="Texts are being derived already. Wait until that is done, or stop it.",
    is_retried=False,
    is_possible=lambda settings: bool(settings.model_server.url or settings.vision.url),
)
async def derive_documents_work(run: JobRun) -> Any:
    """Make texts for the documents named; the `DeriveReport` as JSON."""
    from argot.corpus.ingestion.derivation_states import DerivationStates
    from argot.service.usecases.documents.derivers import Derivers

    kb, principal, kinds = run.kb, run.principal, run.parameters["kinds"]
    require_servers(kb.settings, kinds)
    deriver = await Derivers.open(kb, kinds)
    corpus = await kb.load()
    found = await _find_documents(kb, principal, run.parameters["documents"])
    names = {document.id: document.name for document in found}
    # A kind that is named twice is made once.
    recipes = [deriver.recipe(kind) for kind in dict.fromkeys(kinds)]
    # Automatic derivation waits meanwhile, and does not repeat this work.
    async with kb.part(DerivingTurn):
        jobs = await kb.blocking(plan_jobs, corpus, found, recipes, run.parameters["renew"])
        deriving = DerivationRun(kb, corpus, principal, deriver, jobs, names=names)
        async with aclosing(deriving.events()) as events:
            async for event in events:
                run.tell(event["done"], event["total"], event["name"])
    states = DerivationStates(corpus.store.database)
    await kb.blocking(states.forget_failures, list(names))
    return convert_to_json(deriving.result())


@usecase("manager", everywhere=True)
async def derived_list(kb: KnowledgeBase, principal: Principal) -> DerivedList:
    """List the texts derived from the documents that the caller may read, by kind, prompt and model.

    `rows` give the numbers of documents, of passages they were made from, and of texts; `outdated`: made with an
    earlier prompt. Triples that were added together with the documents have neither prompt nor model, and name no
    passages.
    """
    from argot.corpus.ingestion.derivation import RULES_MODEL, read_stock
    from argot.tools.llm.deriver import name_prompts

    store = kb.document_store
    readable = {document.id: document for document in await kb.blocking(store.documents, principal)}
    held: defaultdict[Recipe, list[DerivedStock]] = defaultdict(list)
    for one in await kb.blocking(lambda: read_stock(store.database.connection())):
        if one.document in readable:
            held[one.recipe].append(one)
    rows = [
        DerivedTexts(
            kind=recipe.kind,
            prompt=recipe.prompt,
            model=recipe.model,
            documents=len(found),
            passages=sum(one.passages for one in found),
            texts=sum(one.texts for one in found),
            # Triples that came with a document have no prompt; neither they nor those from rules can be outdated.
            outdated=bool(recipe.prompt) and recipe.model != RULES_MODEL and recipe.prompt != name_prompts(recipe.kind),
        )
        for recipe, found in held.items()
    ]
    return DerivedList(rows, sum(document.passages for document in readable.values()))


@usecase("manager", everywhere=True)
async def derived_remove(
    kb: KnowledgeBase, principal: Principal, *, kinds: Kinds, documents: list[Text] | None = None
) -> RemovedTexts:
    """Remove derived texts of these kinds, from the documents named or from all that the caller may read.

    Triples that were added together with a document stay.
    """
    from argot.corpus.ingestion import derivation

    corpus = await kb.load()
    removed = dict.fromkeys(kinds, 0)

    def take_out(document: Document) -> None:
        with corpus.changing() as parts:
            for kind in removed:
                removed[kind] += derivation.take_out(parts, document.id, kind)

    for document in await _find_documents(kb, principal, documents):
        # Taken for each document separately, so that other changes get their turn in between.
        async with kb.writing:
            await to_the_end(kb, take_out, document)
    return RemovedTexts(removed)


async def _find_documents(kb: KnowledgeBase, principal: Principal, wanted: Sequence[str] | None) -> list[Document]:
    """
    Raises:
        NotFound, InvalidInput: one of those wanted does not exist, or several have its name.
    """
    store = kb.document_store
    if not wanted:
        return await kb.blocking(store.documents, principal)
    found = [await kb.blocking(store.document, principal, one) for one in wanted]
    return list({document.id: document for document in found}.values())
