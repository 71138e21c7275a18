"""The glossary: contexts, terms, senses, their history, proposals and misses, looked up by SQL templates.

`Glossary` composes its parts. Imports run one way: glossary, formats, store, lookup; mining needs only lookup.
"""

from typing import TYPE_CHECKING

from argot.lazy import build_lazy_getattr

if TYPE_CHECKING:
    from argot.jargon_db.formats.glossary_file import ReadOptions
    from argot.jargon_db.formats.import_export import ImportReport
    from argot.jargon_db.formats.import_preview import ImportPreview
    from argot.jargon_db.glossary import Glossary
    from argot.jargon_db.lookup.matcher import TermMatcher
    from argot.jargon_db.lookup.normalise import list_variants, normalise
    from argot.jargon_db.store.conflict_rules import SenseWarning
    from argot.jargon_db.store.history_entries import ChangeSet, HistoryEntry
    from argot.jargon_db.store.inputs import SenseInput
    from argot.jargon_db.store.misses import MissRecord
    from argot.jargon_db.store.proposal_rows import Proposal

__all__ = [
    "ChangeSet",
    "Glossary",
    "HistoryEntry",
    "ImportPreview",
    "ImportReport",
    "MissRecord",
    "Proposal",
    "ReadOptions",
    "SenseInput",
    "SenseWarning",
    "TermMatcher",
    "list_variants",
    "normalise",
]

# Type checkers read the imports above; a `__getattr__` would tell them that every name is there.
if not TYPE_CHECKING:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "ChangeSet": "store.history_entries",
            "Glossary": "glossary",
            "HistoryEntry": "store.history_entries",
            "ImportPreview": "formats.import_preview",
            "ImportReport": "formats.import_export",
            "MissRecord": "store.misses",
            "Proposal": "store.proposal_rows",
            "ReadOptions": "formats.glossary_file",
            "SenseInput": "store.inputs",
            "SenseWarning": "store.conflict_rules",
            "TermMatcher": "lookup.matcher",
            "normalise": "lookup.normalise",
            "list_variants": "lookup.normalise",
        },
    )
