"""Judged answers as evaluation data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """Feedback on an answer (`value`: +1 or -1, `at`: ISO, UTC), and how that answer was made: `timings` are seconds by
    stage. The asker did not share more.
    """

    id: str
    at: str
    value: int
    shared: bool
    status: str
    profile: str
    answered_by: str
    model: str
    timings: dict[str, float]


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """A sentence of the answer with the ids of the passages it cites."""

    text: str
    supported: bool
    passages: list[str]


@dataclass(frozen=True, slots=True)
class CitedPlace:
    """A place that an answer cites. `span` is [start, end) in the revision's Markdown, in characters."""

    document: str
    passage_id: str
    page: int | None
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class SenseMeant:
    """Reading of a term of the question."""

    term: str
    context: str
    expansion: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAnswer(JudgedAnswer):
    """The same with question, answer and evidence, which the asker shared. `gold` are the cited places, in the form of
    the sample questions; `passages` the ids of all available to the answer.
    """

    comment: str
    question: str
    stand_alone_question: str
    answer: str
    sentences: list[JudgedSentence]
    gold: list[CitedPlace]
    passages: list[str]
    senses: list[SenseMeant]
    tags: list[str]
    notes: list[str]
