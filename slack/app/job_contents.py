"""The text of a job that is no question: the sense that somebody chose, or a piece of news.

It is JSON, because a job is stored until it is done; the program that continues it may be newer than the one that
stored it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from argot.service.usecases.glossary.impact import TermNews


@dataclass(frozen=True, slots=True)
class SenseChosen:
    """A term of a question, and the sense in which it is to be asked again."""

    term: str
    sense: int

    @classmethod
    def from_text(cls, text: str) -> SenseChosen:
        kept: Mapping[str, Any] = json.loads(text)
        return cls(str(kept["term"]), int(kept["sense"]))

    @property
    def text(self) -> str:
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True)
class Meaning:
    """A sense in the form used in news."""

    expansion: str
    context: str


@dataclass(frozen=True, slots=True)
class NewsToTell:
    """A term that somebody asked for has these senses now. `question`: the one that contained it, if that is still
    known.
    """

    term: str
    question: str
    senses: tuple[Meaning, ...]

    @classmethod
    def from_news(cls, news: TermNews) -> NewsToTell:
        return cls(news.term, news.question, tuple(Meaning(one.expansion, one.context) for one in news.senses))

    @classmethod
    def from_text(cls, text: str) -> NewsToTell:
        kept: Mapping[str, Any] = json.loads(text)
        senses = tuple(Meaning(str(one["expansion"]), str(one["context"])) for one in kept["senses"])
        return cls(str(kept["term"]), str(kept["question"]), senses)

    @property
    def text(self) -> str:
        return json.dumps(asdict(self))
