"""Patterns of questions for a count, and of the lists that answer them, in the languages with a file of words.

The files explain the patterns (`argot/languages/en.toml`: `[counting]`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from argot.languages.detection import identify_listed_language
from argot.languages.language_data import LISTED_LANGUAGES, load_language, read_language_file

Pattern = re.Pattern[str]


@dataclass(frozen=True, slots=True)
class CountingWords:
    """The patterns and words of one language.

    Attributes:
        code: as in ISO 639-1.
        how_many: what asks for a number; its group `rest` is what is counted and what is said about it.
        kinds: words before the name of the things that change nothing.
        plural: a word that may name several things.
        noun_last: whether the name of the things is the last word before a stop word, and not the first plural.
        there_are: words that only say that such things exist, and restrict nothing.
        restricts: words that may change the number.
        no_entry: entries that are none, such as a total or "etc.".
        several: an entry that combines several.
        apart: an entry or cell that may not count with the others: "Closed: Oslo", "Oslo (planned)", "Source: ...".
        numbers: words for numbers.
        line: what says how many there are, with "{number}" in it.
        stop_words: those of the language.
    """

    code: str
    how_many: Pattern
    kinds: Pattern
    plural: Pattern
    noun_last: bool
    there_are: str
    restricts: Pattern
    no_entry: Pattern
    several: Pattern
    apart: Pattern
    numbers: frozenset[str]
    line: str
    stop_words: frozenset[str]


def find_counting_words(question: str) -> CountingWords:
    """Return the words of the language in which a question is."""
    return load_counting_words(identify_listed_language(question))


@cache
def load_counting_words(code: str) -> CountingWords:
    """Load the words of one of `LISTED_LANGUAGES`."""
    file = read_language_file(code)
    row = file["counting"]
    patterns = ("how_many", "kinds", "restricts", "no_entry", "several")
    return CountingWords(
        code,
        **{name: re.compile(row[name], re.IGNORECASE) for name in patterns},
        apart=_compile_apart(row["apart"], file["quoted"]["labels"]),
        # A capital is what distinguishes a German noun.
        plural=re.compile(row["plural"]),
        noun_last=row["noun_last"],
        there_are=row["there_are"],
        numbers=frozenset(f"{file['numbers']} {row['numbers']}".split()),
        line=row["line"],
        stop_words=load_language(code).stop_words,
    )


def _compile_apart(words: str, labels: str) -> Pattern:
    """Compile the pattern of a label in front, and of a remark in brackets or behind a sign, with or without a date."""
    label = rf"^\W*(?:{labels}|(?:\w+ )?(?:{words})\b[^:]{{0,30}})\s*:"
    remark = rf"(?:^|[(\[,;:–—]|\s-)\s*(?:{words})(?:\s[^():]{{0,20}}\d[^():]{{0,12}})?\s*(?:[)\],;.]|$)"
    return re.compile(f"{label}|{remark}", re.IGNORECASE)


@cache
def load_count_line() -> Pattern:
    """Load the pattern of a line that states a number of entries, in any of the languages."""
    lines = "|".join(re.escape(load_counting_words(code).line) for code in LISTED_LANGUAGES)
    return re.compile(lines.replace(re.escape("{number}"), r"(\d+)"))
