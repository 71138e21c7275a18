"""What the service derives of documents unasked: which texts, how far it is with each, and what it may spend on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from weakref import WeakKeyDictionary

from argot.corpus.ingestion.derivation import DERIVABLE
from argot.service.knowledge_base import KnowledgeBase
from argot.settings import Settings
from argot.types import DerivableKind


@dataclass(slots=True)
class Doing:
    """What is being done now.

    `document`: the one that is worked on; `resting`: why nothing is, for a while; `put_off`: at which documents the
    server failed since it last did not.
    """

    document: str = ""
    resting: str = ""
    put_off: set[str] = field(default_factory=set)


_doing: WeakKeyDictionary[KnowledgeBase, Doing] = WeakKeyDictionary()


def doing_now(kb: KnowledgeBase) -> Doing:
    return _doing.setdefault(kb, Doing())


def wanted_kinds(settings: Settings) -> list[DerivableKind]:
    """The kinds of texts that are made unasked, in the order in which they are made; none: nothing is."""
    if settings.derive_in_background == "off":
        return []
    if settings.model_url:
        return [kind for kind in DERIVABLE if kind in settings.derive_kinds.split(",")]
    return ["triple"] if settings.derive_in_background == "always" else []


def wanted_texts(settings: Settings) -> str:
    """The same as it is noted of a document that is done."""
    return ",".join(wanted_kinds(settings)) + ("" if settings.model_url else " by rules")


def budget_day(now: datetime) -> str:
    """The day, in UTC, that what is spent now counts for."""
    return now.date().isoformat()
