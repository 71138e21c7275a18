"""Names of numbered parts of documents ("clause", "step") in documents and questions, by language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from argot.languages.language_data import LISTED_LANGUAGES, load_language, read_language_file


@dataclass(frozen=True, slots=True)
class NumberingWords:
    """The words of one language, whose meaning its file explains (`argot/languages/en.toml`).

    Attributes:
        number, joins, lists, relation, amount, inside, leads, end: patterns, as text.
        names: the names of each kind of part, the usual one first. The kinds are called as in English.
        general: words that distinguish no places, stop words among them.
    """

    number: str
    joins: str
    lists: str
    relation: str
    amount: str
    inside: str
    leads: str
    end: str
    names: Mapping[str, tuple[str, ...]]
    general: frozenset[str]
    listed: frozenset[str]

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of part for each of its names."""
        return {name: kind for kind, names in self.names.items() for name in names}


@cache
def load_numbering_words(code: str) -> NumberingWords:
    """Load the words of one of `LISTED_LANGUAGES`."""
    row = read_language_file(code)["numbered"]
    patterns = ("number", "joins", "lists", "relation", "amount", "inside", "leads", "end")
    return NumberingWords(
        **{key: row[key] for key in patterns},
        names={kind: tuple(names.split()) for kind, names in row["kinds"].items()},
        general=frozenset(row["general"].split()) | load_language(code).stop_words,
        listed=frozenset(row["listed"].split()),
    )


@cache
def load_kinds() -> dict[str, str]:
    """Load the kind of part for each of its names in any of the languages; English wins."""
    kinds: dict[str, str] = {}
    for code in LISTED_LANGUAGES:
        kinds = load_numbering_words(code).kinds | kinds
    return kinds


@cache
def load_counts(code: str) -> dict[str, str]:
    """Load the words for small numbers in a language, in lower case, each with its digits."""
    counts = read_language_file(code)["numbered"]["counts"].split()
    return {word: str(value) for value, word in enumerate(counts, start=1)}
