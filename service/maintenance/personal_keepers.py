"""Parts of a wing that keep something of people: for them to read, and to have erased."""

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
        other_names: finds the names under which somebody asked before they were known to be this user.
        find: finds what is kept of these names, as JSON, by the field of `PersonalData` that it stands in.
        erase: deletes it, and counts how much there was.
        counted_as: the figure of `ErasedPerson` that counts it.
    """

    other_names: Callable[[KnowledgeBase, str], Awaitable[list[str]]] | None = None
    find: Callable[[KnowledgeBase, list[str]], Awaitable[dict[str, Any]]] | None = None
    erase: Callable[[KnowledgeBase, list[str]], Awaitable[int]] | None = None
    counted_as: Literal["questions", "ratings"] = "questions"
