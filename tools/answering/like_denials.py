"""Tells a denial that a passage makes in other words from one that it does not make.

"The letters I and O are never used" for "a suffix, but never the letters I or O", "there is no fine" for "Fine: none",
"not in wind" for a row's "in wind" below "Closed". Rules cannot tell whether both deny the same, so that a model is
asked about such a sentence; not about one with more denials than the passage makes of the same things. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from argot.tools.answering.denial import CLAUSE, NEGATION, split_clauses, strip_idle_negations
from argot.tools.answering.support import find_column_names, find_statement_stems, list_units
from argot.tools.text.words import content_stems

_DENYING_WORDS = (
    r"(?:bad|wrong|clos(?:ed?|es)|shut|avoid\w*|forbid\w*|prohibit\w*|banned|exclud\w*|exempt\w*|except\w*"
    r"|other than)\b"
)
_DENYING = re.compile(rf"{NEGATION.pattern}|\b{_DENYING_WORDS}", re.IGNORECASE)
_TWICE = re.compile(rf"{NEGATION.pattern} (?:\w+ ){{0,2}}{_DENYING_WORDS}", re.IGNORECASE)
"""A denial of a denial: "not prohibited" turns "prohibited" into its opposite."""
_STOP = re.compile(r"[,;:.!?()](?=\s|$)")
_ONLY = re.compile(r"\bonly\b", re.IGNORECASE)
_NOTHING = ("nothing", "none", "nobody")
_MAX_WORDS = 7  # words behind a negation that it denies
_MAX_WORDS_WITHOUT = 2
_MIN_CLAUSE_SHARE = 0.6  # share of a clause's stems in a clause that denies the same
_MIN_CLAUSE_STEMS = 2
_MIN_ELSEWHERE_STEMS = 2


class _Denial(NamedTuple):
    """What a negation denies: the stems behind it, the first of them, and the stems of its clause and before it."""

    word: str
    denied: frozenset[str]
    first: str
    clause: frozenset[str]
    before: frozenset[str]


def is_denied_alike(said: str, passage: str) -> bool:
    """Return whether the passage denies of the same things what the sentence denies, as often as the sentence does; or
    affirms in one place what it denies in another, if the sentence denies nothing.
    """
    mine = _list_denials(strip_idle_negations(said), NEGATION)
    if not mine:
        return _is_affirmed_elsewhere(said, passage)
    if _TWICE.search(said):
        return False
    if len(mine) == 1 and _is_meant_by_only(said, passage):
        return True
    theirs = _list_passage_denials(passage)
    agreeing = [{place for place, other in enumerate(theirs) if _is_alike(one, other, passage)} for one in mine]
    return all(agreeing) and len(mine) <= len(frozenset().union(*agreeing))


def _is_alike(mine: _Denial, theirs: _Denial, passage: str) -> bool:
    if mine.word == theirs.word in _NOTHING:
        return True
    shared = mine.denied & theirs.denied
    is_shared = mine.first in theirs.denied or 2 * len(shared) >= len(mine.denied)
    if is_shared and any(map(str.isalpha, "".join(shared))):
        return True
    least = max(_MIN_CLAUSE_STEMS, _MIN_CLAUSE_SHARE * len(mine.clause))
    if len(mine.clause & theirs.clause) >= least:
        return True
    # "Never the letters I or O" for "the letters I and O are never used"
    return bool(theirs.denied) and theirs.denied <= mine.before and not _is_affirmed(mine.first, passage)


def _is_affirmed(word: str, passage: str) -> bool:
    return any(word in stems and not _DENYING.search(clause) for clause, stems in split_clauses(passage))


def _is_meant_by_only(said: str, passage: str) -> bool:
    """Return whether a sentence's denial only says what the "only" before it says: "a voucher only, not cash"."""
    before = NEGATION.split(said)[0]
    clauses = [clause for clause in CLAUSE.split(before) if _ONLY.search(clause)]
    stems = frozenset().union(*(find_statement_stems(_ONLY.sub(" ", clause)) for clause in clauses))
    return any(_ONLY.search(unit) and stems & theirs for unit, theirs in list_units(passage))


def _is_affirmed_elsewhere(said: str, passage: str) -> bool:
    """Return whether the passage affirms, in another clause, each thing of the sentence that it denies."""
    stems = find_statement_stems(said)
    denials = [(one.denied & stems, one.denied) for one in _list_passage_denials(passage)]
    denied = [shared for shared, every in denials if 2 * len(shared) > len(every)]
    affirmed = [theirs for clause, theirs in split_clauses(passage) if not _DENYING.search(clause)]
    return bool(denied) and all(
        len(some) >= _MIN_ELSEWHERE_STEMS and any(some <= theirs for theirs in affirmed) for some in denied
    )


@lru_cache(maxsize=1_000)
def _list_passage_denials(passage: str) -> tuple[_Denial, ...]:
    return tuple(
        one
        for unit, _ in list_units(passage)
        for one in (*_list_denials(strip_idle_negations(unit), _DENYING), *_list_denied_cells(unit, passage))
    )


def _list_denials(text: str, pattern: re.Pattern[str]) -> list[_Denial]:
    found = []
    for match in pattern.finditer(text):
        behind = _STOP.split(text[match.end() :])[0].split()
        words = behind[: _MAX_WORDS_WITHOUT if match[0].casefold() == "without" else _MAX_WORDS]
        clause = find_statement_stems(_find_clause(text, match.start()))
        denied = find_statement_stems(" ".join(words)) or clause
        first = next(iter(content_stems(" ".join(words))), "")
        before = find_statement_stems(text[: match.start()])
        found.append(_Denial(match[0].casefold(), denied, first, clause, before))
    return found


def _find_clause(text: str, place: int) -> str:
    start = max((found.end() for found in CLAUSE.finditer(text) if found.end() <= place), default=0)
    end = min((found.start() for found in CLAUSE.finditer(text) if found.start() > place), default=len(text))
    return text[start:end]


def _list_denied_cells(row: str, passage: str) -> Iterator[_Denial]:
    """Yield the cells of a row below a column's name that denies, such as "Closed"."""
    names = find_column_names(row, passage)
    if not names or names == row:
        return
    for name, cell in zip(names.strip("| ").split("|"), row.strip("| ").split("|"), strict=False):
        if _DENYING.search(name) and (stems := find_statement_stems(cell)):
            yield _Denial("", stems, "", stems, frozenset())
