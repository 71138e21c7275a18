"""Groups from which the readers of documents, contexts and meanings are chosen."""

from __future__ import annotations

from argot.service.knowledge_base import KnowledgeBase
from argot.service.usecases.usecase_registry import usecase
from argot.types import MANAGERS, Principal


@usecase("manager")
async def reader_groups(kb: KnowledgeBase, principal: Principal) -> list[str]:
    """List the groups that have members, and the group of managers."""
    users = await kb.blocking(kb.people.users)
    return sorted({MANAGERS, *(group for one in users for group in one.groups)}, key=str.casefold)
