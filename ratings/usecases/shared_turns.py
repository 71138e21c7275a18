"""Questions of studies that were taken from conversations."""

from __future__ import annotations

from argot.ratings.store.rating_store import RatingStore
from argot.service.knowledge_base import KnowledgeBase


async def forget_turns(kb: KnowledgeBase, thread: str, turn: int | None) -> None:
    """Delete studies' copies from a conversation, or from one turn of it."""
    await kb.blocking(kb.open_store(RatingStore).forget_shared, thread, turn)
