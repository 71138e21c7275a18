"""The glossary: contexts, terms, senses and misses, looked up by SQL templates with bound parameters."""

from argot.jargon_db.glossary import Glossary, ImportReport
from argot.jargon_db.matching import TermMatcher
from argot.jargon_db.misses import MissRecord
from argot.jargon_db.normalise import normalise, variants

__all__ = ["Glossary", "ImportReport", "MissRecord", "TermMatcher", "normalise", "variants"]
