"""The sentences and items of an answer, judged: those that contain a part of what was asked for, and those beside it.

An answer that quotes a whole section is complete and hard to read. A reader's verdict, "at most 30 % of the sentences
are beside the point", is computed here from the gold quotations and the reference, without a model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from argot.evaluate.answer_measures import is_said
from argot.evaluate.answer_questions import AnswerQuestion
from argot.tools.answering.support import find_statement_stems, is_quoted, support
from argot.tools.text.markdown_prose import extract_prose

MAX_BESIDE = 0.3
"""The greatest share of sentences and items beside the point in a clean answer."""
_PART = 0.7
"""The least support for which a unit contains a quotation, or is a part of it."""
_REFERENCE_SHARE = 0.5
"""The least share of the words that the reference adds to the question in a unit that says the same."""
_MAX_GAP = 2
"""The greatest number of units between two parts of the answer that belong to it: steps that are not in the gold."""
_MIN_STEMS = 4
"""The least number of stems of a unit that repeats another; "Click on Save." may be two steps."""
_VERDICT = re.compile(r"\W*(?:yes|no)\W*", re.IGNORECASE)
_ROW = re.compile(r"\s*\|.*\|\s*$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AnswerUnit:
    """A sentence or item that is shown. `holds`: it contains a part of the answer; `serves`: it does, or leads to one
    that does.
    """

    text: str
    holds: bool
    serves: bool


def judge_units(question: AnswerQuestion, texts: Sequence[str]) -> list[AnswerUnit]:
    """Return the sentences and items of an answer in order, each with its part in it."""
    holds = [_has_answer(question, text) for text in texts]
    serves = list(holds)
    for first, last in pairwise(place for place, one in enumerate(holds) if one):
        if last - first - 1 <= _MAX_GAP:
            serves[first:last] = [True] * (last - first)
    # From behind: a lead-in may have a lead-in.
    for place in reversed(range(len(texts) - 1)):
        serves[place] = serves[place] or (_leads(texts, place) and serves[place + 1])
    for place, text in enumerate(texts):
        serves[place] = serves[place] and not _is_repeated(text, texts[:place])
    return [AnswerUnit(text, h, s) for text, h, s in zip(texts, holds, serves, strict=True)]


def measure_beside(units: Sequence[AnswerUnit]) -> float | None:
    """Return the share of units that are beside the point; None without any."""
    return sum(not one.serves for one in units) / len(units) if units else None


def begins_with_answer(units: Sequence[AnswerUnit]) -> bool:
    """Return whether the first unit that is no lead-in holds a part of the answer."""
    texts = [one.text for one in units]
    return next((one.holds for place, one in enumerate(units) if not _leads(texts, place)), False)


def _has_answer(question: AnswerQuestion, text: str) -> bool:
    quotes = [one.quote for one in (*question.gold, *question.also) if one.quote]
    if any(support(quote, text) >= _PART or support(text, quote) >= _PART for quote in quotes):
        return True
    if any(support(near, text) >= _PART for near in question.near):
        return False
    return any(is_said(item, text) for item in question.must) or _has_reference(question, text)


def _has_reference(question: AnswerQuestion, text: str) -> bool:
    """Return whether the text says most of what the reference adds to the question."""
    added = find_statement_stems(question.reference) - find_statement_stems(question.question)
    if not added:
        return False
    return len(added & find_statement_stems(text)) / len(added) >= _REFERENCE_SHARE


def _is_repeated(text: str, earlier: Sequence[str]) -> bool:
    """Return whether earlier units say the same word for word: an answer is not cleaner for being said twice."""
    return len(find_statement_stems(text)) >= _MIN_STEMS and any(is_quoted(text, one) for one in earlier)


def _leads(texts: Sequence[str], place: int) -> bool:
    """Return whether a unit only introduces the next: "To trim a drive:", "No.", the header of a table."""
    text = extract_prose(texts[place]).text.strip()
    if text.endswith(":") or _VERDICT.fullmatch(text):
        return True
    return _is_row(texts, place) and not _is_row(texts, place - 1) and _is_row(texts, place + 1)


def _is_row(texts: Sequence[str], place: int) -> bool:
    return 0 <= place < len(texts) and _ROW.match(texts[place]) is not None
