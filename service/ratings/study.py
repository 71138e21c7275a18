"""What a rating study consists of: aspects, questions with answers of several systems, and what raters said of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

Origin = Literal["file", "profiles", "thumbs"]
"""Where the answers come from: a file; questions asked through profiles; answers with thumbs that askers shared."""
LOWEST, HIGHEST = 1, 5
"""The scale of an aspect (Trustworthy Answers 5.2)."""
MOST_ASPECTS = 10
LONGEST_COMMENT = 10_000
Points = Annotated[int, Field(ge=LOWEST, le=HIGHEST)]


@dataclass(frozen=True, slots=True)
class Aspect:
    """One thing that is judged from 1 to 5; `wording` tells raters what is meant."""

    name: str
    wording: str = ""


ASPECTS = (
    Aspect("Correctness", "Is it true, and does it agree with the reference where there is one? Nothing is made up."),
    Aspect("Helpfulness", "Does it answer the question clearly, with its key points and without needless content?"),
    Aspect("Informativeness", "Does it have the relevant details and context that make it complete?"),
)
"""The three of Trustworthy Answers, 5.2.1."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What an answer rests on: URIs of documents and ids of senses. Raters see it only if they may read all of them."""

    documents: tuple[str, ...] = ()
    senses: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of one system."""

    system: str
    text: str
    sources: Sources = Sources()


@dataclass(frozen=True, slots=True)
class NewItem:
    """A question with its answers. `thread` and `turn`: whose answer it is, where somebody shared it by a thumb."""

    question: str
    reference: str = ""
    answers: tuple[Answer, ...] = ()
    thread: str = ""
    turn: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyItem(NewItem):
    """A question as it is stored: `place` counts from 1 within its study."""

    id: int
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study. `profiles`: through which its questions are asked; an item is ready once each of them has answered.

    `seed` makes the order of the answers one's own in each study. Times are UTC, ISO 8601; `closed_at` is None while it
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


@dataclass(frozen=True, slots=True)
class Judgement:
    """What somebody says of the answers to one question; by system, and by the name of the aspect.

    `ranks`: 1 is the best. An unfinished one leaves things out. `cannot_judge`: all else is left out.
    """

    scores: dict[str, dict[str, int]] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    cannot_judge: bool = False
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Rating:
    """What one person said of one item. `said` is None until they saved it; `draft` is what they did not finish."""

    item: int
    rater: str
    said: Judgement | None
    at: str
    draft: Judgement | None = None
