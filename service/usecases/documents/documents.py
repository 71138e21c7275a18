"""Documents: adding, removing, listing, reading. Every read goes through the store's own check of who may read."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from argot.errors import InvalidInput, NotFound
from argot.service.blocking_work import HandOver, progress_events, stream
from argot.service.json_values import PassageShown, convert_to_json, read_audience, show_passage
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.erasing import erase_documents, require_erasing
from argot.service.maintenance.language_advice import advise_on_languages
from argot.service.maintenance.scrubbing import scrub_stores
from argot.service.usecases.documents.tool_results import find_tool_result
from argot.service.usecases.operations.queued_work import follow_job
from argot.service.usecases.people.unknown_readers import list_reader_notices
from argot.service.usecases.usecase_registry import Event, Finished, Reader, Text, usecase
from argot.types import THREAD, Document, Passage, Principal
from argot.work.job_kinds import job_kind
from argot.work.job_types import JobRequest, JobRun

if TYPE_CHECKING:
    from argot.corpus.corpus import Corpus
    from argot.corpus.ingestion.ingest_job import IngestEvent
    from argot.service.page_images import PageRequest, Picture

__all__ = ["PassageShown"]

Paths = Annotated[list[str], Field(min_length=1)]
Spans = Annotated[list[tuple[int, int]], Field(max_length=50)]
PDF = "application/pdf"
REINDEX = "reindex"
"""The kind of the jobs that rebuild the indexes, and the key of the one that there is at a time."""

COUNTED = ("added", "updated", "unchanged", "duplicate", "skipped", "failed")


class _DrawingTurn(asyncio.Lock):
    """The turn for rendering a page: one at a time for a knowledge base."""


@dataclass(frozen=True, slots=True)
class AddProblem:
    """A file that was not added, and why."""

    kind: str
    name: str
    detail: str


@dataclass(frozen=True, slots=True)
class AddReport:
    """Numbers of files by outcome. `near`: added files that are nearly the same as others.

    `notices`: remarks about the given readers, and about the languages of the documents.
    """

    added: int
    updated: int
    unchanged: int
    duplicate: int
    skipped: int
    failed: int
    problems: list[AddProblem]
    near: list[AddProblem]
    notices: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """Number of passages in the index."""

    passages: int


@dataclass(frozen=True, slots=True)
class DocumentShown:
    """A document with its passages."""

    document: Document
    passages: list[PassageShown]


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page as a picture."""

    page: int
    media_type: str
    base64: str


@dataclass(frozen=True, slots=True)
class SourceText:
    """The Markdown of a document's newest revision."""

    document: Document
    markdown: str


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """The original bytes of a document."""

    document: Document
    media_type: str
    base64: str


@usecase("manager", local=True, everywhere=True)
async def add(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    paths: Paths,
    audience: list[Reader] | None = None,
    tags: list[Text] | None = None,
    base_uri: Text | None = None,
    follow_links: bool = False,
) -> AsyncIterator[Event | Finished[AddReport]]:
    """Add files and folders. Events: one for each file, `progress` while a long one is embedded, and as the result the
    counts and the files that failed.

    A file that cannot be read is named with the reason, and the rest is added. Without `audience` or `tags` a known
    document keeps its own, and a new one is for everyone. Links that lead out of a folder are followed only with
    `follow_links`.
    """
    # First of all: with a mistyped path among them, nothing is added.
    _require_there(paths)
    corpus = await kb.load()
    from argot.corpus.ingestion.sources import list_sources

    counts = dict.fromkeys(COUNTED, 0)
    problems: list[AddProblem] = []
    near: list[AddProblem] = []
    async with kb.writing.adding:
        sources = list_sources([Path(path) for path in paths], base_uri, follow_links=follow_links)
        turns = kb.writing.turns()
        ingest = stream(
            lambda: corpus.add(
                sources,
                audience=read_audience(audience),
                tags=None if tags is None else tuple(tags),
                turn=turns,
                by=principal,
            )
        )
        async with aclosing(ingest) as events:
            async for found in events:
                event = _hide_unreadable(principal, found)
                if event.kind in counts:
                    counts[event.kind] += 1
                if event.kind in ("failed", "skipped", "duplicate"):
                    # A duplicate is among them: its content is in, but not under this name.
                    problems.append(AddProblem(event.kind, event.name, event.detail))
                if event.near:
                    near.append(AddProblem("near", event.name, event.near))
                yield make_ingest_event(event)
    notices = await list_reader_notices(kb, audience)
    if (counts["added"] or counts["updated"]) and (advice := await kb.blocking(advise_on_languages, corpus, principal)):
        notices.append(advice)
    yield Finished(AddReport(**counts, problems=problems, near=near, notices=notices))


@usecase("manager", everywhere=True)
async def remove(kb: KnowledgeBase, principal: Principal, *, document: Text, forever: bool = False) -> Document:
    """Remove a document (by id, name or URI), with everything derived from it.

    It can be brought back (`document_restore`) for `keep_removed_days`. With `forever` it is erased, and so is what was
    made from it: training pairs, questions of rating studies, sentences of answers.
    """
    corpus = await kb.load()
    kept = not forever and kb.settings.retention.removed_days > 0
    if not kept:
        await require_erasing(kb)
    async with kb.writing:
        removed = await kb.blocking(corpus.remove, principal, document, keep=kept, erasing=not kept)
        # Proposed meanings quote documents, and must no longer quote this one.
        await kb.blocking(forget_quotes, kb, corpus)
    if kept:
        await scrub_stores(kb)
    else:
        await erase_documents(kb, [removed.id])
    return removed


def forget_quotes(kb: KnowledgeBase, corpus: Corpus) -> None:
    """Remove quotes of deleted passages from proposed meanings."""
    quoted = kb.glossary.proposals.quoted_passages()
    kb.glossary.proposals.forget_evidence(quoted - corpus.store.live(quoted))


@usecase("asker", local=False)
async def list_documents(kb: KnowledgeBase, principal: Principal) -> list[Document]:
    """List the documents that the caller may read, each in its newest revision."""
    return await kb.blocking(kb.document_store.documents, principal)


@usecase("asker")
async def show(kb: KnowledgeBase, principal: Principal, *, document: Text) -> DocumentShown:
    """Show a document (by id, name or URI) with its passages."""
    store = kb.document_store
    found = await kb.blocking(store.document, principal, document)
    passages = await kb.blocking(store.passages_of, principal, found.id)
    text = await kb.blocking(store.markdown, principal, found.revision_id)
    return DocumentShown(found, [show_passage(one, found, text) for one in passages])


@usecase("asker")
async def read_passage(kb: KnowledgeBase, principal: Principal, *, passage_id: Text) -> PassageShown:
    """Return a passage with its document and some of the surrounding text; also of a tool's result, which is no
    document, if the caller asked for it.

    Raises:
        NotFound: its revision was replaced, or the caller may not read it.
    """
    if shown := await find_tool_result(kb, principal, passage_id):
        return shown
    found, document = await _find_passage(kb, principal, passage_id)
    reader = await make_document_reader(kb, principal)
    return show_passage(found, document, await kb.blocking(kb.document_store.markdown, reader, found.revision_id))


@usecase("asker")
async def page_picture(
    kb: KnowledgeBase, principal: Principal, *, passage_id: Text, spans: Spans | None = None
) -> PagePicture:
    """Return the PDF page that contains a passage, as a PNG (base64) with the passage marked.

    `spans`, the cited parts ([start, end) in characters of the revision's Markdown), are marked, too. The result has
    `page`, `media_type` and `base64`.

    Raises:
        NotFound: the passage is gone, the caller may not read it, or its document is no PDF.
    """
    found, document = await _find_passage(kb, principal, passage_id)
    if document.media_type != PDF or found.page is None:
        raise NotFound("Only pages of PDF documents are shown as pictures.")
    reader = await make_document_reader(kb, principal)
    data, _ = await kb.blocking(kb.document_store.original, reader, found.revision_id)
    from argot.service.page_images import PageRequest

    # Spans count from the beginning of the document, and may extend beyond the passage's ends.
    cited = [found.text[max(0, start - found.start) : max(0, end - found.start)] for start, end in spans or ()]
    wanted = PageRequest(found.page, found.boxes, tuple(text for text in cited if text.strip()))
    drawn = await draw_page(kb, document, data, wanted)
    return PagePicture(drawn.page, "image/png", base64.b64encode(drawn.png).decode("ascii"))


async def draw_page(kb: KnowledgeBase, document: Document, data: bytes, request: PageRequest) -> Picture:
    """Return the picture of a page, rendered at its turn; `data` is the document's original."""
    from argot.service.page_images import PICTURES

    async with kb.part(_DrawingTurn):  # waiting holds no thread: questions need them
        return await kb.blocking(PICTURES.of, document.content_hash, data, request)


@usecase("asker")
async def read_source(kb: KnowledgeBase, principal: Principal, *, document: Text) -> SourceText:
    """Return the whole Markdown of a document's newest revision."""
    store = kb.document_store
    found = await kb.blocking(store.document, principal, document)
    text = await kb.blocking(store.markdown, principal, found.revision_id)
    return SourceText(found, text)


@usecase("asker")
async def read_original(kb: KnowledgeBase, principal: Principal, *, document: Text) -> OriginalFile:
    """Return the original file (base64) and its media type. It is untrusted data: never show it as a page."""
    store, reader = kb.document_store, await make_document_reader(kb, principal)
    found = await kb.blocking(store.document, reader, document)
    data, media_type = await kb.blocking(store.original, reader, found.revision_id)
    return OriginalFile(found, media_type, base64.b64encode(data).decode("ascii"))


@usecase("manager", everywhere=True)
async def reindex(kb: KnowledgeBase, principal: Principal) -> AsyncIterator[Event | Finished[ReindexReport]]:
    """Rebuild vectors and keyword index from the stored documents. Events: `{"kind": "progress", "done", "total"}`.

    Raises:
        Conflict: a rebuild is already running.
    """
    async with aclosing(follow_job(kb.jobs, JobRequest(REINDEX, principal, key=REINDEX))) as events:
        async for event in events:
            if not isinstance(event, Finished):
                yield event
    yield Finished(ReindexReport(await kb.blocking(kb.document_store.count_passages, principal)))


@job_kind(REINDEX, busy="The documents are being indexed already. Wait until that is done.", is_retried=False)
async def reindex_work(run: JobRun) -> None:
    """Rebuild vectors and keyword index."""
    # Opened even if its vectors are damaged: they are rebuilt here.
    corpus = await run.kb.load(for_repair=True)

    def work(tell: HandOver[tuple[int, int]]) -> None:
        corpus.reindex(lambda done, total: tell((done, total)))

    async with run.kb.writing, aclosing(progress_events(work)) as progress:
        async for done, total in progress:
            run.tell(done, total)


async def _find_passage(kb: KnowledgeBase, principal: Principal, passage_id: str) -> tuple[Passage, Document]:
    found = await kb.blocking(kb.document_store.passages, await make_document_reader(kb, principal), [passage_id])
    if passage_id not in found:
        raise NotFound(f"There is no passage '{passage_id}', or it has been replaced. Ask again to get the newest.")
    return found[passage_id]


async def make_document_reader(kb: KnowledgeBase, principal: Principal) -> Principal:
    """Return the same person with access to the files of their own conversations."""
    own = await (await kb.threads()).list_with_files(principal.name)
    return replace(principal, groups=principal.groups | {f"{THREAD}{thread}" for thread in own}) if own else principal


def make_ingest_event(event: IngestEvent) -> Event:
    return {
        "kind": event.kind,
        "name": event.name,
        "detail": event.detail,
        "done": event.done,
        "total": event.total,
        "document": convert_to_json(event.document),
    }


def _hide_unreadable(principal: Principal, event: IngestEvent) -> IngestEvent:
    """Return the event, without its document if this person may not read it."""
    if event.document is None or principal.may_read(event.document.audience):
        return event
    # A manager may add documents for readers without being one of them.
    return replace(event, document=None)


def _require_there(paths: list[str]) -> None:
    for path in paths:
        if not Path(path).exists():
            raise InvalidInput(f"There is no file or folder {path}. Nothing was added.")
