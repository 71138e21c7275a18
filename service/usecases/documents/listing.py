"""The documents that the principal may read, searched and sorted, a page at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from argot.corpus.store.document_store import CorpusStore
from argot.corpus.store.near_duplicates import NearDuplicate, find_near_duplicates
from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.moments import Moment
from argot.service.usecases.usecase_registry import Count, ParameterGroup, Text, usecase
from argot.tools.answering.freshness import describe_validity, freshness
from argot.types import Document, Principal, distinct_tags, is_of_thread

__all__ = ["NearDuplicate", "describe_validity", "freshness"]

State = Literal["incomplete", "replaced", "derived", "not derived"]
"""Filters: has unreadable parts; has former revisions; has derived texts or triples; has none."""
Order = Literal["name", "newest", "oldest", "longest"]
EVERYBODY = "everyone"
"""Name for the audience of documents that everyone may read; no group can have it."""
_KEYS: dict[Order, tuple[Callable[[Document], Any], bool]] = {
    "name": (lambda one: (one.name.casefold(), one.uri), False),
    "newest": (lambda one: (one.added_at, one.uri), True),
    "oldest": (lambda one: (one.added_at, one.uri), False),
    "longest": (lambda one: (one.passages, one.uri), True),
}


@dataclass(frozen=True, slots=True)
class DocumentsFound:
    """A page of documents. `found`: how many there are on all pages; `total`: how many the principal may read.

    `tags` and `audiences` are those of all readable ones, each with the number of documents.
    """

    documents: list[Document]
    found: int
    total: int
    tags: dict[str, int]
    audiences: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class DocumentFilter(ParameterGroup):
    """Filter of documents. `text`: words of their names, titles or places.

    `audience`: a group, `@NAME`, or `everyone`. `added_after`, `added_before`: times in ISO 8601.
    """

    text: Text = ""
    tag: Text = ""
    audience: Text = ""
    state: State | None = None
    added_after: Moment = ""
    added_before: Moment = ""


@usecase("asker")
async def document_find(
    kb: KnowledgeBase,
    principal: Principal,
    *,
    wanted: DocumentFilter,
    order: Order = "name",
    start: Count = 0,
    limit: Annotated[Count, Field(le=1000)] = 50,
) -> DocumentsFound:
    """Find documents that the caller may read by words of their names.

    The name, title or place contains each word of `text`. Returns `limit` documents, from `start` on. `audience` is a
    group, `@NAME`, or `everyone`. `added_after` and `added_before` are times in ISO 8601.
    """
    return await kb.blocking(_find_documents, kb, principal, wanted, order, slice(start, start + limit))


@usecase("asker")
async def document_near(kb: KnowledgeBase, principal: Principal, *, document: Text = "") -> list[NearDuplicate]:
    """List documents that are nearly the same as this one (by id, name or URI), or all pairs that are.

    Only documents that the caller may read are compared. `likeness`: the estimated share of their wording that is the
    same, from 0 to 1. Short texts, of a line or two, are not compared.
    """
    store = kb.document_store
    of = await kb.blocking(store.document, principal, document) if document else None
    return await kb.blocking(find_near_duplicates, store, principal, of)


def _find_documents(
    kb: KnowledgeBase, principal: Principal, document_filter: DocumentFilter, order: Order, page: slice
) -> DocumentsFound:
    every = [one for one in kb.document_store.documents(principal) if not is_of_thread(one.audience)]
    fitting = _filter_by_state(
        kb.document_store, [one for one in every if _is_wanted(one, document_filter)], document_filter.state
    )
    key, backwards = _KEYS[order]
    return DocumentsFound(
        documents=sorted(fitting, key=key, reverse=backwards)[page],
        found=len(fitting),
        total=len(every),
        tags=_count_tags(every),
        audiences=dict(sorted(Counter(token for one in every for token in one.audience or {EVERYBODY}).items())),
    )


def _count_tags(documents: list[Document]) -> dict[str, int]:
    """Count the documents that have each tag, in any spelling."""
    spelled = {tag.casefold(): tag for tag in distinct_tags(sorted(tag for one in documents for tag in one.all_tags))}
    counts = Counter(tag.casefold() for one in documents for tag in one.all_tags)
    return dict(sorted((spelled[folded], number) for folded, number in counts.items()))


def _is_wanted(one: Document, document_filter: DocumentFilter) -> bool:
    audience, after, before = document_filter.audience, document_filter.added_after, document_filter.added_before
    searched_text = f"{one.name}\n{one.title}\n{one.uri}".casefold()
    return (
        (not document_filter.tag or document_filter.tag.casefold() in {tag.casefold() for tag in one.all_tags})
        and (not audience or audience in one.audience or (audience == EVERYBODY and not one.audience))
        and (not after or one.added_at >= after)
        and (not before or one.added_at < before)
        and all(word in searched_text for word in document_filter.text.casefold().split())
    )


def _filter_by_state(store: CorpusStore, documents: list[Document], state: State | None) -> list[Document]:
    from argot.corpus.store.revision_reads import list_derived, list_revised

    if state is None:
        return documents
    if state == "incomplete":
        return [one for one in documents if one.warnings]
    if state == "replaced":
        replaced = list_revised(store)
        return [one for one in documents if one.id in replaced]
    derived = list_derived(store)
    return [one for one in documents if (one.id in derived) == (state == "derived")]
