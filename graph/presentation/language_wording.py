"""The texts about the languages of a question and of the documents: nothing is translated."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from argot.graph.presentation.turn_reading import TurnReading
from argot.graph.run_context import RunContext
from argot.languages.detection import identify_question_language, name_language
from argot.languages.language_data import LISTED_LANGUAGES, load_listed_languages
from argot.types import LANGUAGE, Passage

MAX_LANGUAGES = 20
"""Languages of documents that are looked at; more are not named."""


def find_other_languages(question: str, run: RunContext) -> list[str]:
    """Return the names of the languages of the documents that this asker may read, if none of them is the question's;
    else nothing. Documents whose language is unknown may be in any.
    """
    asked = name_language(identify_question_language(question))
    there = run.corpus.store.field_values(run.principal, LANGUAGE, MAX_LANGUAGES)
    return [] if asked in there else there


def write_other_languages(question: str, languages: Sequence[str]) -> str:
    """Write what Argot can say of a question if all documents are in other languages: not that they lack an answer."""
    asked = name_language(identify_question_language(question))
    there = join_languages(languages)
    return (
        f"The question is in {asked}, and there are only documents in {there}. Argot does not translate, so they may "
        f"well answer it: ask again in {there}."
    )


def write_language_notes(reading: TurnReading, cited: Collection[Passage]) -> list[str]:
    """Write the notes under an answer about a language without lists, and about quotations in another language."""
    if reading.turn["status"] not in ("answered", "abstained"):
        return []
    language = identify_question_language(reading.turn["stand_alone_question"])
    notes = []
    if language not in LISTED_LANGUAGES:
        known = join_languages([one.name for one in load_listed_languages()])
        notes.append(
            f"The question seems to be in {name_language(language)}. Argot knows the question words of {known}; in "
            "other languages it searches all words, and cannot tell what kind of answer is wanted."
        )
    others = sorted({name_language(one.language) for one in cited if one.language and one.language != language})
    if others and reading.turn.get("answered_by") != "model":
        notes.append(f"Quoted as written, in {join_languages(others)}.")
    return notes


def join_languages(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
