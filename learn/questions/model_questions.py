"""Questions by a language model, with their answers.

    standard, alternative    of one passage, naming its case or asking for it        Trustworthy Answers 3.1, figure 13
    simple, complex          of several passages that follow one another             AccurateRAG 2.2

Each simple and complex question is answered once more from its passages alone, and left out where these do not bear it.
The model's output is checked against the passages, and is never an instruction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from argot.errors import ModelUnavailable
from argot.learn.questions.passage_questions import MadeQuestion
from argot.results import ModelCall
from argot.tools.answering.embedded_instructions import is_instruction
from argot.tools.llm.model_server import ModelServer
from argot.tools.llm.plausibility import filter_questions
from argot.tools.text.words import content_stems
from argot.types import Passage

ModelKind = Literal["standard", "alternative", "simple", "complex"]
MODEL_KINDS: tuple[ModelKind, ...] = get_args(ModelKind)
MAX_CONSECUTIVE_PASSAGES = 3
"""Number of passages from which a simple or complex question is made."""
MAX_CHARS = 6_000
QUESTIONS = {"simple": 4, "complex": 2}
IN_ONE_REPLY = {"standard": 12, "alternative": 8}
"""Pairs that a reply may have; more are asked for by further calls, so that a small model's context holds each."""
STANDARD_SHARE = 0.6
"""The share of the standard form where a number of pairs is to be divided between the two."""
MIN_SHARED = 0.4
"""Share of an answer's content words that its passage has."""
UNUSABLE, NOT_BORNE_OUT = "unusable replies", "not answered by the passage"


@dataclass
class ModelQuestions:
    """Asks a model for questions. `left_out` counts, by reason, the model's outputs that are in no pair. `most`: by
    kind, the most pairs of a passage, as `divide_pairs` gives them.
    """

    server: ModelServer
    most: Mapping[str, int] = field(default_factory=lambda: dict(IN_ONE_REPLY))
    calls: list[ModelCall] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    async def of(self, kind: ModelKind, passages: Sequence[Passage], about: str) -> list[tuple[MadeQuestion, Passage]]:
        """Ask for questions about these passages, each with the one that bears its answer best.

        Args:
            passages: of one document, one after the other; the first alone for standard and alternative.
            about: the document's description of itself.

        Raises:
            ModelUnavailable: the server fails; a reply that is of no use is left out and counted.
        """
        shown = _select_fitting(passages) if kind in QUESTIONS else passages[:1]
        text = "\n\n".join(one.text for one in shown)
        if kind in QUESTIONS:
            reply = await self._ask(f"qa_{kind}", title=about, passage=text, count=str(QUESTIONS[kind]))
            pairs = reply.get("pairs", [])
        else:
            pairs = await self._ask_for_all(kind, about, text)
        found: list[tuple[MadeQuestion, Passage]] = []
        for pair in pairs:
            candidate, passage = self._check_plausible(kind, pair, shown)
            if candidate is not None and await self._is_borne_out(candidate, text):
                found.append((candidate, passage))
        return found

    async def _ask_for_all(self, kind: ModelKind, about: str, text: str) -> list[dict[str, str]]:
        """Ask for pairs of a passage until it gives no more, or as many as are wanted."""
        found: dict[str, dict[str, str]] = {}
        while True:
            before = {"asked": "\n".join(one["question"] for one in found.values())} if found else {}
            reply = await self._ask(f"qa_{kind}", about=about, passage=text, **before)
            pairs, known = reply.get("pairs", []), len(found)
            for one in pairs:
                found.setdefault(" ".join(one["question"].casefold().split()), one)
            # A reply that could have had more pairs says that the passage holds no more.
            if len(pairs) < IN_ONE_REPLY[kind] or len(found) == known or len(found) >= self.most[kind]:
                return list(found.values())[: self.most[kind]]

    async def _ask(self, prompt: str, **inputs: str) -> dict[str, Any]:
        session = self.server.session(self.calls)
        try:
            return await session.json(prompt, choices=None, **inputs)
        except ModelUnavailable:
            # A server that answers, but not in the form it was asked for, or not within its context.
            if session.failed is not None:
                raise
            self.left_out[UNUSABLE] += 1
            return {}

    def _check_plausible(
        self, kind: ModelKind, pair: dict[str, str], passages: Sequence[Passage]
    ) -> tuple[MadeQuestion | None, Passage]:
        answer = " ".join(pair["answer"].split())
        passage = max(passages, key=lambda one: (_measure_shared(answer, one), -one.ordinal))
        # An alternative question does not name its case, so it shares less with its passage.
        question = next(filter_questions([pair["question"]], passage), "")
        if not question or not answer or is_instruction(answer) or _measure_shared(answer, passage) < MIN_SHARED:
            self.left_out[UNUSABLE] += 1
            return None, passage
        return MadeQuestion(kind, question, answer), passage

    async def _is_borne_out(self, candidate: MadeQuestion, text: str) -> bool:
        if candidate.kind not in QUESTIONS:
            return True
        reply = await self._ask("qa_validate", passage=text, question=candidate.question)
        borne_out = bool(reply.get("answerable")) and bool(str(reply.get("answer", "")).strip())
        if reply and not borne_out:
            self.left_out[NOT_BORNE_OUT] += 1
        return borne_out


def divide_pairs(per_passage: int, kinds: Sequence[str]) -> dict[str, int]:
    """Divide the most pairs of a passage between the forms that are asked for; 0: as many as one reply may have."""
    forms = [kind for kind in IN_ONE_REPLY if kind in kinds]
    if not per_passage or not forms:
        return dict(IN_ONE_REPLY)
    if len(forms) == 1:
        return {forms[0]: per_passage}
    standard = max(1, round(STANDARD_SHARE * per_passage))
    return {"standard": standard, "alternative": per_passage - standard}


def _select_fitting(passages: Sequence[Passage]) -> list[Passage]:
    shown, chars = list(passages[:1]), len(passages[0].text)
    for one in passages[1:MAX_CONSECUTIVE_PASSAGES]:
        chars += len(one.text)
        if chars > MAX_CHARS:
            break
        shown.append(one)
    return shown


def _measure_shared(answer: str, passage: Passage) -> float:
    stems = set(content_stems(answer))
    return len(stems & set(content_stems(passage.with_header))) / len(stems) if stems else 0.0
