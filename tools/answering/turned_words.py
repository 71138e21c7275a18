"""Finds a word of direction that a sentence turns into its opposite, or a negation that it adds or drops, while the
words beside it stay: "before the audit" for "after the audit", "is not paid" for "is paid".
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.tools.answering.denial import (
    CLAUSE,
    NEGATION,
    find_denied_stems,
    has_denying_word,
    split_clauses,
    strip_idle_negations,
)
from argot.tools.answering.scope import find_sides, strip_idle_directions
from argot.tools.answering.support import find_statement_stems, list_units
from argot.tools.text.words import fold_words, stem

_MIN_SHARED = 2  # stems besides the denied one by which two clauses are about the same
_MIN_BEGINNING = 6  # letters of a word that begins another: "regular" and "regularly"
_CONDITION = re.compile(r"\W*(?:if|when|unless|until|in case)\b", re.IGNORECASE)

_Beside = tuple[frozenset[tuple[int, str]], frozenset[tuple[int, str]]]
"""Words of direction, by their sides (`find_sides`): each with the stem before it, and each with the one behind it."""


def find_turned_word(said: str, passage: str) -> str:
    """Return the word beside which the passage has the opposite of the sentence's word of direction; "negation" if the
    sentence denies what the passage affirms, or affirms what it denies; empty if neither is so.
    """
    before, behind = _list_beside(said)
    clauses = [_list_beside(there) for there, _ in split_clauses(passage)]
    there_before = frozenset().union(*(one for one, _ in clauses))
    there_behind = frozenset().union(*(one for _, one in clauses))
    for is_behind, (mine, theirs) in enumerate(((before, there_before), (behind, there_behind))):
        for side, beside in mine - theirs:
            if (side ^ 1, beside) not in theirs or (side ^ 1, beside) in mine:
                continue
            # "Before the project ends" bears out "before the end date of the project".
            units = (unit for unit, stems in list_units(passage) if beside in stems)
            if not any(_has_beside(unit, side, beside, is_behind=bool(is_behind)) for unit in units):
                return f"'{beside}' beside the opposite"
    return "negation" if _has_turned_negation(said, passage) or _affirms_denied(said, passage) else ""


def _has_beside(unit: str, side: int, beside: str, *, is_behind: bool) -> bool:
    """Return whether a unit has the stem behind a word of this side, or before one, however far from it."""
    words = fold_words(unit)
    places = [place for place, word in enumerate(words) if side in find_sides(word)]
    stems = [stem(word) for word in words]
    return any(beside in (stems[place + 1 :] if is_behind else stems[:place]) for place in places)


@lru_cache(maxsize=8_000)
def _list_beside(text: str) -> _Beside:
    before: set[tuple[int, str]] = set()
    behind: set[tuple[int, str]] = set()
    for clause in CLAUSE.split(text):
        if NEGATION.search(clause):  # "not allowed" is on the side of "forbidden"
            continue
        words = [
            word for word in fold_words(strip_idle_directions(clause)) if find_sides(word) or word not in STOP_WORDS
        ]
        for one, other in pairwise(words):
            before |= {(side, stem(one)) for side in find_sides(other) if not find_sides(one)}
            behind |= {(side, stem(other)) for side in find_sides(one) if not find_sides(other)}
    return frozenset(before), frozenset(behind)


def _has_turned_negation(said: str, passage: str) -> bool:
    """Return whether a clause of the sentence denies a word that each of the passage's clauses with it affirms."""
    for clause in CLAUSE.split(strip_idle_negations(said)):
        denied = _find_denied_word(clause)
        if not denied or has_denying_word(clause):
            continue
        others = find_statement_stems(NEGATION.sub(" ", clause)) - {denied}
        # "Never by hand" may follow what is done: "Collect it with tools, never by hand".
        if any(others & find_denied_stems(there) for there, _ in split_clauses(passage)):
            continue
        about = [there for there, theirs in split_clauses(passage) if denied in theirs]
        alike = [there for there in about if len(others & find_statement_stems(there)) >= min(_MIN_SHARED, len(others))]
        if alike and others and not any(NEGATION.search(there) or has_denying_word(there) for there in about):
            return True
    return False


def _affirms_denied(said: str, passage: str) -> bool:
    """Return whether a sentence without any denial has a word that the passage only denies, in clauses about the same:
    "can regain it" for "cannot regain it".
    """
    if NEGATION.search(strip_idle_negations(said)) or has_denying_word(said):
        return False
    mine = find_statement_stems(said)
    clauses = split_clauses(passage)
    for there, theirs in clauses:
        for denied in () if _CONDITION.match(there) else _list_denied_words(strip_idle_negations(there)):
            others = theirs - {denied}
            if not _has_word(denied, mine) or len(others & mine) < min(_MIN_SHARED, len(others)) or not others:
                continue
            if all(NEGATION.search(one) or has_denying_word(one) for one, stems in clauses if denied in stems):
                return True
    return False


def _has_word(word: str, stems: frozenset[str]) -> bool:
    return word in stems or (len(word) >= _MIN_BEGINNING and any(one.startswith(word) for one in stems))


def _list_denied_words(clause: str) -> list[str]:
    """Return the stem of the first word with a meaning behind the only negation of a clause; after "no" also of the
    second one: "no regular monitoring".
    """
    found = list(NEGATION.finditer(clause))
    # "Those who are neither drive their own involvement": what is denied stands before it.
    if len(found) != 1 or found[0][0].casefold() == "neither":
        return []
    words = [word for word in fold_words(clause[found[0].end() :]) if word not in STOP_WORDS]
    return [stem(word) for word in words[: 2 if found[0][0].casefold() == "no" else 1]]


def _find_denied_word(clause: str) -> str:
    """Return the first stem with a meaning behind the clause's only negation; empty without one, or with several."""
    return next(iter(_list_denied_words(clause)), "")
