"""The texts that tell the asker in which languages the question and the documents are: Argot translates nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from argot.graph.presentation.turn_reading import TurnReading
from argot.graph.run_context import RunContext
from argot.jargon_db.lookup.ordinary_words import is_common_word
from argot.languages.catalogues import join_with_and, join_with_or, translate, translate_language_name
from argot.languages.detection import (
    find_question_language,
    guess_question_language,
    identify_question_language,
    name_language,
)
from argot.languages.language_data import LISTED_LANGUAGES, load_listed_languages
from argot.types import LANGUAGE, Passage

_WORD = re.compile(r"[^\W\d_]+")
_MIN_GUESSED_WORDS = 3
MAX_LANGUAGES = 20
"""Number of languages of documents that are looked up; further ones are not named."""


def find_other_languages(question: str, run: RunContext) -> list[str]:
    """Return the names of the languages of the documents that this asker may read, if none of them is the question's;
    else nothing.

    Nothing is returned either if a language is unknown: that of a document, or of a question of a name or a few words.
    """
    asked = _identify_refused_language(question)
    there = run.corpus.store.field_values(run.principal, LANGUAGE, MAX_LANGUAGES)
    return [] if not asked or name_language(asked) in there else there


def _identify_refused_language(question: str) -> str:
    """Return the language of a question without an answer, in doubt a guess if hardly any word of it is English."""
    words = _WORD.findall(question.casefold())
    foreign = [word for word in words if len(word) > 1 and not is_common_word(word)]
    is_foreign = len(words) >= _MIN_GUESSED_WORDS and 2 * len(foreign) >= len(words)
    return find_question_language(question) or (guess_question_language(question) if is_foreign else "")


def write_other_languages(question: str, languages: Sequence[str]) -> str:
    """Write the reply if all documents are in other languages: they may answer the question all the same."""
    return translate(
        "The question is in %(asked)s, and there are only documents in %(there)s. Argot does not translate, so they "
        "may well answer it: ask again in %(either)s.",
        asked=translate_language_name(name_language(_identify_refused_language(question))),
        there=_join_languages(languages),
        either=join_with_or([translate_language_name(name) for name in languages]),
    )


def write_language_notes(reading: TurnReading, cited: Collection[Passage]) -> list[str]:
    """Write the notes under an answer about a language without lists, and about quotations in another language."""
    if reading.turn["status"] not in ("answered", "abstained"):
        return []
    language = identify_question_language(reading.turn["stand_alone_question"])
    notes = []
    if language not in LISTED_LANGUAGES:
        notes.append(
            translate(
                "The question seems to be in %(language)s. Argot knows the question words of %(known)s; in other "
                "languages it searches all words, and cannot tell what kind of answer is wanted.",
                language=translate_language_name(name_language(language)),
                known=_join_languages([one.name for one in load_listed_languages()]),
            )
        )
    others = sorted({name_language(one.language) for one in cited if one.language and one.language != language})
    if others and reading.turn.get("answered_by") != "model":
        notes.append(translate("Quoted as written, in %(languages)s.", languages=_join_languages(others)))
    return notes


def _join_languages(names: Sequence[str]) -> str:
    return join_with_and([translate_language_name(name) for name in names])
