"""Patterns that introduce the words of a text, or ask for them, in the languages with a file of words."""

from __future__ import annotations

import re
from functools import cache

from argot.languages.detection import identify_listed_language
from argot.languages.language_data import LISTED_LANGUAGES, read_language_file

_WORD = re.compile(r"\w")


@cache
def join_quoted_words(key: str) -> str:
    """Join the patterns of all languages under a key of their section `quoted`, as alternatives."""
    return "|".join(read_language_file(code)["quoted"][key] for code in LISTED_LANGUAGES)


def is_label(text: str) -> bool:
    """Return whether the text before a colon marks a statement of the text itself: "Note: ...", "Hinweis: ..."."""
    return _compile_labels().fullmatch(text) is not None


def asks_for_words(question: str) -> bool:
    """Return whether a question asks what a text says, such as a message: "What is the message when ...?"."""
    return _compile_asking(identify_listed_language(question)).search(question) is not None


def leans_back(sentence: str, language: str) -> bool:
    """Return whether a sentence begins with a word that stands for something in the sentence before it: "It is 300 ns",
    "However, ...", "The latter ...", "Dort ...".
    """
    first = _WORD.search(sentence)
    return first is not None and _compile_words(language, "leans").match(sentence, first.start()) is not None


def points_below(sentence: str, language: str) -> bool:
    """Return whether a sentence points to what stands below it: "Do the following.", "Beachten Sie diese Schritte."."""
    return _compile_words(language, "points_below").search(sentence) is not None


def says_changed(sentence: str, language: str) -> bool:
    """Return whether a sentence of a document says that parts of it were replaced: "Parts 4.3 and 4.9 were changed"."""
    return _compile_words(language, "says_changed").search(sentence) is not None


def announces_change(sentence: str, language: str) -> bool:
    """Return whether a sentence tells of a change: "Owners may no longer weld", "From 1 March the fee is £22"."""
    return _compile_announcing(language).search(sentence) is not None


def has_old_and_new(header: str, language: str) -> bool:
    """Return whether a table's header has a column for what was and one for what is: "| Fee | Until May | New |"."""
    return _compile_columns(language).search(header) is not None


def is_announcement(name: str) -> bool:
    """Return whether a document's title or name is that of a text that tells of changes: "memo_parking.md"."""
    return _compile_announcements().search(re.sub(r"[_\W]+", " ", name)) is not None


@cache
def _compile_announcements() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{join_quoted_words('announcements')})\b", re.IGNORECASE)


@cache
def _compile_columns(code: str) -> re.Pattern[str]:
    return re.compile(read_language_file(code)["quoted"]["old_and_new"], re.IGNORECASE)


@cache
def _compile_announcing(code: str) -> re.Pattern[str]:
    row = read_language_file(code)
    words = row["quoted"]["announces"].replace("MONTH", "|".join(row["months"].split()))
    numbers = "|".join(word for word in row["numbers"].split() if word != "-")
    # "from ten to twenty pounds"
    words = words.replace(r"\W{0,3}\d)", rf"\W{{0,3}}(?:\d|(?:{numbers})\b))")
    return re.compile(rf"\b(?:{words})", re.IGNORECASE)


@cache
def _compile_labels() -> re.Pattern[str]:
    return re.compile(rf"\W*(?:{join_quoted_words('labels')})\W*", re.IGNORECASE)


@cache
def _compile_words(code: str, key: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{read_language_file(code)['quoted'][key]})\b", re.IGNORECASE)


@cache
def _compile_asking(code: str) -> re.Pattern[str]:
    return re.compile(read_language_file(code)["quoted"]["asks"], re.IGNORECASE)
