"""The outcome of one question, and the comparison of its answer with a complete and right one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from argot.evaluate.answer_measures import Outcome, answer_outcome, compute_sentence_f1
from argot.evaluate.answer_questions import AnswerQuestion
from argot.evaluate.bert_score import BertScore
from argot.evaluate.known_answers import Heard
from argot.results import AskResult
from argot.tools.text.answer_likeness import exact_match, rouge_1, rouge_l
from argot.tools.text.words import bare

Loss = Literal[
    "reached the asker", "refused before the model was asked", "asked back", "no gold passage in the prompt",
    "replaced or refused behind the model", "sentences left unsupported",
]  # fmt: skip
LOSSES: tuple[Loss, ...] = get_args(Loss)


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """The outcome of one question.

    `answer`: the part shown as supported. `gold`: the ids of the passages that hold the gold snippets; `ranks`: the
    ranks of these, from 1, among the passages found; `shown`: the number of found passages given for writing the
    answer. `exact`, `rouge_1`, `rouge` and `bert`: the similarity to the reference; None if there is no reference.
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
    heard: Heard | None = None
    shown: int = 5
    bert: BertScore | None = None

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
    def evidence(self) -> float:
        """Return the confidence that the documents hold an answer: the best passage's score; 0 if none was found."""
        return max((one.score for one in self.result.passages), default=0.0)

    @property
    def loss(self) -> Loss | None:
        """Return where the ideal model's answer was lost; None if no such model answered, or the question has no
        answer.
        """
        if self.heard is None or not self.question.is_answerable:
            return None
        if self.outcome == "asked back":
            return "asked back"
        if not self.heard.asked:
            return "refused before the model was asked"
        if not self.heard.gold_shown:
            return "no gold passage in the prompt"
        if self.result.status != "answered" or self.result.answered_by != "model":
            return "replaced or refused behind the model"
        return "reached the asker" if all(s.supported for s in self.result.sentences) else "sentences left unsupported"

    @property
    def lie_shown(self) -> bool | None:
        """Return true if the false sentence was shown as supported; None if there was none."""
        if self.heard is None or not self.heard.lie:
            return None
        lie = bare(self.heard.lie)
        return any(s.supported and lie in bare(s.text) for s in self.result.sentences)


def build_outcome(
    question: AnswerQuestion,
    result: AskResult,
    gold: frozenset[str],
    heard: Heard | None = None,
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
        heard=heard,
        shown=shown_passages,
    )
