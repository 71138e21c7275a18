"""Documents that answers cite, and those that none ever did, limited to readable ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argot.corpus.store.citation_counts import list_most_cited, list_never_cited
from argot.service.insight.insight_results import DocumentCount, DocumentsUsed

if TYPE_CHECKING:
    from argot.corpus.store.document_store import CorpusStore
    from argot.types import Principal

MOST_CITED = 20
STEP = 50
"""Documents never cited, on a page."""


def count_used_documents(store: CorpusStore, principal: Principal, since: str, until: str, start: int) -> DocumentsUsed:
    """Count the documents that answers cite from one day to the other (both included), and page those never cited."""
    cited, number = list_most_cited(store, principal, since, until, MOST_CITED)
    unused, never = list_never_cited(store, principal, start, STEP)
    return DocumentsUsed(
        [DocumentCount(*one) for one in cited], number, never, start, [DocumentCount(*one, 0) for one in unused]
    )
