"""Mining: definitions of terms in running text. Pure functions over text; nothing is stored here."""

from typing import TYPE_CHECKING

from argot.lazy import build_lazy_getattr

if TYPE_CHECKING:
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

# Type checkers read the imports above; a `__getattr__` would tell them that every name is there.
if not TYPE_CHECKING:
    __getattr__ = build_lazy_getattr(
        __name__,
        {
            "Definition": "gathering",
            "DefinitionKind": "definition_patterns",
            "Forms": "forms",
            "FoundDefinition": "definition_patterns",
            "MinedMeaning": "gathering",
            "MinedText": "gathering",
            "Miner": "gathering",
            "Pair": "pairs",
            "Span": "pairs",
            "find_definitions": "definition_patterns",
            "find_definitions_of": "gathering",
            "find_forms": "forms",
        },
    )
