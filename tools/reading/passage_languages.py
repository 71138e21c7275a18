"""The languages of a question and of the passages found for it."""

from __future__ import annotations

from collections.abc import Sequence

from argot.languages.detection import identify_question_language
from argot.languages.language_data import ENGLISH
from argot.types import Hit, Passage


def is_beyond_english(question: str, hits: Sequence[Hit]) -> bool:
    """Return whether the question or the best hit is not in English, from which the trained readers have learnt."""
    return identify_question_language(question) != ENGLISH or is_in_other_language(question, hits[0].passage)


def is_in_other_language(question: str, passage: Passage) -> bool:
    """Return whether a passage is in another language than the question; an unknown language counts as its own."""
    return bool(passage.language) and passage.language != identify_question_language(question)
