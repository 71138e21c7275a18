"""Mining: definitions of terms in running text. Pure functions over text; nothing is stored here."""

from argot.jargon_db.mining.definition_patterns import DefinitionKind, FoundDefinition, find_definitions
from argot.jargon_db.mining.forms import Forms, find_forms
from argot.jargon_db.mining.gathering import Definition, MinedMeaning, MinedText, Miner, find_definitions_of
from argot.jargon_db.mining.pairs import Pair, Span

__all__ = [
    "Definition",
    "DefinitionKind",
    "Forms",
    "FoundDefinition",
    "MinedMeaning",
    "MinedText",
    "Miner",
    "Pair",
    "Span",
    "find_definitions",
    "find_definitions_of",
    "find_forms",
]
