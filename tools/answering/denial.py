"""Check for denial: a sentence denies a passage's statement, or states something that the passage denies, clause by
clause. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from argot.languages.english_contractions import CONTRACTED_NOT
from argot.tools.answering.support import deny_questions, find_statement_stems
from argot.tools.text.markdown_prose import extract_prose
from argot.tools.text.sentences import split_units

_MODAL_NOT = r"(?:(?:must|may|can|should|shall|will|does|do) ?not|cannot|never)"
_BOUND = {
    "at most": re.compile(
        rf"\b(?:{_MODAL_NOT} (?:be )?(?:exceed|(?:more|longer|greater|higher|larger|later) than|above|over|beyond)"
        r"|not? (?:more|longer|greater|higher|larger|later) than)\b",
        re.IGNORECASE,
    ),
    "at least": re.compile(
        rf"\b(?:{_MODAL_NOT} (?:be |fall |drop )?(?:(?:less|fewer|shorter|lower|smaller|earlier) than|below|under)"
        r"|not? (?:less|fewer|shorter|lower|smaller|earlier) than)\b",
        re.IGNORECASE,
    ),
}
"""Bounds that contain a negation but deny nothing."""
# "No. 5" is a number, and "not only", "isn't the only", "no matter", "whether or not" and "if not" deny nothing; nor
# does what an abbreviation stands for ("(Not To Exceed)").
_NO_DENIAL = re.compile(
    rf"\bNo\. ?(?=\d)|\bnot (?:only|just|merely)\b|(?:\bnot|{CONTRACTED_NOT}) the only\b"
    r"|\bno matter\b|\bwhether or not\b|\bif not\b|(?-i:\((?:No|Not|Without)(?: [A-Z][\w-]*)+(?: [a-z]+)?\))",
    re.IGNORECASE,
)
_DENIED_OMISSION = re.compile(
    rf"\b(?:not|never|\w+{CONTRACTED_NOT}) (?:be )?(?:omit\w*|le(?:ave|ft) out|ignored?|skip\w*|disregard\w*)\b",
    re.IGNORECASE,
)
"""What has to be there: "do not omit the date" is no "leave out the date"."""
_DENIED_TWICE = re.compile(
    rf"(\b(?:no|not|never|none|nothing|nobody|neither|cannot|\w+{CONTRACTED_NOT})\b[^.:;!?]*?,? )(?:not|nor) even\b",
    re.IGNORECASE,
)
"""A second denial of the same: "nobody may enter, not even the crew"."""
NEGATION = re.compile(
    rf"\b(?:not|no|never|none|nothing|nobody|neither|nor|cannot|without|unable|hardly|\w+{CONTRACTED_NOT})\b",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"\b(?:forbid\w*|forbade|prohibit\w*|ban|bans|banned|refus\w+|reject\w*|lacks?|lacking|fails?|failed|failure"
    r"|stays? out|kept out|keep out|leave out|left out|leaving out|omit\w*"
    r"|free (?:of|from)|rather than|instead|except\w*|exempt\w*|prevent\w*|avoid\w*|stops?"
    r"|stopped|exclud\w+|impossible|invalid|absent|missing|unless|nowhere|less|fewer|false|wrong|deny|denies|denied"
    r"|disregard\w*|ignor(?:e[sd]?|ing)|skip\w*|zero|0)\b|\bun\w{4,}|\bnon-?\w{4,}",
    re.IGNORECASE,
)
"""Words that deny without a negation: they can match a negation of the other sentence, but count as none."""

CLAUSE = re.compile(
    # "Fine: none" denies the fine.
    r"[,;.!?](?=\s)|:(?=\s)(?!\s+(?:none|no|not|never|nothing|nobody)\b)|\s[-–—|]\s"
    r"|\s(?:(?:and|or)(?![^()]{0,60}\))|but|which|who|whom|whose|because|while|whereas|although|though|so that|unless"
    r"|except|since|if|when)\s"
)


@lru_cache(maxsize=8_000)
def strip_idle_negations(text: str) -> str:
    """Return a text without the negations that deny nothing: "must not exceed" as "at most"."""
    for name, pattern in _BOUND.items():
        text = pattern.sub(name, text)
    return _DENIED_TWICE.sub(r"\1even", _NO_DENIAL.sub(" ", text))


def has_denying_word(text: str) -> bool:
    """Return whether a text has a word that denies without a negation, such as "forbidden" or "unless"."""
    return _DENIAL.search(text) is not None


def is_negated(text: str) -> bool:
    """Return whether a text has a negation that denies something."""
    return NEGATION.search(strip_idle_negations(text)) is not None


def is_denied(said: str, nearest: str) -> bool:
    mine, theirs = NEGATION.findall(said), NEGATION.findall(nearest)
    if bool(mine) == bool(theirs):
        return bool(mine) and _is_denying_another(said, nearest)
    if len(mine) == 2 and "without" in mine:  # "not without" denies nothing
        return False
    # The source may deny something other than the sentence's statement: "It is 5 V, and must not get wet."
    if theirs and not _has_denied_words(said, nearest):
        return False
    denied, other = (said, nearest) if mine else (nearest, said)
    if _DENIED_OMISSION.search(denied) and _DENIAL.search(other):
        return True
    # "Phones are banned" agrees with "no phones are allowed"; a word in both sentences does not match a negation.
    answers = {word.casefold() for word in _DENIAL.findall(other)} - {
        word.casefold() for word in _DENIAL.findall(denied)
    }
    return not answers


_MAX_EXCLUDED = 2  # stems that a sentence excludes ("A, not B")
_MAX_LISTED = 3  # clauses before a list's entry in which the list's denied beginning is looked for
# An entry without a subject: "making calls", "check graphs".
_CONTINUED = re.compile(r"\W*(?:\w+ing|[a-z]+ [a-z]+)\b(?!.*\b(?:is|are|must|may|can|should|will|has|have)\b)")
_MIN_CLAUSE_STEMS = 2  # stems; a shorter clause has too few words to be found by
_MIN_SHARED_STEMS = 0.6  # share of a clause's stems in another clause about the same
_WHEN = re.compile(r"\b(?:after|before|until)\b", re.IGNORECASE)
_FIRM = re.compile(rf"\b(?:not|no|never|none|nothing|nobody|cannot|\w+{CONTRACTED_NOT})\b", re.IGNORECASE)


def has_denied_clause(said: str, passage: str) -> bool:
    """Return whether a clause of the sentence denies something that each of the passage's clauses about it affirms.

    A sentence may deny one thing as the passage does, and another that the passage affirms.
    """
    return any(
        _is_made_up_denial(clause, passage)
        for clause in CLAUSE.split(strip_idle_negations(said))
        if NEGATION.search(clause)
    )


def _is_made_up_denial(clause: str, passage: str) -> bool:
    stems, times = find_statement_stems(NEGATION.sub(" ", clause)), len(_FIRM.findall(clause))
    if len(stems) < _MIN_CLAUSE_STEMS or not times or _DENIAL.search(clause):
        return False
    if "without" in clause.casefold():  # "not without" denies nothing
        return False
    about = find_clauses_about(stems, passage)
    agreeing = [there for there in about if NEGATION.search(there) or _DENIAL.search(there)]
    # "You must not read logs, check graphs or make calls": the clauses of a list are denied with the first one.
    agreeing += [there for there in about if there not in agreeing and _is_denied_with_another(there, passage)]
    if not agreeing:
        # "Never by hand" may follow its subject: "Wafers are moved by tools, never by hand".
        return bool(about) and not any(stems & find_denied_stems(there) for there, _ in split_clauses(passage))
    # "No changes are not made": a denial of a denial.
    return times > 1 and times > max(len(_FIRM.findall(there)) for there in agreeing)


def is_denied_elsewhere(said: str, passage: str) -> bool:
    """Return whether what the sentence excludes in a few words ("A, not B") is denied elsewhere in the passage."""
    excluded = find_denied_stems(strip_idle_negations(said))
    if not 0 < len(excluded) <= _MAX_EXCLUDED:
        return False
    return any(
        2 * len(excluded & theirs) >= len(excluded) and NEGATION.search(there)
        for there, theirs in split_clauses(passage)
    )


@lru_cache(maxsize=8_000)
def _is_denied_with_another(clause: str, passage: str) -> bool:
    """Return whether a clause has no subject of its own and continues a list of which an earlier entry is denied."""
    if not _CONTINUED.match(clause):
        return False
    clauses = [there for there, _ in split_clauses(passage)]
    before = clauses[: clauses.index(clause)][-_MAX_LISTED:]
    return any(NEGATION.search(there) for there in before) and all(
        _CONTINUED.match(there) or NEGATION.search(there) for there in before[-1:]
    )


def find_clauses_about(stems: frozenset[str], passage: str) -> list[str]:
    """Return the clauses of the passage that have most of these stems."""
    return [there for there, theirs in split_clauses(passage) if len(stems & theirs) >= _MIN_SHARED_STEMS * len(stems)]


@lru_cache(maxsize=1_000)
def split_clauses(passage: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return each clause of a passage with its stems. A table has none: a cell with a negation is separate from its
    column's name.
    """
    spans = ((start, end) for start, end, kind in split_units(passage) if kind != "row")
    units = deny_questions([extract_prose(passage[start:end]).text for start, end in spans])
    clauses = [clause for unit in map(strip_idle_negations, units) for clause in CLAUSE.split(unit) if clause.strip()]
    return tuple((clause, find_statement_stems(clause)) for clause in (*clauses, *_list_denied_cells(passage)))


def _list_denied_cells(passage: str) -> Iterator[str]:
    """Yield the cells below a column's name with a negation, each with that name: "We do not use 12 noon"."""
    names: list[str] = []
    for start, end, kind in split_units(passage):
        cells = [extract_prose(cell).text.strip() for cell in _split_cells(passage[start:end])]
        if kind != "row":
            names = []
        elif not names:
            names = cells
        else:
            yield from (f"{name} {cell}" for name, cell in zip(names, cells, strict=False) if NEGATION.search(name))


def name_cells(row: str, names: str) -> str:
    """Return a row of a table behind the names of its columns; if one of these has a negation, each cell behind its own
    name, since the negation is of this column only.
    """
    if not NEGATION.search(names):
        return f"{names} {row}".lstrip()
    pairs = zip(_split_cells(names), _split_cells(row), strict=False)
    return " | ".join(f"{name.strip()} {cell.strip()}" for name, cell in pairs)


def _split_cells(row: str) -> list[str]:
    return row.strip().strip("|").split("|")


def _has_denied_words(said: str, nearest: str) -> bool:
    """Return whether the sentence has half of the words of a clause that the other text denies, and no more words of a
    clause that it affirms: "not on Monday but on Tuesday" does not deny "on Tuesday".
    """
    stems = find_statement_stems(said)
    denied, affirmed = 0, 0
    for clause in CLAUSE.split(nearest):
        theirs = find_statement_stems(NEGATION.sub(" ", clause))
        shared = len(theirs & stems)
        if not NEGATION.search(clause):
            affirmed = max(affirmed, shared)
        elif theirs and 2 * shared >= len(theirs) and _has_half(stems, find_denied_stems(clause)):
            denied = max(denied, shared)
    return denied > 0 and denied >= affirmed


def _has_half(stems: frozenset[str], others: frozenset[str]) -> bool:
    return 2 * len(stems & others) >= len(others)


def _is_denying_another(said: str, nearest: str) -> bool:
    """Return whether each text denies only things that the other affirms: "A, not B" and "B, not A"."""
    mine, theirs = find_denied_stems(said), find_denied_stems(nearest)
    around = frozenset().union(*(find_statement_stems(part) for part in CLAUSE.split(nearest) if NEGATION.search(part)))
    return (
        not mine & around and bool(mine & find_statement_stems(nearest)) and bool(theirs & find_statement_stems(said))
    )


@lru_cache(maxsize=8_000)
def find_denied_stems(text: str) -> frozenset[str]:
    """Return the stems that follow a negation in its clause."""
    denied = ((found[0], part[found.end() :]) for part in CLAUSE.split(text) if (found := NEGATION.search(part)))
    # "Without reading the filters after setting the bit": the bit is set
    parts = (_WHEN.split(behind)[0] if word.casefold() == "without" else behind for word, behind in denied)
    return frozenset().union(*map(find_statement_stems, parts))
