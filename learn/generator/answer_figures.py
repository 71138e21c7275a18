"""Figures of a model's answers to the questions of a part: token loss, exact match, ROUGE-L."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from argot.learn.generator.answering import compute_token_losses, write_replies
from argot.learn.generator.tokens import ChatTokens, TokenizedExample
from argot.measures import paired_difference
from argot.tools.answering.citation_marks import strip_marks
from argot.tools.text.answer_likeness import exact_match, rouge_l

_BATCH = 4
_MAX_MARKS = 99


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of each example, in a fixed order.

    `token_loss`: mean cross-entropy of the answer's tokens, in nats; lower is better.
    `exact_match`: 1 where the same words are written as wanted; `rouge_l`: F1 of the longest common subsequence of
    words. Both without the numbers of citations, for the written answers.
    """

    token_loss: tuple[float, ...]
    exact_match: tuple[float, ...] = ()
    rouge_l: tuple[float, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> Figures:
        return cls(**{name: tuple(values) for name, values in kept.items()})


def measure_answers(  # noqa: PLR0917
    model: Any,
    tokens: ChatTokens,
    examples: Sequence[TokenizedExample],
    answered: Sequence[TokenizedExample],
    answer_tokens: int,
    on_progress: Callable[[int], None],
) -> Figures:
    """Measure the loss of all examples, and the model's own answers to those `answered`.

    Args:
        on_progress: called with the number of newly completed items; a loss and an answer count alike.
    """
    losses = compute_token_losses(model, examples, _BATCH, on_progress)
    ends = tokens.ends(model)
    written = write_replies(model, [one.asked for one in answered], answer_tokens, ends, on_progress)
    exact, like = [], []
    for one, reply in zip(answered, written, strict=True):
        reply_text, wanted = _strip_citations(tokens.text_of(reply)), _strip_citations(one.example.answer)
        exact.append(float(exact_match(reply_text, wanted)))
        like.append(rouge_l(reply_text, wanted))
    return Figures(tuple(losses), tuple(exact), tuple(like))


def compare_figures(before: Figures, after: Figures, passages: Sequence[str]) -> dict[str, Any]:
    """Compare each figure's mean before and after; the difference has a 95 % interval over the same examples.

    Args:
        passages: of each example, the passage it is about: examples of one are drawn together.
    """
    rows = {name: (getattr(before, name), getattr(after, name)) for name in before.as_json()}
    return {name: _compare_values(*values, passages[: len(values[0])]) for name, values in rows.items() if values[0]}


def _compare_values(before: Sequence[float], after: Sequence[float], passages: Sequence[str]) -> dict[str, Any]:
    found = paired_difference(before, after, passages)
    return {
        "before": round(fmean(before), 4),
        "after": round(fmean(after), 4),
        "difference": round(found.difference, 4),
        "interval95": [round(one, 4) for one in found.interval95],
        "questions": found.questions,
    }


def _strip_citations(text: str) -> str:
    return strip_marks(text, _MAX_MARKS)
