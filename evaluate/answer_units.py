"""The sentences and items of an answer, judged: those that contain a part of what was asked for, and those beside it.

An answer that quotes a whole section is complete and hard to read. A reader's verdict, "at most 30 % of the sentences
are beside the point", is computed here from the gold quotations and the reference, without a model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from argot.evaluate.answer_measures import is_said
from argot.evaluate.answer_questions import AnswerQuestion
from argot.languages.question_words import is_verdict
from argot.tools.answering.support import is_quoted, support
from argot.tools.text.markdown_prose import extract_prose
from argot.tools.text.words import content_stems

MAX_BESIDE = 0.3
"""The greatest share of sentences and items beside the point in a clean answer, in tenths: one of three is 0.3."""
_PART = 0.7
"""The least support for which a unit contains a quotation, or is a part of it."""
_REFERENCE_SHARE = 0.5
"""The least share of the words that the reference adds to the question in a unit that says the same."""
# Chosen on 37 complete answers that a person judged. For shares of 0.15 to 0.3 and of 0.5 to 0.6, the person and the
# measure agree on 34 or 35 of them.
_NEIGHBOUR_SHARE = 0.2
"""The least share of a unit's words in question, reference and gold if a unit next to it holds a part of the answer."""
_TOPIC_SHARE = 0.5
"""The same share for any other unit that serves the question."""
_MIN_STEMS = 4
"""The least number of stems of a unit that repeats another; "Click on Save." may be two steps."""
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
    topic = _list_topic(question)
    serves = [
        holds[at] or (not _is_sibling(question, text) and _is_related(text, topic, beside=_is_beside(holds, at)))
        for at, text in enumerate(texts)
    ]
    # From the end: a lead-in may have a lead-in.
    for place in reversed(range(len(texts) - 1)):
        serves[place] = serves[place] or (_leads(texts, place) and serves[place + 1])
    for place, text in enumerate(texts):
        serves[place] = serves[place] and not _is_repeated(text, texts[:place])
    return [AnswerUnit(text, h, s) for text, h, s in zip(texts, holds, serves, strict=True)]


def measure_beside(units: Sequence[AnswerUnit]) -> float | None:
    """Return the share of units that are beside the point; None without any."""
    return sum(not one.serves for one in units) / len(units) if units else None


def is_clean(units: Sequence[AnswerUnit]) -> bool:
    """Return whether hardly anything in an answer is beside the point."""
    beside = measure_beside(units)
    return beside is not None and round(beside, 1) <= MAX_BESIDE


def begins_with_answer(units: Sequence[AnswerUnit]) -> bool:
    """Return whether the first unit that is no lead-in holds a part of the answer."""
    texts = [one.text for one in units]
    return next((one.holds for place, one in enumerate(units) if not _leads(texts, place)), False)


def _has_answer(question: AnswerQuestion, text: str) -> bool:
    quotes = [one.quote for one in (*question.gold, *question.also) if one.quote]
    if any(support(quote, text) >= _PART or support(text, quote) >= _PART for quote in quotes):
        return True
    if _is_near(question, text):
        return False
    return any(is_said(item, text) for item in question.must) or _has_reference(question, text)


def _is_near(question: AnswerQuestion, text: str) -> bool:
    """Return whether the text has a sentence that looks like the answer and is none."""
    return any(support(near, text) >= _PART for near in question.near)


def _is_sibling(question: AnswerQuestion, text: str) -> bool:
    """Return whether the text shares words with the answer and is about something else: another row of the table."""
    return _ROW.match(text) is not None or _is_near(question, text)


def _has_reference(question: AnswerQuestion, text: str) -> bool:
    """Return whether the text says most of what the reference adds to the question, with one of its numbers if any."""
    added = _list_stems(question.reference) - _list_stems(question.question)
    added_stems = added & _list_stems(text)
    numbers = {one for one in added if any(map(str.isdigit, one))}
    return (
        bool(added_stems)
        and len(added_stems) / len(added) >= _REFERENCE_SHARE
        and not (numbers and numbers.isdisjoint(added_stems))
    )


def _list_topic(question: AnswerQuestion) -> frozenset[str]:
    texts = (question.question, question.reference, *question.must, *(one.quote for one in question.gold))
    return frozenset().union(*map(_list_stems, texts))


def _is_beside(holds: Sequence[bool], place: int) -> tuple[bool, bool]:
    """Return whether the units before and after one hold a part of the answer."""
    return place > 0 and holds[place - 1], place + 1 < len(holds) and holds[place + 1]


def _is_related(text: str, topic: frozenset[str], *, beside: tuple[bool, bool]) -> bool:
    """Return whether a unit that holds no part of the answer serves the question: by its words, or as a step between
    two that hold a part.
    """
    stems = _list_stems(text)
    share = len(stems & topic) / len(stems) if stems else 0.0
    return all(beside) or share >= (_NEIGHBOUR_SHARE if any(beside) else _TOPIC_SHARE)


@lru_cache(maxsize=4_000)
def _list_stems(text: str) -> frozenset[str]:
    return frozenset(content_stems(extract_prose(text).text))


def _is_repeated(text: str, earlier: Sequence[str]) -> bool:
    """Return whether earlier units say the same word for word: an answer is not cleaner for being said twice."""
    return len(_list_stems(text)) >= _MIN_STEMS and any(is_quoted(text, one) for one in earlier)


def _leads(texts: Sequence[str], place: int) -> bool:
    """Return whether a unit only introduces the next: "To trim a drive:", "No.", the header of a table."""
    text = extract_prose(texts[place]).text.strip()
    if text.endswith(":") or is_verdict(text):
        return True
    return _is_row(texts, place) and not _is_row(texts, place - 1) and _is_row(texts, place + 1)


def _is_row(texts: Sequence[str], place: int) -> bool:
    return 0 <= place < len(texts) and _ROW.match(texts[place]) is not None
