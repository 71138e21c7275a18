"""Access to sources: as with documents, one that somebody may not see does not exist for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from argot.corpus.connectors.source_store import SourceRecord, SourceStore, SyncProblem
from argot.document_names import name_in
from argot.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from argot.service.knowledge_base import KnowledgeBase
    from argot.types import Principal


def list_visible_sources(kb: KnowledgeBase, principal: Principal) -> list[SourceRecord]:
    """Return the sources that this principal may know of, each without its hidden documents. Blocks."""
    store = SourceStore(kb.document_store.database)
    return [_show_to_reader(kb, principal, one) for one in store.list_sources() if principal.may_read(one.audience)]


def get_visible_source(kb: KnowledgeBase, principal: Principal, name: str) -> SourceRecord:
    """Return the source of this name as the principal may know it. Blocks.

    Raises:
        NotFound: there is none, or it is for others; the message does not distinguish them.
    """
    found = SourceStore(kb.document_store.database).get_source(name)
    if not principal.may_read(found.audience):
        raise no_source(name)
    return _show_to_reader(kb, principal, found)


def no_source(name: str) -> NotFound:
    """Return the error that names a source that is not there."""
    return NotFound(f"There is no source '{name}'. See them all with: argot source list")


def list_hidden_addresses(kb: KnowledgeBase, principal: Principal, name: str) -> frozenset[str]:
    """Return the addresses of a source's documents that this principal may not read. Blocks."""
    if principal.sees_all:
        return frozenset()
    held = {
        one.document: one.uri
        for one in SourceStore(kb.document_store.database).load_items(name).values()
        if one.has_document
    }
    readable = {one.id for one in kb.document_store.documents(principal)}
    return frozenset(uri for document, uri in held.items() if document not in readable)


def drop_hidden_problems(problems: Iterable[SyncProblem], hidden: Collection[str]) -> list[SyncProblem]:
    """Return the problems of those documents that are not hidden."""
    return [one for one in problems if one.uri not in hidden]


def drop_hidden_names(names: Iterable[str], hidden: Collection[str]) -> list[str]:
    """Return the names that no hidden document has."""
    known = {name_in(uri) for uri in hidden}
    return [one for one in names if one not in known]


def _show_to_reader(kb: KnowledgeBase, principal: Principal, record: SourceRecord) -> SourceRecord:
    # A document may have fewer readers than the source that brought it.
    hidden = list_hidden_addresses(kb, principal, record.name)
    if not hidden:
        return record
    return replace(
        record,
        documents=max(0, record.documents - len(hidden)),
        problems=tuple(drop_hidden_problems(record.problems, hidden)),
        gone=tuple(drop_hidden_names(record.gone, hidden)),
    )
