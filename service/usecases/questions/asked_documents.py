"""The documents that a question is limited to: by name, and those with a tag that was chosen beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from argot.service.knowledge_base import KnowledgeBase
from argot.types import Principal, QuestionScope


async def find_named_documents(kb: KnowledgeBase, principal: Principal, documents: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of documents (by id, name or URI).

    Raises:
        NotFound: there is none of that name, or not for this principal.
    """
    return tuple([(await kb.blocking(kb.document_store.document, principal, one)).id for one in documents])


async def add_tagged_documents(
    kb: KnowledgeBase, principal: Principal, named: tuple[str, ...], scope: QuestionScope
) -> tuple[tuple[str, ...], QuestionScope]:
    """Return documents (ids) with those of the scope's tags, and the rest of the scope: chosen together, they add up.

    Without names the tags stay in the scope.
    """
    if not (named and scope.tags):
        return named, scope
    within = await kb.blocking(kb.document_store.documents_within, principal, QuestionScope(scope.tags))
    return tuple(dict.fromkeys([*named, *sorted(within)])), replace(scope, tags=())
