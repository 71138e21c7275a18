"""Typing errors in ordinary words: "passwrod" is read as "password" if the documents have only the latter.

Names, codes and words in capitals stay as they are, and so does a word that may be several others. Only English
questions are read so: the lists of words are English, and the German "meine" is no error for "mine".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from argot.jargon_db.lookup.ordinary_words import (
    is_common_word,
    is_everyday_word,
    is_well_known,
    load_common_words,
)
from argot.jargon_db.lookup.spelling import list_near_spellings
from argot.languages.detection import identify_listed_language
from argot.languages.language_data import ENGLISH
from argot.tools.text.words import stem
from argot.types import Mention

MIN_LETTERS = 3
_MIN_ANY_ERROR_LETTERS = 5
"""Letters of a word in which any error is corrected; a shorter one is one error away from many others, so that only a
missing letter or two exchanged ones are.
"""
_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        """about and could does for from have many much should that the their there this what whats when where which
        will with would your""",
    )
)
"""Words that questions are made of and that are typed in haste: "teh", "mcuh", "wich". Words of the documents come
before them.
"""

_CONTRACTIONS = frozenset(
    re.findall(
        r"\w+",
        """arent couldnt didnt doesnt hadnt hasnt havent heres isnt mightnt mustnt neednt shouldnt shouldve
        thats theres theyd theyll theyre theyve wasnt werent weve whats wheres whos wouldnt wouldve youd
        youll youre youve""",
    )
)
"""Contractions as they are typed in haste: without the apostrophe they are no errors for another word."""

PassageCounter = Callable[[str], int]
"""Counts the passages with a word, in any inflection."""

SpellingFinder = Callable[[str], bool]
"""Says whether several passages spell a word just so."""

# Parts of names, paths and addresses are no words.
_WORD = re.compile(rf"(?<![\w./@:\\'’-])[a-z]{{{MIN_LETTERS},}}(?![\w@:\\'’-]|[./]\w)")


def find_typing_errors(
    question: str, terms: Sequence[Mention], count: PassageCounter, is_written: SpellingFinder
) -> list[tuple[str, str]]:
    """Return the misspelt words of a question, each with the word that is meant; none of one in another language."""
    if identify_listed_language(question) != ENGLISH:
        return []
    found: dict[str, str] = {}
    for match in _WORD.finditer(question):
        in_term = any(term.start < match.end() and match.start() < term.end for term in terms)
        if not in_term and (meant := _find_meant(match[0], count, is_written)):
            found[match[0]] = meant
    return list(found.items())


def correct_words(question: str, errors: Sequence[tuple[str, str]]) -> str:
    """Return the question with the misspelt words replaced."""
    meant = dict(errors)
    return _WORD.sub(lambda match: meant.get(match[0], match[0]), question)


def _find_meant(word: str, count: PassageCounter, is_written: SpellingFinder) -> str:
    """Return the one word of the documents that is one typing error away, else the one word that questions are made of;
    empty if none or several are.

    Words that the documents write so come first: "haeting" is "heating" and not "hating". Among these, a listed word
    comes before one that only looks like a form of another ("mornig" is "morning" and not "moring"), and exchanged
    letters before other errors.
    """
    is_word = is_common_word(word) or is_everyday_word(word) or is_well_known(word) or word in _CONTRACTIONS
    if is_word or count(word):
        return ""
    near = sorted(one for one in list_near_spellings(word) if _is_likely(word, one))
    found = [one for one in near if (is_common_word(one) or _is_exchanged(word, one)) and count(one)]
    written, listed = list(filter(is_written, found)), list(filter(_is_listed, found))
    near_words = [one for one in listed if one in written] or written or listed
    meant = [one for one in near_words if _is_exchanged(word, one)] or near_words
    if not meant:
        asking = [one for one in near if one in _FUNCTION_WORDS]
        meant = [one for one in asking if _is_exchanged(word, one) or len(one) > len(word) > MIN_LETTERS]
    # "pasword" may be "password" or "passwords".
    return min(meant, key=lambda one: (len(one), one)) if len(set(map(stem, meant))) == 1 else ""


def _is_listed(word: str) -> bool:
    """Return whether it is a listed English word or the plural of one; other endings also make forms of no word."""
    return not load_common_words().isdisjoint((word, word.removesuffix("s")))


def _is_likely(word: str, other: str) -> bool:
    """Return whether a word may be a misspelling of another: the first letter is the same, or letters are exchanged."""
    if _is_exchanged(word, other):
        return True
    is_long = len(word) >= _MIN_ANY_ERROR_LETTERS or (len(other) > len(word) > MIN_LETTERS)
    return is_long and word[0] == other[0]


def _is_exchanged(word: str, other: str) -> bool:
    """Return whether two words that are one error apart have the same letters."""
    return sorted(word) == sorted(other)
