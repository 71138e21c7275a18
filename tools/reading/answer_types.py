"""Type of the answer that a question wants, and the shape of sentences of that type."""

from __future__ import annotations

import re
from typing import Literal, cast

from argot.language import INTERROGATIVES
from argot.languages.question_words import find_question_words
from argot.tools.text.quantities import find_quantities

AnswerType = Literal["quantity", "time", "person", "reason", "steps", "definition", "anything"]


def asks_whether(question: str) -> bool:
    """Return whether yes or no answers a question."""
    return find_question_words(question).whether.search(question) is not None


def is_decisive(sentence: str) -> bool:
    """Return whether a sentence (plain text) allows, forbids, demands or denies something."""
    return find_question_words(sentence).decides.search(sentence) is not None


# "which codes can I give?", "what are the steps", "list all sites", "what all does the drive try"
_ALL_OF = re.compile(
    r"\b(?:what|which) (?:are|(?:(?!does|is|was|has)\w+ )?(?!does|was|has|this)\w+[^\Ws]s)\b"
    r"|\b(?:list|name|all) (?:of )?(?:the |our )?\w+s\b|\bwhat all\b|\bone after the other\b|\bstep by step\b"
    r"|\bin what order\b",
    re.IGNORECASE,
)


def asks_for_all(question: str) -> bool:
    """Return whether a question asks for everything there is of a kind, so that one item alone is no answer."""
    return _ALL_OF.search(question) is not None


# Amounts of time are no entries of a list.
_SEVERAL = re.compile(
    r"\bhow many (?!(?:\w+ )?(?:seconds|minutes|hours|days|nights|weeks|months|years)\b)"
    r"|\b(?:which|what) (?!(?:is|was|does|has)\b)(?:\w+ ){0,2}(?!does|was|has|this)\w+[^\Ws]s\b|\bwhat\b[^?]*? are\b",
    re.IGNORECASE,
)


def asks_for_several(question: str) -> bool:
    """Return whether several things may answer, so that a quoted part of a list has to be called a part."""
    return asks_for_all(question) or find_answer_type(question) == "steps" or _SEVERAL.search(question) is not None


_SECOND = re.compile(
    rf"\b(?:{INTERROGATIVES})\b.*?(?:\band\b|[,;?])\s+(?:and\s+|or\s+)?"
    rf"(?:(?:in|at|to|up to|from|by|for|of|with|within)\s+)?(?:{INTERROGATIVES})(?:'s)?\b",
    re.IGNORECASE,
)


def asks_twice(question: str) -> bool:
    """Return whether a second question is attached to the first: "How often does it leave, and where does it go?"."""
    return _SECOND.search(question) is not None


def find_answer_type(question: str) -> AnswerType:
    """Return the first type whose pattern the question fits, in its language: question words come before the nouns of
    quantities, so "what time" asks for a time, "who sets the limit?" for a person.
    """
    asks = find_question_words(question).asks
    return next((cast(AnswerType, kind) for kind, pattern in asks if pattern.search(question)), "anything")


def has_shape(wanted: AnswerType, sentence: str) -> bool:
    """Return whether the sentence (plain text) looks like an answer of this kind."""
    if wanted in ("quantity", "definition") and find_quantities(sentence):
        return True  # "What is the X?" asks for its value as often as for its meaning
    shapes = find_question_words(sentence).shapes
    return wanted in shapes and shapes[wanted].search(sentence) is not None
