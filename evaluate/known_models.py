"""Models that know the answers: the ideal one, which gives the reference answer, and the lying one.

`ideal`: if a passage that holds the answer is in the prompt, the model gives the reference answer word for word, and
each sentence has the number of the passage that supports it; otherwise it refuses. `lying`: the same, with one sentence
made false by one change and the citation right. If it is asked whether a passage supports a sentence, `ideal` answers
truthfully, and `lying` always says yes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from argot.evaluate.altered_statements import FROM_NOWHERE_KIND, make_lie
from argot.evaluate.answer_questions import AnswerQuestion
from argot.prompts.loader import NOT_IN_PASSAGES
from argot.tools.answering.support import support
from argot.tools.text.sentences import split_sentences
from argot.tools.text.words import bare

_PASSAGE = re.compile(r'<passage n="(\d+)"[^>]*>\n?(.*?)\n?</passage>', re.DOTALL)
MAX_CHOSEN_PASSAGES = 6  # as in the schema of the prompt `research`
HOLDS = 0.8
"""The least share of a snippet's content in a passage for which the passage contains the snippet, even if a table or a
page break splits it."""


@dataclass
class ServedQuestion:
    """The record of one question at the server.

    `has_answer`: the model knows a right answer to it, and gives it. `gold_shown`: the passages that the answer needs
    were in the prompt. `sentences`: those of the reply, without marks. `lie`: the sentence made false, with the kind
    of the change.
    """

    question: AnswerQuestion
    place: int
    has_answer: bool = False
    asked: bool = False
    gold_shown: bool = False
    sentences: tuple[str, ...] = ()
    lie: str = ""
    kind_of_lie: str = ""


class KnownModel(Protocol):
    """A model with a known reply to each question."""

    @property
    def name(self) -> str: ...

    def expect(self, question: AnswerQuestion, place: int) -> ServedQuestion:
        """Set the question that is asked next, and return its record, which fills as the model is asked."""
        ...

    def answer(self, user: str) -> str:
        """Return the reply to the prompt of an answer, with the numbers of the prompt's passages."""
        ...

    def match_sentences(self, user: str) -> list[dict[str, int]]:
        """Return for each numbered sentence of a prompt the passage that supports it, or 0 if none does."""
        ...

    def choose_passages(self, user: str) -> list[int]:
        """Return the numbers of a prompt's passages that answer its sub-question."""
        ...


def choose_first(found: Iterable[int]) -> list[int]:
    """Return the first of these passages, as many as the schema of the prompt `research` allows."""
    return list(found)[:MAX_CHOSEN_PASSAGES]


class IdealModel:
    """The model that gives the reference answer; with `lies` one sentence of it is made false."""

    def __init__(self, *, lies: bool = False) -> None:
        self.name = "lying" if lies else "ideal"
        self._lies = lies
        self._served = ServedQuestion(AnswerQuestion("", "", ""), 0)

    def expect(self, question: AnswerQuestion, place: int) -> ServedQuestion:
        self._served = ServedQuestion(
            question, place, has_answer=question.is_answerable and bool(question.reference) and not self._lies
        )
        return self._served

    def answer(self, user: str) -> str:
        served, passages = self._served, read_passages(user)
        holding = {n: text for n, text in passages.items() if _has_gold(text, served.question)}
        served.asked = True
        served.gold_shown = bool(holding)
        if not holding or not served.question.reference:
            return NOT_IN_PASSAGES
        sentences = split_answer(served.question.reference)
        if self._lies:
            at = served.place % len(sentences)
            served.lie, served.kind_of_lie = make_lie(sentences[at], served.place)
            if served.kind_of_lie == FROM_NOWHERE_KIND:
                sentences.append(served.lie)
            else:
                sentences[at] = served.lie
        served.sentences = tuple(sentences)
        return " ".join(f"{_strip_stop(one)} [{find_nearest(one, holding)}]." for one in sentences)

    def choose_passages(self, user: str) -> list[int]:
        return choose_first(n for n, text in read_passages(user).items() if _has_gold(text, self._served.question))

    def match_sentences(self, user: str) -> list[dict[str, int]]:
        """Return the gold passage for each sentence of the reference, and 0 for any other."""
        holding = {n: text for n, text in read_passages(user).items() if _has_gold(text, self._served.question)}
        true = {bare(one) for one in split_answer(self._served.question.reference)}
        found = []
        for number, sentence in read_numbered(user):
            # the lying model also claims that its false sentences are supported
            is_true = bool(holding) and (self._lies or bare(sentence) in true)
            found.append(make_segment(number, find_nearest(sentence, holding) if is_true else 0))
        return found


def make_segment(sentence: int, passage: int) -> dict[str, int]:
    return {"first": sentence, "last": sentence, "passage": passage}


def split_answer(text: str) -> list[str]:
    return [text[first:last].strip() for first, last in split_sentences(text) if text[first:last].strip()]


def has_passages(user: str) -> bool:
    return _PASSAGE.search(user) is not None


def read_passages(user: str) -> dict[int, str]:
    """Return the passages of a prompt by their numbers."""
    return {int(n): text for n, text in _PASSAGE.findall(user)}


def read_numbered(user: str) -> list[tuple[int, str]]:
    """Return the numbered sentences of a prompt, which follow its last passage."""
    behind = user[max((found.end() for found in _PASSAGE.finditer(user)), default=0) :]
    return [(int(n), text) for n, text in re.findall(r"^\s*\[?(\d+)[\].:)]?\s+(.+)$", behind, re.MULTILINE)]


def find_nearest(sentence: str, passages: dict[int, str]) -> int:
    """Return the number of the passage that supports the sentence best."""
    return max(passages, key=lambda n: support(sentence, passages[n]))


def _has_gold(passage: str, question: AnswerQuestion) -> bool:
    words = bare(passage)
    quotes = [bare(one.quote) for one in question.gold if one.quote] or [bare(question.reference)]
    return any(quote and (quote in words or support(quote, passage) >= HOLDS) for quote in quotes)


def _strip_stop(sentence: str) -> str:
    """Remove the full stop, which is put after the citation mark."""
    return sentence.rstrip().removesuffix(".")
