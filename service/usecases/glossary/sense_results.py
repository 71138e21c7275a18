"""Senses and conflicts as use cases return them: the stored value, and what this person may do with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from argot.jargon_db.store.conflict_rules import WarningKind
from argot.service.glossary_review.occurrences import Occurrences, PhrasePlace, flatten_markdown
from argot.service.json_values import PassageShown, read_dataclass_fields
from argot.types import Principal, Sense

# For the surfaces, which may not import `glossary_review` themselves.
__all__ = ["Occurrences", "PhrasePlace", "flatten_markdown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SenseShown(Sense):
    """A sense, and whether the principal may change it."""

    may_manage: bool


def show_sense(principal: Principal, sense: Sense) -> SenseShown:
    return SenseShown(**read_dataclass_fields(sense), may_manage=principal.may_manage(sense.context))


@dataclass(frozen=True, slots=True)
class TermSenses:
    """All senses of a term in the glossary's spelling, and the senses that have it as an alias."""

    term: str
    senses: list[SenseShown]
    alias_of: list[SenseShown]


@dataclass(frozen=True, slots=True)
class SimilarTerm:
    """A term that may have been meant, with its senses."""

    term: str
    senses: list[SenseShown]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedPassage(PassageShown):
    """A passage, its text also in `parts`: (text, whether it is the phrase that was searched)."""

    parts: list[tuple[str, bool]]


@dataclass(frozen=True, slots=True)
class WarningShown:
    """One reason against saving a sense, and the ids of the stored senses concerned.

    `no_document`: no document that the principal may read spells the expansion out.
    """

    kind: WarningKind | Literal["no_document"]
    message: str
    senses: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ConflictShown:
    """A conflict with the first of its senses. A principal who manages all of them may accept or reopen it."""

    kind: WarningKind
    message: str
    senses: list[SenseShown]
    may_accept: bool
    may_take_up: bool


@dataclass(frozen=True, slots=True)
class AcceptedConflictShown(ConflictShown):
    """An accepted conflict: in which change (its number), when (ISO, UTC), by whom and why."""

    change: int
    at: str
    who: str
    why: str


@dataclass(frozen=True, slots=True)
class ConflictList:
    """Conflicts of one kind, open or accepted. `open` and `accepted` count those of the whole glossary; `total` is the
    number of the requested kind, of which `conflicts` are the first.
    """

    open: int
    accepted: int
    total: int
    conflicts: list[AcceptedConflictShown | ConflictShown]


@dataclass(frozen=True, slots=True)
class ConflictAccepted:
    """The number of the change in which a conflict was accepted."""

    change: int
