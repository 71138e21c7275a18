"""The outcome of one question, and the comparison of its answer with a complete and right one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from argot.evaluate.answer_measures import Outcome, answer_outcome, compute_sentence_f1
from argot.evaluate.answer_questions import AnswerQuestion
from argot.evaluate.answer_units import AnswerUnit, begins_with_answer, is_clean, judge_units, measure_beside
from argot.evaluate.bert_score import BertScore
from argot.evaluate.known_models import ServedQuestion
from argot.evaluate.right_marks import RightMarks, count_marks
from argot.results import AskResult
from argot.tools.text.answer_likeness import exact_match, rouge_1, rouge_l
from argot.tools.text.words import bare

Loss = Literal[
    "whole and unmarked", "a sentence marked or left out", "replaced by quotations", "refused behind the model",
    "passages not in the prompt", "refused before the model was asked", "asked back",
]  # fmt: skip
LOSSES: tuple[Loss, ...] = get_args(Loss)


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """The outcome of one question.

    `answer`: the part shown as supported. `gold`: the ids of the passages that hold the gold snippets; `ranks`: the
    ranks of these, from 1, among the passages found; `shown`: the number of found passages given for writing the
    answer. `exact`, `rouge_1`, `rouge` and `bert`: the similarity to the reference; None if there is no reference.
    `units`: the sentences and items of an answer to an answerable question, including marked ones.
    """

    question: AnswerQuestion
    result: AskResult
    outcome: Outcome
    answer: str
    gold: frozenset[str]
    ranks: tuple[int, ...]
    right_citation_first: bool | None
    f1: float | None
    exact: bool | None
    rouge_1: float | None
    rouge: float | None
    served: ServedQuestion | None = None
    shown: int = 5
    bert: BertScore | None = None
    units: tuple[AnswerUnit, ...] = ()

    @property
    def has_reference(self) -> bool:
        """Return true if there is a reference with which a right answer can be compared."""
        return self.question.is_answerable and bool(self.question.reference)

    @property
    def shown_text(self) -> str:
        """Return the text that the asker reads: the supported answer; otherwise the refusal, or the unchecked words."""
        return self.answer or self.result.answer

    @property
    def gold_retrieved(self) -> bool:
        """Return true if a gold passage was among those given for writing the answer."""
        return any(rank <= self.shown for rank in self.ranks)

    @property
    def beside(self) -> float | None:
        """Return the share of the answer's sentences and items beside the point; None if nothing was answered."""
        return measure_beside(self.units)

    @property
    def is_whole_and_clean(self) -> bool:
        """Return true if the answer is complete, and hardly anything in it is beside the point."""
        return self.outcome == "complete" and is_clean(self.units)

    @property
    def begins_with_answer(self) -> bool:
        return begins_with_answer(self.units)

    @property
    def evidence(self) -> float:
        """Return the confidence that the documents hold an answer: the best passage's score; 0 if none was found."""
        return max((one.score for one in self.result.passages), default=0.0)

    @property
    def loss(self) -> Loss | None:
        """Return the stage at which a known right answer was lost; None if no model knew one."""
        if self.served is None or not self.served.has_answer:
            return None
        happened: tuple[tuple[Loss, bool], ...] = (
            ("asked back", self.outcome == "asked back"),
            ("refused before the model was asked", not self.served.asked),
            ("passages not in the prompt", not self.served.gold_shown),
            ("refused behind the model", self.result.status != "answered"),
            ("replaced by quotations", self.result.answered_by != "model"),
            ("a sentence marked or left out", not self.marks.are_none),
        )
        return next((loss for loss, is_so in happened if is_so), "whole and unmarked")

    @property
    def marks(self) -> RightMarks:
        """Return the marks on right sentences: what a model said that knows the answer, or what contains gold."""
        if self.served is not None:
            return count_marks([one for one in self.served.sentences if one != self.served.lie], self.result)
        right = [one.text for one in self.units if one.holds] if self.result.answered_by == "model" else []
        return count_marks(right, self.result)

    @property
    def lie_shown(self) -> bool | None:
        """Return true if the false sentence was shown as supported; None if there was none."""
        if self.served is None or not self.served.lie:
            return None
        lie = bare(self.served.lie)
        return any(s.supported and lie in bare(s.text) for s in self.result.sentences)


def build_outcome(
    question: AnswerQuestion,
    result: AskResult,
    gold: frozenset[str],
    served: ServedQuestion | None = None,
    shown_passages: int = 5,
) -> AnswerOutcome:
    """Build the outcome of a question from the sentences shown as supported, on which the asker may rely."""
    shown = [sentence for sentence in result.sentences if sentence.supported]
    answer = "\n".join(sentence.text for sentence in shown)
    what = answer_outcome(question, result.status, answer)
    ranks = tuple(place for place, one in enumerate(result.passages, start=1) if one.passage_id in gold)
    likened = question.is_answerable and bool(question.reference)
    answered = question.is_answerable and result.status == "answered"
    first = shown[0].citations[0].passage_id if shown and shown[0].citations else ""
    return AnswerOutcome(
        question=question,
        result=result,
        outcome=what,
        answer=answer,
        gold=gold,
        ranks=ranks,
        right_citation_first=first in gold if answered and gold else None,
        f1=compute_sentence_f1(question, [sentence.text for sentence in shown]) if question.is_answerable else None,
        exact=exact_match(answer, question.reference) if likened else None,
        rouge_1=rouge_1(answer, question.reference) if likened else None,
        rouge=rouge_l(answer, question.reference) if likened else None,
        served=served,
        shown=shown_passages,
        units=tuple(judge_units(question, [one.text for one in result.sentences])) if answered else (),
    )
