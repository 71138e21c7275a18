"""RAIDD-S ICL (2.2, figure 3): a model that optimises its answers with pairs of earlier solutions and their scores.

Each question is answered with earlier pairs in the prompt. The model scores its own answer, from 0 to 100, which
becomes a pair itself, with the true answer. It scores in the same reply, without the true answer; in the paper after
the answer was compared with it. The prompt holds the best and the worst pairs, worst first, and few of them. A judge
may score instead, against the true answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from argot.errors import ModelUnavailable
from argot.evaluate.answer_questions import AnswerQuestion
from argot.prompts.loader import wrap_in_fence
from argot.results import FoundPassage
from argot.tools.llm.judge import ModelJudge
from argot.tools.llm.model_server import ModelServer

MAX_PAIRS = 8
"""Solved questions in a prompt. The paper gives no number; it finds that large prompts dilute the context (3.3.3)."""


@dataclass(frozen=True, slots=True)
class SolvedQuestion:
    """A solved question with its `score`: 0 (wrong) to 100 (as good as the true answer)."""

    question: str
    answer: str
    truth: str
    score: int

    def format_text(self) -> str:
        text = f"Question: {self.question}\nAnswer: {self.answer}\nTrue answer: {self.truth}"
        return wrap_in_fence("solved_question", text, score=self.score)


@dataclass
class SolutionLoop:
    """One pass over the questions, in order. Without a `judge` the model's own scores count."""

    server: ModelServer
    judge: ModelJudge | None = None
    solved: list[SolvedQuestion] = field(default_factory=list)

    async def answer(self, question: AnswerQuestion, passages: Sequence[FoundPassage]) -> str:
        """Answer with what was learnt so far, and learn from the answer.

        Raises:
            ModelUnavailable: the model gives no answer.
        """
        model = self.server.session([])
        pieces = [wrap_in_fence("passage", one.text, n=n) for n, one in enumerate(passages, start=1)]
        solved = "\n".join(one.format_text() for one in self.list_shown())
        asked = question.question
        held = await model.fit("solution_score", "passages", pieces, solved=solved, question=asked) if pieces else ""
        reply = await model.json("solution_score", solved=solved, passages=held, question=asked)
        await self._learn_solution(question, reply["answer"], reply["score"])
        return str(reply["answer"])

    def list_shown(self) -> list[SolvedQuestion]:
        """Return the best and the worst pairs, worst first, for the model to compare (Yang et al. 2023)."""
        ranked = sorted(self.solved, key=lambda one: one.score)
        if len(ranked) <= MAX_PAIRS:
            return ranked
        half = MAX_PAIRS // 2
        return [*ranked[:half], *ranked[-half:]]

    async def _learn_solution(self, question: AnswerQuestion, answer: str, own_score: int) -> None:
        if self.judge is None:
            self.solved.append(SolvedQuestion(question.question, answer, question.reference, own_score))
            return
        try:
            likeness = await self.judge.geval(question.question, question.reference, answer)
            score = round((likeness - 1) / 4 * 100)
        except ModelUnavailable:
            # Use the answering model's own estimate instead, which it makes without the true answer.
            score = own_score
        self.solved.append(SolvedQuestion(question.question, answer, question.reference, score))
