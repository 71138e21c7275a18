"""The words of the languages that Argot has lists for, read from one file each beside this module."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

ENGLISH = "en"
LISTED_LANGUAGES = ("en", "de", "fr", "es")
"""ISO 639-1 codes of the languages with a file of words. English comes first: it wins where nothing decides."""


@dataclass(frozen=True, slots=True)
class LanguageData:
    """The words of one language.

    Attributes:
        code: as in ISO 639-1.
        name: in English.
        stop_words: those without a subject, left out of keyword queries; in lower case.
        letters: those that English lacks.
        signs: words that show that a question is in this language.
        weak_signs: words that show it only beside another one, since an English question may contain them.
        asking_words: words beside the stop words with which people ask what a term means, and that name no subject.
    """

    code: str
    name: str
    stop_words: frozenset[str]
    letters: frozenset[str]
    signs: frozenset[str]
    weak_signs: frozenset[str]
    asking_words: frozenset[str]


@cache
def load_language(code: str) -> LanguageData:
    """Load the words of one of `LISTED_LANGUAGES`."""
    row = read_language_file(code)
    stop_words, weak, asking = (frozenset(row[key].split()) for key in ("stop_words", "weak_signs", "asking_words"))
    return LanguageData(
        code,
        row["name"],
        stop_words,
        letters=frozenset(row["letters"]),
        signs=stop_words.union(row["common_words"].split()) - weak,
        weak_signs=weak,
        asking_words=asking,
    )


@cache
def read_language_file(code: str) -> dict[str, Any]:
    """Read the file of a language, as it is written."""
    return tomllib.loads(resources.files(__package__).joinpath(f"{code}.toml").read_text(encoding="utf-8"))


def load_listed_languages() -> list[LanguageData]:
    """Load the words of all languages that have a file, English first."""
    return [load_language(code) for code in LISTED_LANGUAGES]
