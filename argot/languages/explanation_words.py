"""Patterns by which a question explains a short form in it, in the languages with a file of words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from argot.languages.language_data import read_language_file

Pattern = re.Pattern[str]

# At most ten characters, at least one of them a capital: SLA, tCCS, L2P.
SHORT = r"(?=[A-Za-z0-9/-]{0,9}(?-i:[A-Z]))[A-Za-z0-9][A-Za-z0-9/-]{0,9}"
_MEANING = r"[^,;:.?!()\"”’]{3,80}"
_OPENS_QUOTATION = "[\"'“‘„«]?"
_SHUTS_QUOTATION = "[\"'”’“»]?"


@dataclass(frozen=True, slots=True)
class ExplanationWords:
    """The patterns of one language, whose meaning its file explains (`argot/languages/en.toml`).

    Attributes:
        said: a short form and its meaning in words, as the groups `short` and `long`; `verb` if a verb joins them.
        framed: the same where the verb comes last; `other` is a second place of the meaning. None: it never does.
    """

    said: Pattern
    framed: Pattern | None
    bracket: Pattern
    asked: Pattern
    asks: Pattern
    cut: Pattern


@cache
def load_explanation_words(code: str) -> ExplanationWords:
    """Load the patterns of one of `LISTED_LANGUAGES`."""
    row = read_language_file(code)["explanation"]
    short = rf"{_OPENS_QUOTATION}(?P<short>{SHORT}){_SHUTS_QUOTATION}"
    said = (
        rf"\b(?:{row['by']})?{short},?\s{{1,3}}(?:(?P<verb>(?:{row['verbs']})\s+)|{row['leads']})"
        rf"{_OPENS_QUOTATION}(?P<long>{_MEANING})"
    )
    framed = row["framed"]
    for name, pattern in (
        ("short", short),
        ("long", rf"(?P<long>{_MEANING}?)"),
        ("other", rf"(?P<other>{_MEANING}?)"),
    ):
        framed = framed.replace(f"{{{name}}}", pattern)
    return ExplanationWords(
        # With case: a short form has capitals.
        re.compile(said),
        re.compile(framed, re.IGNORECASE) if framed else None,
        **{key: re.compile(row[key], re.IGNORECASE) for key in ("bracket", "asked", "asks")},
        cut=re.compile(row["cut"]),
    )
