"""Type of the answer that a question wants, and the shape of sentences of that type."""

from __future__ import annotations

from typing import Literal, cast

from argot.languages.detection import identify_listed_language
from argot.languages.question_words import find_question_words
from argot.languages.several_words import SeveralWords, load_several_words
from argot.tools.text.quantities import find_quantities

AnswerType = Literal["quantity", "time", "person", "reason", "steps", "definition", "anything"]


def asks_whether(question: str) -> bool:
    """Return whether yes or no answers a question."""
    return find_question_words(question).whether.search(question) is not None


def is_decisive(sentence: str) -> bool:
    """Return whether a sentence (plain text) allows, forbids, demands or denies something."""
    return find_question_words(sentence).decides.search(sentence) is not None


def asks_for_all(question: str) -> bool:
    """Return whether a question asks for everything there is of a kind ("which codes can I give?", "what are the
    steps?"), so that one item alone is no answer.
    """
    return _load_several(question).all_of.search(question) is not None


def asks_for_several(question: str) -> bool:
    """Return whether several things may answer, so that a quoted part of a list has to be called a part."""
    if asks_for_all(question) or find_answer_type(question) == "steps":
        return True
    return _load_several(question).several.search(question) is not None


def asks_twice(question: str) -> bool:
    """Return whether a second question is attached to the first: "How often does it leave, and where does it go?"."""
    return _load_several(question).second.search(question) is not None


def _load_several(question: str) -> SeveralWords:
    return load_several_words(identify_listed_language(question))


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
