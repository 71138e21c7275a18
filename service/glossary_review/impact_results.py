"""Impact of a change to the glossary: each past question as it is read before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Source = Literal["yours", "missed", "given"]
"""Origin of a question: the principal's own, another's that was missed and that they may read, or one that was typed
in."""


@dataclass(frozen=True, slots=True)
class TermReading:
    """Reading of one term of a question; `guess`: several senses fit about equally well."""

    surface: str
    term: str
    expansion: str
    context: str
    guess: bool


@dataclass(frozen=True, slots=True)
class PassageReached:
    """A passage that a question finds. `text` is its beginning; `excerpt` the words around a term of the question
    (before, the term, after), None if there is none; `only_here`: the other side does not find it.
    """

    passage_id: str
    document: str
    heading: str
    page: int | None
    text: str
    excerpt: tuple[str, str, str] | None
    only_here: bool = False


@dataclass(frozen=True, slots=True)
class QuestionAsRead:
    """Reading of a question: its unknown terms, the searched text, and the first passages found."""

    terms: list[TermReading]
    unknown: list[str]
    query: str
    passages: list[PassageReached]


@dataclass(frozen=True, slots=True)
class QuestionImpact:
    """A question before and after; `changed` names the differences."""

    question: str
    source: Source
    changed: list[Literal["reading", "passages"]]
    before: QuestionAsRead
    after: QuestionAsRead


@dataclass(frozen=True, slots=True)
class Impact:
    """Numbers of questions that mention the term, and of those that were asked, change, and were left out for lack of
    time; the `seconds` taken; and the questions asked, those that change first.
    """

    questions: int
    asked: int
    changed: int
    left_out: int
    seconds: float
    rows: list[QuestionImpact]


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedImpact(Impact):
    """Impact of several changes together: `tried` of them; `not_tried` were too many."""

    tried: int
    not_tried: int
