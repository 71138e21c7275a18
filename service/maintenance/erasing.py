"""Permanent erasure of removed documents: first everything derived from them, then the documents themselves.

The erasure is recorded before it starts, in the dustbin (`argot.corpus.store.dustbin.ERASING`), and the record is
deleted with the documents. The next call therefore completes an interrupted erasure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from argot.service.maintenance.scrubbing import scrub_stores
from argot.service.maintenance.text_keepers import erase_everywhere
from argot.service.storage.missing_wings import require_wings

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase

BATCH_THREADS = 20
"""Number of documents whose text is held in memory."""


async def require_erasing(kb: KnowledgeBase) -> None:
    """See that everything that is made of documents can be erased.

    Raises:
        MissingWing: a wing that is not installed keeps some of it.
    """
    await kb.blocking(require_wings, kb.stores.holds, kb.home)


async def erase_documents(kb: KnowledgeBase, documents: Sequence[str]) -> None:
    """Erase these removed documents (ids) with everything that was made of them. Raises as `require_erasing` does."""
    from argot.corpus.store.dustbin import read_erased

    await require_erasing(kb)
    corpus = await kb.load()
    async with kb.writing:
        await kb.blocking(corpus.mark_erasing, documents)
    for start in range(0, len(documents), BATCH_THREADS):
        some = documents[start : start + BATCH_THREADS]
        gone = await kb.blocking(read_erased, corpus.store, some)
        await erase_everywhere(kb, gone)
        async with kb.writing:
            await kb.blocking(corpus.erase_removed, some)
    await scrub_stores(kb)
