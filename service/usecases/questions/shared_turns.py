"""Turns of conversations that their owner shared, and that wings may have copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argot.service.storage.missing_wings import require_wings
from argot.wings import load_parts

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase


async def require_forgetting(kb: KnowledgeBase, owner: str, thread: str, turn: int | None = None) -> None:
    """Check that every wing that may have copied a conversation, or one turn of it, can delete the copy.

    Raises:
        MissingWing: it was shared, and the wing that copies shared turns is not installed.
    """
    feedback_given = await (await kb.threads()).feedback(owner, thread)
    if any(one.shared and one.value and turn in {None, one.turn} for one in feedback_given):
        await kb.blocking(lambda: require_wings(kb.stores.holds, only="ratings"))


async def forget_shared(kb: KnowledgeBase, thread: str, turn: int | None = None) -> None:
    """Have every wing delete its copies from a conversation, or from one turn of it."""
    for forget in load_parts("shared_turns"):
        await forget(kb, thread, turn)
