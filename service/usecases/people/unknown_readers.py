"""Nonexistent readers: reported where they are entered, and no error, because groups may be added later."""

from __future__ import annotations

from collections.abc import Iterable

from argot.service.knowledge_base import KnowledgeBase
from argot.types import MANAGERS


async def list_reader_notices(kb: KnowledgeBase, audience: Iterable[str] | None) -> list[str]:
    """Return a notice for each reader in an audience who does not exist."""
    if not audience:
        return []
    users = await kb.blocking(kb.people.users)
    known = {MANAGERS, *(f"@{one.name}" for one in users), *(group for one in users for group in one.groups)}
    unknown = sorted(set(audience) - known)
    rest = "can read it now" if unknown == sorted(set(audience)) else "gets access through this name"
    return [f"no group or person '{one}' exists: nobody but administrators {rest}" for one in unknown]
