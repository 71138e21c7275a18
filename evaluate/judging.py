"""Judges of answers, asked one question at a time about the answers of several systems.

A judge's verdict is a set of scores by name. A reply without a verdict (malformed, or no ranking) is never guessed, but
counted separately, and so is a call that the server failed. If a judge sees several answers, their order is drawn at
random for every question, since models have a position bias (Trustworthy Answers 5.2: anonymised answers).
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Generic, Literal, TypeVar, get_args

from argot.errors import InvalidInput, ModelUnavailable
from argot.evaluate.extractive_judge import ExtractiveJudge
from argot.evaluate.failure_tolerance import Patience
from argot.tools.llm.faults import MalformedReply

if TYPE_CHECKING:
    from argot.tools.llm.judge import Aspects, ModelJudge

_T = TypeVar("_T")
JudgeName = Literal["correct", "raidd", "geval", "aspects", "ranking", "rules"]
JUDGES: tuple[JudgeName, ...] = get_args(JudgeName)
ASPECTS = ("accuracy", "helpfulness", "informativeness")
SCORES: Mapping[JudgeName, tuple[str, ...]] = {
    "correct": ("TRUE",),
    "raidd": ("TRUE",),
    "rules": ("TRUE",),
    "geval": ("similarity",),
    "aspects": ASPECTS,
    "ranking": ("rank", "ranked first"),
}
"""Each judge's scores for an answer: TRUE as 1 or 0, similarity and aspects from 1 to 5, and rank from 1 to 4."""
RANKED = 4
Fault = Literal["", "malformed", "unavailable"]


@dataclass(frozen=True, slots=True)
class JudgeScores:
    """A verdict on one answer: its scores by name or, if there are none, the fault."""

    scores: Mapping[str, float] = field(default_factory=dict)
    fault: Fault = ""


@dataclass
class AnswerJudge:
    """One judge in one run of questions.

    `model` is None for the judge "rules", which needs none. `seed`: the seed of the order in which answers are shown.
    """

    name: JudgeName
    model: ModelJudge | None = None
    seed: int = 1
    faults: Counter[Fault] = field(default_factory=Counter)
    """The number of missing verdicts, by reason."""
    _patience: Patience = field(default_factory=Patience)

    def __post_init__(self) -> None:
        if self.name != "rules" and self.model is None:
            raise ValueError(f"the judge '{self.name}' needs a model")

    @property
    def model_name(self) -> str:
        """Return the model's name, from its server once it was asked, or an empty text without a model."""
        if self.model is None:
            return ""
        server = self.model.server
        return server.known.model if server.known else server.settings.model_server.name

    async def judge(self, question: str, reference: str, answers: Sequence[str]) -> list[JudgeScores]:
        """Return the verdict on each system's answer to one question.

        Raises:
            InvalidInput: "ranking" is given a number of answers other than four.
            ModelUnavailable: the server failed for several calls in a row.
        """
        order = random.Random(f"{self.seed} {question}").sample(range(len(answers)), len(answers))  # noqa: S311
        shown = [answers[place] for place in order]
        if self.name == "ranking":
            found = await self._judge_ranking(question, reference, shown)
        elif self.name == "aspects":
            pairs = [shown[start : start + 2] for start in range(0, len(shown), 2)]
            found = [one for pair in pairs for one in await self._judge_aspects(question, reference, pair)]
        else:
            found = list(await asyncio.gather(*(self._judge_alone(question, reference, answer) for answer in shown)))
        self.faults.update(one.fault for one in found if one.fault)
        return [found[order.index(place)] for place in range(len(answers))]

    async def _judge_alone(self, question: str, reference: str, answer: str) -> JudgeScores:
        if self.model is None:
            return _score_truth(await ExtractiveJudge().is_correct(question, answer, reference))
        if self.name == "geval":
            reply = await self._call_judge(self.model.geval(question, reference, answer))
            return reply if isinstance(reply, JudgeScores) else JudgeScores({"similarity": reply})
        ask = self.model.is_correct if self.name == "correct" else self.model.is_accurate
        verdict = await self._call_judge(ask(question, answer, reference))
        return verdict if isinstance(verdict, JudgeScores) else _score_truth(verdict)

    async def _judge_aspects(self, question: str, reference: str, pair: Sequence[str]) -> list[JudgeScores]:
        assert self.model is not None
        # A single answer is given twice: it is scored by itself, and the position has no effect.
        both = (*pair, *pair)[:2]
        reply = await self._call_judge(self.model.aspects(question, reference, *both))
        if isinstance(reply, JudgeScores):
            return [reply] * len(pair)
        return [_average_aspects(reply)] if len(pair) == 1 else [_average_aspects([one]) for one in reply]

    async def _judge_ranking(self, question: str, reference: str, shown: Sequence[str]) -> list[JudgeScores]:
        assert self.model is not None
        if len(shown) != RANKED:
            raise InvalidInput(f"The judge 'ranking' orders {RANKED} answers, not {len(shown)}: compare four profiles.")
        reply = await self._call_judge(self.model.rank(question, reference, shown))
        if isinstance(reply, JudgeScores) or reply is None:
            return [reply or JudgeScores(fault="malformed")] * RANKED
        return [JudgeScores({"rank": float(rank), "ranked first": float(rank == 1)}) for rank in reply]

    async def _call_judge(self, call: Awaitable[_T]) -> _T | JudgeScores:
        try:
            reply = await self._patience.wait(_separate_malformed(call))
        except ModelUnavailable as error:
            raise ModelUnavailable(f"The judge '{self.name}' cannot go on. {error}") from error
        return JudgeScores(fault="unavailable") if reply is None else reply.value


@dataclass(frozen=True, slots=True)
class _Reply(Generic[_T]):
    """A wrapped reply. `Patience` returns None if the server failed, and this tells a reply apart from it."""

    value: _T


async def _separate_malformed(call: Awaitable[_T]) -> _Reply[_T | JudgeScores]:
    """Wrap a reply, or mark it as malformed: such a reply is the model's mistake, and no server failure."""
    try:
        return _Reply(await call)
    except MalformedReply:
        return _Reply(JudgeScores(fault="malformed"))


def _score_truth(verdict: bool) -> JudgeScores:
    return JudgeScores({"TRUE": float(verdict)})


def _average_aspects(aspects: Sequence[Aspects]) -> JudgeScores:
    return JudgeScores({name: fmean(getattr(one, name) for one in aspects) for name in ASPECTS})
