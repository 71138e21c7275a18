"""The findings of a check, and the weight of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

FindingKind = Literal[
    "forbidden-name", "deprecated-name", "undefined-abbreviation", "explained-late", "second-spelling"
]
FindingLevel = Literal["error", "warning", "note"]

LEVELS: Mapping[FindingKind, FindingLevel] = MappingProxyType(
    {
        "forbidden-name": "error",
        "deprecated-name": "warning",
        "undefined-abbreviation": "warning",
        "explained-late": "note",
        "second-spelling": "note",
    }
)
"""The level of each kind, as SARIF 2.1.0 (3.27.10) names levels."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A place of a text that should be changed: text[start:end] is the name or spelling in question.

    Attributes:
        term: the term that is meant, in the glossary's spelling if it has one.
        reason, remedy: sentences for the author.
        count: how often the text has it. Wrong names have a finding for each place, the other kinds one for the first.
    """

    kind: FindingKind
    term: str
    start: int
    end: int
    reason: str
    remedy: str
    count: int = 1
