"""Compiled patterns of questions in the languages that have a file of words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from argot.languages.detection import identify_listed_language
from argot.languages.language_data import ENGLISH, LISTED_LANGUAGES, read_language_file

Pattern = re.Pattern[str]


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The patterns of one language.

    Attributes:
        interrogatives, auxiliaries, requests: alternatives of a pattern, in lower case.
        whether: what opens a yes-or-no question.
        decides: what a sentence has that allows, forbids, demands or denies something.
        follow_up: a message that means nothing without the previous question; None: rules of their own decide.
        asks: the types of answers that questions want, and their patterns; the first that fits decides.
        shapes: how sentences of a type look.
    """

    interrogatives: str
    auxiliaries: str
    requests: str
    whether: Pattern
    decides: Pattern
    follow_up: Pattern | None
    asks: tuple[tuple[str, Pattern], ...]
    shapes: dict[str, Pattern]


@cache
def load_question_words(code: str) -> QuestionWords:
    """Load the patterns of one of `LISTED_LANGUAGES`."""
    row = read_language_file(code)
    return QuestionWords(
        row["interrogatives"],
        row["auxiliaries"],
        row["requests"],
        _compile(row["whether"]),
        _compile(row["decides"]),
        _compile(row["follow_up"]) if row["follow_up"] else None,
        tuple((one["type"], _compile(one["pattern"])) for one in row["asks"]),
        {kind: _compile(pattern) for kind, pattern in row["shapes"].items()},
    )


def find_question_words(text: str) -> QuestionWords:
    """Return the patterns of the language in which a question or sentence is."""
    return load_question_words(identify_listed_language(text))


@cache
def join_verdicts() -> str:
    """Join the words for yes and no of all languages, as alternatives of a pattern."""
    return "|".join(read_language_file(code)["verdicts"] for code in LISTED_LANGUAGES)


def begins_with_verdict(text: str) -> bool:
    """Return whether a text begins with "yes" or "no" in a listed language: "No, never"."""
    return _compile_leading_verdict().match(text) is not None


def is_verdict(text: str) -> bool:
    """Return whether a sentence is a bare "Yes." or "No." in any of the languages: it has no words to compare."""
    return _compile_verdict().fullmatch(text) is not None


def is_confirmation(text: str) -> bool:
    """Return whether a sentence begins by confirming what was asked: "Yes, ...", "Richtig, ..."."""
    code = identify_listed_language(text)
    return any(_compile_confirmation(one).match(text) for one in {ENGLISH, code})


@cache
def compile_remarks() -> Pattern:
    """Compile the pattern of what a reply says of itself or of its sources, in any of the languages."""
    return _compile(rf"\b(?:{'|'.join(read_language_file(code)['remarks'] for code in LISTED_LANGUAGES)})(?!\w)")


@cache
def _compile_confirmation(code: str) -> Pattern:
    return _compile(rf"\W*(?:{read_language_file(code)['confirmations']})\b")


@cache
def _compile_verdict() -> Pattern:
    return _compile(rf"\W*(?:{join_verdicts()})\W*")


@cache
def _compile_leading_verdict() -> Pattern:
    return _compile(rf"\W*(?:{join_verdicts()})\b\W")


@cache
def load_small_talk(kind: str) -> Pattern:
    """Return the pattern of all phrases of a kind of small talk, or of `fillers`, in any of the languages."""
    rows = [read_language_file(code)["small_talk"] for code in LISTED_LANGUAGES]
    return re.compile("|".join(f"(?:{phrase})" for row in rows for phrase in row[kind]))


def list_small_talk_kinds() -> list[str]:
    """List the kinds of small talk, the most telling first."""
    return [kind for kind in read_language_file(LISTED_LANGUAGES[0])["small_talk"] if kind != "fillers"]


def _compile(pattern: str) -> Pattern:
    return re.compile(pattern, re.IGNORECASE)
