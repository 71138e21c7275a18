"""glossary.db: its schema and connections, and the parts of the glossary that read and write it."""

from typing import TYPE_CHECKING

from argot.lazy import build_lazy_getattr

if TYPE_CHECKING:
    from argot.jargon_db.store.accepted_conflicts import AcceptedConflict
    from argot.jargon_db.store.conflict_rules import SenseWarning
    from argot.jargon_db.store.conflicts import Conflicts
    from argot.jargon_db.store.connections import Connections
    from argot.jargon_db.store.context_store import Contexts
    from argot.jargon_db.store.history import History
    from argot.jargon_db.store.history_entries import ChangeSet, HistoryEntry
    from argot.jargon_db.store.inputs import SenseInput
    from argot.jargon_db.store.mining_ledger import MiningLedger
    from argot.jargon_db.store.misses import Misses, MissRecord
    from argot.jargon_db.store.privacy import Privacy
    from argot.jargon_db.store.proposal_rows import Proposal
    from argot.jargon_db.store.proposal_store import Proposals
    from argot.jargon_db.store.search import Search
    from argot.jargon_db.store.sense_store import Senses
    from argot.jargon_db.store.term_lookup import TermLookup
    from argot.jargon_db.store.term_source import StoredTerms
    from argot.jargon_db.store.usage import SenseUsage

__all__ = [
    "AcceptedConflict",
    "ChangeSet",
    "Conflicts",
    "Connections",
    "Contexts",
    "History",
    "HistoryEntry",
    "MiningLedger",
    "MissRecord",
    "Misses",
    "Privacy",
    "Proposal",
    "Proposals",
    "Search",
    "SenseInput",
    "SenseUsage",
    "SenseWarning",
    "Senses",
    "StoredTerms",
    "TermLookup",
]

if not TYPE_CHECKING:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "AcceptedConflict": "accepted_conflicts",
            "ChangeSet": "history_entries",
            "Conflicts": "conflicts",
            "Connections": "connections",
            "Contexts": "context_store",
            "History": "history",
            "HistoryEntry": "history_entries",
            "MiningLedger": "mining_ledger",
            "MissRecord": "misses",
            "Misses": "misses",
            "Privacy": "privacy",
            "Proposal": "proposal_rows",
            "Proposals": "proposal_store",
            "Search": "search",
            "SenseInput": "inputs",
            "SenseWarning": "conflict_rules",
            "Senses": "sense_store",
            "StoredTerms": "term_source",
            "TermLookup": "term_lookup",
            "SenseUsage": "usage",
        },
    )
