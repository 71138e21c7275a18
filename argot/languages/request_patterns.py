"""Patterns of requests that no document answers by its words, in the languages that have a file of them: questions
about the library, earlier questions, files, and the meaning of terms.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from argot.languages.detection import list_possible_languages
from argot.languages.language_data import read_language_file

Pattern = re.Pattern[str]
RequestKind = Literal["library", "glossary", "history", "gist", "detail", "meaning"]

TERM_MARK = "\ue000"
"""Placeholder for a term in a message and in the patterns."""
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_BREAKS = re.compile(rf"[^\w'{TERM_MARK}]+")


@dataclass(frozen=True, slots=True)
class RequestPatterns:
    """The patterns of one kind of request in one language.

    Attributes:
        opening, ending: what may stand before and behind the request.
        texts: what the file has besides: a pattern, a text, or a list of patterns.
    """

    kind: RequestKind
    language: str
    opening: Pattern
    ending: Pattern
    texts: Mapping[str, Any]

    def strip(self, text: str) -> str:
        """Return a message without the words around the request."""
        return self.ending.sub("", self.opening.sub("", text))

    def compile(self, key: str) -> tuple[Pattern, ...]:
        """Return the patterns under a key of the file, one or several."""
        return _compile_rows(self.kind, self.language, key)


def list_requests(kind: RequestKind, message: str) -> Iterator[RequestPatterns]:
    """Yield the patterns of a kind in each language that a message may be in, English first."""
    for code in list_possible_languages(message):
        yield load_requests(kind, code)


@cache
def load_requests(kind: RequestKind, code: str) -> RequestPatterns:
    """Load the patterns of a kind in one of `LISTED_LANGUAGES`; most are compiled when they are first needed."""
    (opening,), (ending,) = (_compile_rows(kind, code, key) for key in ("opening", "ending"))
    return RequestPatterns(kind, code, opening, ending, _read_section(kind, code))


@cache
def _compile_rows(kind: RequestKind, code: str, key: str) -> tuple[Pattern, ...]:
    section = _read_section(kind, code)
    parts = {"mark": TERM_MARK}
    for name, text in section["parts"].items():
        parts[name] = _expand(text, parts)
    rows = [section[key]] if isinstance(section[key], str) else section[key]
    return tuple(_compile(_expand(row, parts)) for row in rows)


def _read_section(kind: RequestKind, code: str) -> Mapping[str, Any]:
    section: Mapping[str, Any] = read_language_file(f"{code}_requests")[kind]
    return section


def _expand(text: str, parts: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: parts[found[1]], text)


def _compile(pattern: str) -> Pattern:
    # "ß" is "ss" in a message in lower case.
    return re.compile(fold_accents(pattern).replace("ß", "(?:ß|ss)"), re.IGNORECASE)


def normalize(message: str) -> str:
    """Return the words of a message in lower case and without accents, as the patterns are; apostrophes are kept."""
    return " ".join(_BREAKS.sub(" ", fold_accents(message.casefold())).split())


def fold_accents(text: str) -> str:
    """Return a composed text (NFC) without accents, of the same length, with straight apostrophes."""
    if text.isascii():
        return text
    return "".join(map(_fold_letter, text))


@cache
def _fold_letter(letter: str) -> str:
    if letter == "’":
        return "'"
    base, *marks = list(unicodedata.normalize("NFD", letter))
    return base if all(map(unicodedata.combining, marks)) else letter
