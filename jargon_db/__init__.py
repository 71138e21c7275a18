"""The glossary: contexts, terms, senses, their history, proposals and misses, looked up by SQL templates."""

from argot.jargon_db.conflict_rules import SenseWarning
from argot.jargon_db.exchange import ImportPreview
from argot.jargon_db.files import ImportReport
from argot.jargon_db.glossary import Glossary
from argot.jargon_db.glossary_file import ReadOptions
from argot.jargon_db.history_entries import ChangeSet, HistoryEntry
from argot.jargon_db.inputs import SenseInput
from argot.jargon_db.matching import TermMatcher
from argot.jargon_db.misses import MissRecord
from argot.jargon_db.normalise import normalise, variants
from argot.jargon_db.proposal_rows import Proposal

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
    "normalise",
    "variants",
]
