"""Turns of conversations that their owner shared, and that wings may have copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from argot.wings import load_parts

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase


async def forget_shared(kb: KnowledgeBase, thread: str, turn: int | None = None) -> None:
    """Have every wing delete what it took from a conversation, or from one turn of it."""
    for forget in load_parts("shared_turns"):
        await forget(kb, thread, turn)
