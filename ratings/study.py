"""The parts of a rating study: aspects, questions with their answers or passages, and the judgements of raters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

StudyKind = Literal["answers", "passages", "references"]
"""The object of judgement: answers, by aspects and rank; whether passages are relevant to a question; which passages
support each sentence of an answer (Trustworthy Answers, figures 22, 21 and 23).
"""
Origin = Literal["file", "profiles", "thumbs"]
"""Where the answers come from: a file; questions asked through profiles; answers with thumbs that askers shared."""
LOWEST, HIGHEST = 1, 5
"""The scale of an aspect (Trustworthy Answers 5.2)."""
MAX_ASPECTS = 10
MAX_COMMENT_CHARS = 10_000
NO, YES = 0, 1
"""The binary scale: a passage is relevant, or supports a sentence."""
Points = Annotated[int, Field(ge=NO, le=HIGHEST)]


@dataclass(frozen=True, slots=True)
class Aspect:
    """One aspect that is judged from 1 to 5; `wording` explains it to raters."""

    name: str
    wording: str = ""


ASPECTS = (
    Aspect("Correctness", "Is it true, and does it agree with the reference where there is one? Nothing is made up."),
    Aspect("Helpfulness", "Does it answer the question clearly, with its key points and without needless content?"),
    Aspect("Informativeness", "Does it have the relevant details and context that make it complete?"),
)
"""The three of Trustworthy Answers, 5.2.1."""
RELEVANT = Aspect("Relevant", "Does the passage answer the question, or a part of it?")
"""The question about a passage (Trustworthy Answers, figure 21)."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of a text: URIs of documents and ids of senses. Raters see it only if they may read all of them."""

    documents: tuple[str, ...] = ()
    senses: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of one system; where passages are judged, one of them.

    `system`: of a passage its number, from 1, in the order in which it was found. `label` is the location of a passage.
    """

    system: str
    text: str
    sources: Sources = Sources()
    label: str = ""


@dataclass(frozen=True, slots=True)
class NewItem:
    """A question with its answers. `thread` and `turn`: the origin of the answer, if somebody shared it by a thumb.

    `sentences`: those of the answer whose references are annotated; `answers` are the passages then.
    """

    question: str
    reference: str = ""
    answers: tuple[Answer, ...] = ()
    thread: str = ""
    turn: int = 0
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyItem(NewItem):
    """A question as it is stored: `place` counts from 1 within its study."""

    id: int
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study. `profiles`: through which its questions are asked; an item is ready once each of them has answered.

    `seed` makes the order of the answers different in each study. Times are UTC, ISO 8601; `closed_at` is None while it
    is open.
    """

    id: int = 0
    name: str
    about: str = ""
    aspects: tuple[Aspect, ...] = ASPECTS
    ranking: bool = True
    origin: Origin = "file"
    profiles: tuple[str, ...] = ()
    seed: str = ""
    created_by: str = ""
    created_at: str = ""
    closed_at: str | None = None
    kind: StudyKind = "answers"

    @property
    def scale(self) -> tuple[int, int]:
        """The least and the most that can be given."""
        return (LOWEST, HIGHEST) if self.kind == "answers" else (NO, YES)

    def list_aspects(self, item: NewItem) -> tuple[Aspect, ...]:
        """List the aspects of each answer or passage of a question. For references: each sentence, by number from 1."""
        if self.kind != "references":
            return self.aspects
        return tuple(Aspect(str(number), text) for number, text in enumerate(item.sentences, 1))


@dataclass(frozen=True, slots=True)
class Judgement:
    """One person's judgement of the answers to a question, by system and name of the aspect (`Study.list_aspects`).

    `ranks`: 1 is the best. An unfinished one leaves things out. `cannot_judge`: all else is left out.
    """

    scores: dict[str, dict[str, int]] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    cannot_judge: bool = False
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Rating:
    """One person's rating of an item. `said` is None until they saved it; `draft` is an unfinished judgement."""

    item: int
    rater: str
    said: Judgement | None
    at: str
    draft: Judgement | None = None
