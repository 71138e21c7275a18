"""Check for denial in other languages than English (`denial.py`): a sentence denies what its passage affirms, or the
other way round.

Words are compared within a language. Across languages the sentence is compared with the passage's sentence that is
nearest in meaning, which a multilingual embedder finds.
"""

from __future__ import annotations

from functools import lru_cache

from argot.languages.detection import identify_listed_language
from argot.languages.language_data import ENGLISH, LISTED_LANGUAGES
from argot.languages.negation_words import Denial, count_negations, list_denials, split_clauses, strip_negations
from argot.tools.reading.answer_types import asks_whether
from argot.tools.text.markdown_prose import extract_prose
from argot.tools.text.sentences import split_units
from argot.tools.text.words import fold_words, stem_content

_MIN_STEMS = 2  # stems; a shorter clause has too few words to be found by
_MIN_SHARED = 0.6  # share of the stems of a clause in another one about the same

_Clause = tuple[str, frozenset[str]]


def has_foreign_denial(said: str, passage: str) -> bool:
    """Return whether a clause of the sentence denies something that all of the passage's clauses about it affirm, or
    affirms what they deny. Both are in the same language, which is not English.
    """
    language = identify_shared_language(said, passage)
    if _is_altered(said, passage, language):
        return True
    clauses = split_clauses(said, language)
    # "Visitors and children" of "visitors and children may not enter" affirms nothing.
    if any(denial.denies for clause in clauses for denial in list_denials(clause, language)):
        clauses = [one for one in clauses if any(denial.denies for denial in list_denials(one, language))]
    return any(_is_opposed(clause, passage, language) for clause in clauses)


def denies_by_question(said: str, asked: str) -> bool:
    """Return whether a question denies what the sentence that answers it leaves out: "Who may not ...?" "Visitors."."""
    return _has_negation(asked) and not _has_negation(said) and not asks_whether(asked)


def _has_negation(text: str) -> bool:
    return count_negations(text, identify_listed_language(text)) > 0


def identify_shared_language(said: str, passage: str) -> str:
    """Return the language of a passage, and of a sentence that is compared with it word by word.

    They are read together: a short passage in French may look like Spanish. English passages are read alone.
    """
    language = identify_listed_language(passage)
    return language if language == ENGLISH else identify_listed_language(f"{passage}\n{said}")


def is_opposed_across(said: str, nearest: str, languages: tuple[str, str]) -> bool:
    """Return whether a sentence denies what a sentence in another language affirms, or the other way round.

    Args:
        nearest: the sentence that says the same, apart from that.
        languages: of both.
    """
    if not set(languages) <= set(LISTED_LANGUAGES):
        return False
    mine, theirs = list_denials(said, languages[0]), list_denials(nearest, languages[1])
    if not mine or not theirs or any(one.unclear for one in mine + theirs):
        return False
    if len(mine) == len(theirs):  # "it is not needed if ..." denies in one clause of two
        return sum(one.denies for one in mine) != sum(one.denies for one in theirs)
    return len(set(mine)) == len(set(theirs)) == 1 and mine[0] != theirs[0]


def _is_opposed(clause: str, passage: str, language: str) -> bool:
    stems, denials = _list_stems(clause, language), list_denials(clause, language)
    if len(stems) < _MIN_STEMS or not denials:
        return False
    about = [one for one in _list_clauses(passage, language) if len(stems & one[1]) >= _MIN_SHARED * len(stems)]
    if not denials[0].denies:
        # A longer clause may deny something else.
        about = [one for one in about if len(stems & one[1]) >= _MIN_SHARED * len(one[1])]
    return bool(about) and all(_is_opposite(denials[0], list_denials(text, language)) for text, _ in about)


def _is_altered(said: str, passage: str, language: str) -> bool:
    """Return whether a sentence has the words of one of the passage's, but more negations, or fewer."""
    words = fold_words(strip_negations(said, language))
    same = [
        text for text, _ in _list_clauses(passage, language) if fold_words(strip_negations(text, language)) == words
    ]
    negations = count_negations(said, language)
    return len(words) >= _MIN_STEMS and bool(same) and all(count_negations(one, language) != negations for one in same)


def _is_opposite(mine: Denial, theirs: tuple[Denial, ...]) -> bool:
    """Return whether all clauses of a sentence deny what another clause affirms, or affirm what it denies.

    Words that may deny have to be the same in both: "gates are closed, and not open" has one.
    """
    unclear = frozenset[str]().union(*(one.unclear for one in theirs))
    return bool(theirs) and unclear == mine.unclear and all(one.denies != mine.denies for one in theirs)


@lru_cache(maxsize=1_000)
def _list_clauses(passage: str, language: str) -> tuple[_Clause, ...]:
    """Return the clauses of a passage, and its whole sentences, with their stems. The rows of tables are left out."""
    spans = ((start, end) for start, end, kind in split_units(passage) if kind != "row")
    units = [extract_prose(passage[start:end]).text for start, end in spans]
    texts = dict.fromkeys(text for unit in units for text in (unit, *split_clauses(unit, language)))
    return tuple((text, _list_stems(text, language)) for text in texts)


@lru_cache(maxsize=8_000)
def _list_stems(text: str, language: str) -> frozenset[str]:
    return frozenset(one for _, one in stem_content(strip_negations(text, language), language))
