"""Documents that answers cite, and those that none ever did, limited to readable ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argot.corpus.store.citation_counts import list_most_cited, list_never_cited
from argot.document_names import find_telling_folders, listed_name_in
from argot.service.insight.insight_results import DocumentCount, DocumentsUsed

if TYPE_CHECKING:
    from argot.corpus.store.document_store import CorpusStore
    from argot.types import Principal

MAX_CITED = 20
STEP = 50
"""Documents never cited, on a page."""


def count_used_documents(store: CorpusStore, principal: Principal, since: str, until: str, start: int) -> DocumentsUsed:
    """Count the documents that answers cite from one day to the other (both included), and page those never cited."""
    cited, number = list_most_cited(store, principal, since, until, MAX_CITED)
    unused, never = list_never_cited(store, principal, start, STEP)
    folders = find_telling_folders([uri for _, uri, _ in cited] + [uri for _, uri in unused])

    def name(uri: str) -> str:
        return f"{folders[uri]}/{listed_name_in(uri)}" if folders[uri] else listed_name_in(uri)

    return DocumentsUsed(
        [DocumentCount(id_, name(uri), answers) for id_, uri, answers in cited],
        number,
        never,
        start,
        [DocumentCount(id_, name(uri), 0) for id_, uri in unused],
    )
