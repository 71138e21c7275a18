"""The dustbin: removed documents can be brought back until the retention job erases them."""

from __future__ import annotations

from argot.corpus.store.dustbin import RemovedDocument
from argot.errors import Conflict
from argot.service.knowledge_base import KnowledgeBase
from argot.service.maintenance.erasing import erase_documents
from argot.service.usecases.documents.uploads import UploadReport, put_in
from argot.service.usecases.usecase_registry import Text, usecase
from argot.types import Principal

__all__ = ["RemovedDocument"]


@usecase("manager", everywhere=True)
async def removed_list(kb: KnowledgeBase, principal: Principal) -> list[RemovedDocument]:
    """List the documents in the dustbin that the caller could read, the last removed first."""
    from argot.corpus.store.dustbin import list_removed

    return await kb.blocking(list_removed, kb.document_store, principal)


@usecase("manager", everywhere=True)
async def document_restore(kb: KnowledgeBase, principal: Principal, *, document: Text) -> UploadReport:
    """Bring a removed document (by id, name or URI) back. It is read again and keeps its readers, tags and older
    revisions.

    The texts that a language model derived from it have to be derived again.

    Raises:
        Conflict: a document from the same place has been added since.
    """
    from argot.corpus.ingestion.stored_source import load_stored_source
    from argot.corpus.store.dustbin import find_removed, is_in_again

    corpus = await kb.load()
    store = corpus.store
    found = await kb.blocking(find_removed, store, principal, document)
    if await kb.blocking(is_in_again, store, found.id):
        raise Conflict(f"{found.name} was added again since it was removed. Remove that one first to bring this back.")
    source = await kb.blocking(load_stored_source, store.blobs, found.uri, found.content_hash, found.media_type)
    report = await put_in(kb, principal, source, audience=found.audience, tags=found.tags)
    # The rest only once it is added: a kill in between leaves it in both places, and nothing lost. If another document
    # has the same content it is not added.
    if report.document is not None and report.kind != "duplicate":
        async with kb.writing:
            await kb.blocking(corpus.take_back, found.id, report.document.id)
    return report


@usecase("manager", everywhere=True)
async def removed_erase(
    kb: KnowledgeBase, principal: Principal, *, document: Text | None = None
) -> list[RemovedDocument]:
    """Erase a removed document (by id, name or URI) for good, with all that was made from it.

    Without a name, all removed documents are erased that the caller could read.
    """
    from argot.corpus.store.dustbin import find_removed, list_removed

    corpus = await kb.load()
    if document is None:
        found = await kb.blocking(list_removed, corpus.store, principal)
    else:
        found = [await kb.blocking(find_removed, corpus.store, principal, document)]
    await erase_documents(kb, [one.id for one in found])
    return found
