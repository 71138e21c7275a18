"""Words beside a name that show that it is one: a title before a person's, a legal form behind a firm's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from argot.languages.language_data import LISTED_LANGUAGES, load_language, read_language_file

_WORD = r"[A-ZÀ-ÖØ-Þ][a-zß-ÿ]{2,}"
_NAME = re.compile(rf"(?<![\w-]){_WORD}(?!\w|-[A-Z0-9]|['’][a-rt-z])")
_MAX_LOCAL_LETTERS = 2
"""Letters of a legal form that is read in its own language only: "SL" may be anything in another one."""


def find_marked_names(text: str, code: str) -> Iterator[re.Match[str]]:
    """Yield the words of a text, in this language, that a title or a legal form beside them shows to be names, in their
    order.
    """
    title, legal_form, offices = _compile_titles(code), _compile_legal_forms(code), load_offices(code)
    stop_words = load_language(code).stop_words
    for match in _NAME.finditer(text):
        word = match[0].casefold()
        if word in offices or word in stop_words:
            continue
        if title.search(text, 0, match.start()) or legal_form.match(text, match.end()):
            yield match


@cache
def load_offices(code: str) -> frozenset[str]:
    """Load the words that may follow a title and are no names, in lower case."""
    return frozenset(read_language_file(code)["names"]["offices"].split())


@cache
def _compile_titles(code: str) -> re.Pattern[str]:
    """Compile the pattern of a title, and perhaps first names, at the end of a text."""
    return re.compile(rf"(?<!\w)(?:{read_language_file(code)['names']['titles']})\s+(?:{_WORD}\s+){{0,2}}$")


@cache
def _compile_legal_forms(code: str) -> re.Pattern[str]:
    """Compile the pattern of a legal form, and perhaps the names of partners, at the beginning of a text."""
    forms = read_language_file(code)["names"]["legal_forms"].split()
    for other in LISTED_LANGUAGES:
        abroad = read_language_file(other)["names"]["legal_forms"].split()
        forms += [form for form in abroad if len(form) > _MAX_LOCAL_LETTERS]
    spellings = sorted({re.escape(form).replace(r"\.", r"\.\s?") for form in forms}, key=len, reverse=True)
    return re.compile(rf"(?:\s+(?:&|und|and|et|y)\s+(?:Co\.?|{_WORD}))*,?\s+(?:{'|'.join(spellings)})(?!\w)")
