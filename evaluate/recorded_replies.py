"""A model that repeats recorded replies if the passages that they cite are in its prompt.

A capable model wrote the replies to the prompts of some version of Argot, and a person read each sentence and found
it right. The same replies show how another version treats right answers, without such a model at hand. A version may
split its passages in another way, so the prompt has a cited passage if it has the sentences that support the reply.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from argot.errors import InvalidInput
from argot.evaluate.altered_statements import FROM_NOWHERE_KIND, make_lie
from argot.evaluate.answer_questions import AnswerQuestion, AnswerSet
from argot.evaluate.known_models import (
    ServedQuestion,
    choose_first,
    find_nearest,
    make_segment,
    read_numbered,
    read_passages,
)
from argot.evaluate.line_models import read_lines
from argot.prompts.loader import NOT_IN_PASSAGES
from argot.tools.answering.citation_marks import strip_marks
from argot.tools.answering.support import find_statement_stems, support
from argot.tools.llm.refusal import is_refusal
from argot.tools.text.sentences import split_sentences, split_units
from argot.tools.text.words import bare

_FORM = '{"id": "q1", "question": "...", "reply": "Open the Media panel [2].", "cited": {"2": "its text"}}'
_MARKS = re.compile(r"\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")
_MAX_NUMBER = 999
_SAME = 0.95
"""The least support for which a passage contains a sentence, even if a table or a page break splits it."""
_MIN_GAIN = 2
"""The least number of a statement's words for which another sentence of the cited passage is needed."""


@dataclass(frozen=True, slots=True)
class RecordedReply:
    """One reply. `cited`: the text of each passage that it cites, by the number in the reply."""

    id: str
    question: str
    text: str
    cited: Mapping[int, str]

    @property
    def refuses(self) -> bool:
        return is_refusal(self.text)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a reply, [first, last) in its text, without marks; `cited` are the numbers of its marks."""

    first: int
    last: int
    text: str
    cited: tuple[int, ...]


class _Row(BaseModel):
    """A line of the file. Other fields are ignored."""

    model_config = ConfigDict(str_strip_whitespace=True, coerce_numbers_to_str=True, extra="ignore")

    id: str = ""
    question: str = Field(min_length=1)
    reply: str = Field(min_length=1)
    cited: dict[int, str] = {}


def load_replies(path: Path) -> list[RecordedReply]:
    """Read a file of recorded replies, one JSON object a line.

    Raises:
        InvalidInput: the file cannot be read, a line is malformed, or a reply cites no passage whose text is there.
    """
    found = []
    for place, row in read_lines(_Row, path, "reply", _FORM):
        reply = RecordedReply(row.id, row.question, row.reply, row.cited)
        if not reply.refuses and not list_statements(reply):
            raise InvalidInput(f"{place}: the reply cites no passage of 'cited'. A line looks like {_FORM}.")
        found.append(reply)
    return found


def select_recorded(questions: AnswerSet, replies: Sequence[RecordedReply]) -> AnswerSet:
    """Return the questions that have a reply: one with their id, or one without an id and with their words.

    Raises:
        InvalidInput: there is none.
    """
    kept = [one for one in questions.questions if _find_reply(one, replies)]
    if not kept:
        raise InvalidInput(
            f"None of the {len(replies)} replies is to one of the questions: no id and no wording is the same."
        )
    return replace(questions, questions=kept)


def _find_reply(question: AnswerQuestion, replies: Sequence[RecordedReply]) -> RecordedReply | None:
    of_id = (one for one in replies if one.id == question.id)
    asked = bare(question.question)
    return next(of_id, next((one for one in replies if not one.id and bare(one.question) == asked), None))


_REFUSAL = RecordedReply("", "", NOT_IN_PASSAGES, {})


class RecordedModel:
    """The model that repeats its reply, renumbered; with `lies` one cited sentence of it is made false."""

    def __init__(self, replies: Sequence[RecordedReply], *, lies: bool = False) -> None:
        self.name = "recorded-lying" if lies else "recorded"
        self._replies = replies
        self._lies = lies
        self._reply = _REFUSAL
        self._served = ServedQuestion(AnswerQuestion("", "", ""), 0)

    def expect(self, question: AnswerQuestion, place: int) -> ServedQuestion:
        self._reply = _find_reply(question, self._replies) or _REFUSAL
        self._served = ServedQuestion(question, place, has_answer=not (self._lies or self._reply.refuses))
        return self._served

    def answer(self, user: str) -> str:
        """Return the reply with the prompt's numbers, or a refusal if a cited passage is not in the prompt."""
        served, reply, passages = self._served, self._reply, read_passages(user)
        served.asked = True
        statements = list_statements(reply)
        numbers = [find_cited(one, reply.cited, passages) for one in statements]
        served.gold_shown = bool(statements) and all(found for one in numbers for found in one.values())
        if not served.gold_shown:
            return NOT_IN_PASSAGES
        text = _renumber(reply.text, statements, numbers)
        text = self._tell_lie(text) if self._lies else text
        served.sentences = tuple(split_reply(text))
        return text

    def _tell_lie(self, text: str) -> str:
        """Return the reply with one of its cited sentences made false, under the same marks."""
        spans = [(a, b) for a, b in split_sentences(text) if _MARKS.search(text[a:b])]
        first, last = spans[self._served.place % len(spans)]
        true = " ".join(split_reply(text[first:last]))
        lie, kind = make_lie(true, self._served.place)
        self._served.lie, self._served.kind_of_lie = lie, kind
        marks = "".join(mark[0] for mark in _MARKS.finditer(text[first:last]))
        sentence = f"{lie.rstrip('.')} {marks}."
        return (
            f"{text[:last]} {sentence}{text[last:]}"
            if kind == FROM_NOWHERE_KIND
            else f"{text[:first]}{sentence}{text[last:]}"
        )

    def choose_passages(self, user: str) -> list[int]:
        """Return the numbers of a prompt's passages that the reply cites."""
        passages = read_passages(user)
        cited = [find_cited(one, self._reply.cited, passages) for one in list_statements(self._reply)]
        return choose_first(dict.fromkeys(n for one in cited for found in one.values() for n in found))

    def match_sentences(self, user: str) -> list[dict[str, int]]:
        """Return for each sentence of the reply the passage that it cites, and 0 for any other sentence."""
        passages = read_passages(user)
        return [make_segment(n, self._find_support(text, passages)) for n, text in read_numbered(user)]

    def _find_support(self, sentence: str, passages: dict[int, str]) -> int:
        # the lying model also claims that its false sentences are supported
        if self._lies:
            return find_nearest(sentence, passages) if passages else 0
        same = (one for one in list_statements(self._reply) if bare(one.text) == bare(sentence))
        found = (found for one in same for found in find_cited(one, self._reply.cited, passages).values() if found)
        return next(found, [0])[0]


def split_reply(text: str) -> list[str]:
    """Return the sentences and items of a reply without their marks, as the check of support splits them."""
    plain = strip_marks(text, _MAX_NUMBER)
    return [plain[a:b] for a, b in split_sentences(plain) if any(map(str.isalnum, plain[a:b]))]


def list_statements(reply: RecordedReply) -> list[Statement]:
    """Return the sentences that cite a passage whose text is recorded."""
    found = []
    for first, last in split_sentences(reply.text):
        sentence = reply.text[first:last]
        numbers = dict.fromkeys(n for mark in _MARKS.finditer(sentence) for n in _read_mark(mark))
        # Other numbers in brackets are text.
        if cited := tuple(filter(reply.cited.__contains__, numbers)):
            found.append(Statement(first, last, " ".join(split_reply(sentence)), cited))
    return found


def find_cited(statement: Statement, cited: Mapping[int, str], passages: Mapping[int, str]) -> dict[int, list[int]]:
    """Return for each passage that a statement cites the prompt's passages with the sentences that support it; none if
    one of these sentences is missing.
    """
    return {n: _find_passages(_list_needed(cited[n], statement.text), passages) for n in statement.cited}


def _list_needed(cited: str, statement: str) -> list[str]:
    """Return the sentences of a cited passage that support a statement: the fewest that have most of its words."""
    units = [cited[a:b] for a, b, kind in split_units(cited) if kind != "heading"] or [cited]
    stems = {unit: find_statement_stems(unit) for unit in units}
    left, least = find_statement_stems(statement), 1
    needed: list[str] = []
    while True:
        best = max(units, key=lambda unit: (len(stems[unit] & left), -len(unit)))
        if len(stems[best] & left) < least:
            return needed or [cited]
        needed.append(best)
        left, least = left - stems[best], _MIN_GAIN


def _find_passages(needed: Sequence[str], passages: Mapping[int, str]) -> list[int]:
    """Return the fewest passages that have all needed sentences; none if one is missing."""
    left = set(needed)
    found: list[int] = []
    while left:
        having = {n: {one for one in left if _has_unit(one, text)} for n, text in passages.items()}
        best = max(having, key=lambda n: len(having[n]), default=0)
        if not having.get(best):
            return []
        found.append(best)
        left -= having[best]
    return found


def _has_unit(unit: str, passage: str) -> bool:
    return f" {bare(unit)} " in f" {bare(passage)} " or support(unit, passage) >= _SAME


def _renumber(text: str, statements: Sequence[Statement], numbers: Sequence[Mapping[int, Sequence[int]]]) -> str:
    """Return the reply with the numbers of the prompt's passages."""
    # From the end, so that the positions of earlier statements stay right.
    for one, found in reversed(list(zip(statements, numbers, strict=True))):

        def write_marks(mark: re.Match[str], found: Mapping[int, Sequence[int]] = found) -> str:
            shown = dict.fromkeys(m for n in _read_mark(mark) for m in found.get(n, ()))
            return "".join(f"[{m}]" for m in shown) or mark[0]

        text = text[: one.first] + _MARKS.sub(write_marks, text[one.first : one.last]) + text[one.last :]
    return text


def _read_mark(mark: re.Match[str]) -> list[int]:
    return [int(number) for number in mark[1].split(",")]
