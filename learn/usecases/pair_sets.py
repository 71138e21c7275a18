"""The right to see a set of pairs: readers of all documents from which it was made have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from argot.errors import NotFound
from argot.learn.store.pair_store import PairStore
from argot.types import Audience, Document, Passage, Principal

if TYPE_CHECKING:
    from argot.corpus.store.document_store import CorpusStore
    from argot.learn.store.pair_store import PairSet
    from argot.service.knowledge_base import KnowledgeBase


def list_visible_sets(kb: KnowledgeBase, principal: Principal) -> list[PairSet]:
    """List the sets that a person may see, newest first."""
    by_id = _read_documents(kb.document_store)
    return [one for one in kb.open_store(PairStore).sets() if _may_see(kb, principal, one, by_id)]


def find_visible_set(kb: KnowledgeBase, principal: Principal, name: str) -> PairSet:
    """Return the set of this name, if the principal may see it.

    Raises:
        NotFound: there is none, or this principal may not read all of its documents; never distinguished.
    """
    none = NotFound(f"There is no set of pairs '{name}'. See them with: argot learn data list")
    try:
        found: PairSet = kb.open_store(PairStore).get_set(name)
    except NotFound:
        raise none from None
    if not _may_see(kb, principal, found, _read_documents(kb.document_store)):
        raise none
    return found


def list_audiences(kb: KnowledgeBase, one: PairSet) -> list[Audience]:
    """List for each document that the set was made of who may read it now; for one that is gone, who could."""
    return _list_audiences(kb, one, _read_documents(kb.document_store))


def read_passages_for(
    store: CorpusStore, principal: Principal, audiences: Sequence[Audience]
) -> Iterator[tuple[Document, list[Passage]]]:
    """Read in order the passages of each document that this principal may read, if everybody who may read documents of
    all these audiences may read it, too.
    """
    for document in store.documents(principal):
        if not document.audience or any(one and one <= document.audience for one in audiences):
            yield document, store.passages_of(principal, document.id)


def _read_documents(store: CorpusStore) -> dict[str, Document]:
    # Read with full rights: every document counts, whoever asks.
    return {one.id: one for one in store.documents(Principal("learning", sees_all=True))}


def _list_audiences(kb: KnowledgeBase, one: PairSet, by_id: dict[str, Document]) -> list[Audience]:
    used = kb.open_store(PairStore).documents(one.name)
    now = [by_id[each.document].audience if each.document in by_id else frozenset(each.readers) for each in used]
    return [*now, frozenset(one.readers)]


def _may_see(kb: KnowledgeBase, principal: Principal, one: PairSet, by_id: dict[str, Document]) -> bool:
    return all(principal.may_read(audience) for audience in _list_audiences(kb, one, by_id))
