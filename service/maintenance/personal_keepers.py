"""The parts of a wing that store personal data: for people to read, and to have erased."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from argot.service.knowledge_base import KnowledgeBase


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalKeeper:
    """
    Attributes:
        other_names: returns the names under which somebody asked before they were linked to this user.
        find: returns the data stored under these names, as JSON, by the field of `PersonalData` for them.
        erase: deletes it, and returns how much there was.
        counted_as: the figure of `ErasedPerson` that counts it.
    """

    other_names: Callable[[KnowledgeBase, str], Awaitable[list[str]]] | None = None
    find: Callable[[KnowledgeBase, list[str]], Awaitable[dict[str, Any]]] | None = None
    erase: Callable[[KnowledgeBase, list[str]], Awaitable[int]] | None = None
    counted_as: Literal["questions", "ratings"] = "questions"
