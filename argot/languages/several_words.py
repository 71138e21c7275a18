"""Patterns of messages that ask several things, or compare two, in the languages with a file of words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from argot.languages.language_data import read_language_file

Pattern = re.Pattern[str]


@dataclass(frozen=True, slots=True)
class SeveralWords:
    """The patterns of one language, whose meaning its file explains (`argot/languages/en.toml`).

    Attributes:
        second: a question that is attached to another one.
        joins_two: what joins two things of which a question asks the same.
        boundary: what stands between two questions; its group `end` is a question mark.
    """

    all_of: Pattern
    several: Pattern
    second: Pattern
    joins_two: Pattern
    boundary: Pattern
    asks: Pattern
    leans: Pattern
    named: Pattern
    drops_subjects: bool
    embeds: Pattern
    form: str


@dataclass(frozen=True, slots=True)
class ComparisonWords:
    """The patterns of comparisons in one language, whose meaning its file explains (`argot/languages/en.toml`)."""

    forms: tuple[Pattern, ...]
    tail: Pattern
    joins: Pattern
    leans: Pattern
    article: Pattern
    of: Pattern
    that: Pattern
    capital_nouns: bool
    noun_last: bool
    side: str


@cache
def load_several_words(code: str) -> SeveralWords:
    """Load the patterns of one of `LISTED_LANGUAGES`."""
    file = read_language_file(code)
    row, asked = file["several"], file["interrogatives"]
    second = rf"\b(?:{asked})\b.*?{row['attached']}(?:(?:{row['prepositions']})\s+)?(?:{asked})(?:'s)?\b"
    boundary = rf"(?P<end>\?)\s+¿?(?:{row['then']})*(?=[¿\w])|(?:,|;|\s)\s*{row['joins']}(?={row['opens']})"
    return SeveralWords(
        **{key: _compile(row[key]) for key in ("all_of", "several", "asks", "leans", "named", "embeds")},
        second=_compile(second),
        joins_two=_compile(rf"\s(?:{row['and']})\s"),
        boundary=_compile(boundary),
        drops_subjects=row["drops_subjects"],
        form=row["form"],
    )


@cache
def load_comparison_words(code: str) -> ComparisonWords:
    """Load the patterns of one of `LISTED_LANGUAGES`."""
    row = read_language_file(code)["comparison"]
    # The forms contain braces that mean repetition, so `format` cannot fill them in.
    forms = (form.replace("{and}", row["and"]).replace("{about}", row["about"]) for form in row["forms"])
    return ComparisonWords(
        tuple(map(_compile, forms)),
        **{key: _compile(row[key]) for key in ("tail", "joins", "leans", "article", "of", "that")},
        capital_nouns=row["capital_nouns"],
        noun_last=row["noun_last"],
        side=row["side"],
    )


def _compile(pattern: str) -> Pattern:
    return re.compile(pattern, re.IGNORECASE)
