"""Check of whether a question has words other than its terms.

"What is a DCC?" and "Who do I contact about DOE?" contain nothing that distinguishes the senses of the term. A ranking
of senses from such a question is chance, however far apart its scores are.
"""

from __future__ import annotations

from collections.abc import Sequence

from argot.languages.detection import identify_listed_language
from argot.languages.language_data import ENGLISH, LanguageData, load_language
from argot.tools.text.words import separate_elisions, words
from argot.types import Mention


def has_only_terms(question: str, mentions: Sequence[Mention]) -> bool:
    """Return whether the question consists only of terms and question words."""
    text = question
    for mention in sorted(mentions, key=lambda mention: mention.start, reverse=True):
        # A space replaces the term, so that its neighbours do not merge into one word.
        text = f"{text[: mention.start]} {text[mention.end :]}"
    language = load_language(identify_listed_language(question))
    if language.code != ENGLISH:
        text = separate_elisions(text)
    return not any(_is_telling(word, text[start:end], text, language) for word, start, end in words(text))


def _is_telling(word: str, written: str, text: str, language: LanguageData) -> bool:
    # "IT" is a name, though "it" is a stop word; in a question written all in capitals the two look alike.
    if len(written) > 1 and written.isupper() and not text.isupper():
        return True
    # Single letters are what is left of "U.S.".
    return len(word) > 1 and word not in language.stop_words and word not in language.asking_words
