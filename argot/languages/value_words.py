"""Patterns of questions for a value ("how much does it cost", "how many days"), by language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from argot.languages.detection import identify_listed_language
from argot.languages.language_data import read_language_file

Pattern = re.Pattern[str]


@dataclass(frozen=True, slots=True)
class ValueWords:
    """The patterns of one language.

    Attributes:
        asked: kinds of values ("money", "length"), each with the questions that ask for one.
        how_many: what asks for a number; its first group is what is counted, with the word after it.
        counted: words that give a number without a figure.
        condition: words that give a time without naming one ("when the alarm rings").
    """

    asked: tuple[tuple[str, Pattern], ...]
    how_many: Pattern
    counted: Pattern
    condition: Pattern


def find_value_words(question: str) -> ValueWords:
    """Return the patterns of the language in which a question is."""
    return load_value_words(identify_listed_language(question))


@cache
def load_value_words(code: str) -> ValueWords:
    """Load the patterns of one of `LISTED_LANGUAGES`."""
    row = read_language_file(code)["values"]
    return ValueWords(
        tuple((one["kind"], _compile(one["pattern"])) for one in row["asked"]),
        *(_compile(row[name]) for name in ("how_many", "counted", "condition")),
    )


def _compile(pattern: str) -> Pattern:
    return re.compile(pattern, re.IGNORECASE)
