"""Mining: what running text itself says about its terms. Pure functions over text; nothing is stored here."""

from argot.jargon_db.mining.definition_patterns import Defined, DefinitionKind, definitions_in
from argot.jargon_db.mining.forms import Forms, forms_of
from argot.jargon_db.mining.gathering import Definition, Mined, Miner, Text, definitions_of
from argot.jargon_db.mining.pairs import Pair, Span

__all__ = [
    "Defined",
    "Definition",
    "DefinitionKind",
    "Forms",
    "Mined",
    "Miner",
    "Pair",
    "Span",
    "Text",
    "definitions_in",
    "definitions_of",
    "forms_of",
]
