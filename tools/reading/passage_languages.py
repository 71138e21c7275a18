"""The languages of a question and of the passages found for it."""

from __future__ import annotations

from collections.abc import Sequence

from argot.languages.detection import find_question_language
from argot.languages.language_data import ENGLISH
from argot.types import Hit, Passage


def is_beyond_english(question: str, hits: Sequence[Hit]) -> bool:
    """Return whether the question or the best hit is not in English, from which the trained readers have learnt."""
    return any(one not in ("", ENGLISH) for one in (find_question_language(question), hits[0].passage.language))


def is_in_other_language(question: str, passage: Passage) -> bool:
    """Return whether a passage is in another language than the question; keywords that show no language may be in any,
    and so may a passage whose language is unknown.
    """
    asked = find_question_language(question)
    return bool(asked and passage.language) and passage.language != asked
