"""Measures of an answer's completeness and correctness: coverage, sentences, exact match, ROUGE, and abstention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from argot.evaluate.answer_questions import AnswerQuestion
from argot.tools.answering.support import support
from argot.tools.text.markdown_prose import extract_prose
from argot.tools.text.sentences import split_sentences
from argot.tools.text.words import content_stems, fold_words

Outcome = Literal["complete", "partial", "wrong", "abstained", "asked back"]
OUTCOMES: tuple[Outcome, ...] = ("complete", "partial", "wrong", "abstained", "asked back")

SAID = 0.7
"""The least share of a snippet's content in an answer for which the snippet counts as contained."""


def answer_outcome(question: AnswerQuestion, status: str, answer: str) -> Outcome:
    """Return the outcome of a question. `answer`: the text shown as supported. If a question without an answer (kind
    "unanswerable" or "underspecified") is answered, it counts as wrong.
    """
    if status == "needs_choice":
        return "asked back"
    if status != "answered":
        return "abstained"
    if not question.is_answerable:
        return "wrong"
    is_stated = [is_said(item, answer) for item in list_required_items(question)]
    is_complete = all(is_stated) or any(is_said(one.quote, answer) for one in question.also)
    if is_complete or _is_reference(question, answer):
        return "complete"
    return "partial" if any(is_stated) else "wrong"


def _is_reference(question: AnswerQuestion, answer: str) -> bool:
    """Return whether the answer is the reference, word for word: the ideal model's need not repeat the snippets."""
    words, wanted = (fold_words(extract_prose(text).text) for text in (answer, question.reference))
    return bool(wanted) and words == wanted


def list_required_items(question: AnswerQuestion) -> list[str]:
    """Return the items that a complete answer contains: `must`, or the snippets if there is none, or else the
    reference.
    """
    if question.must:
        return list(question.must)
    quotes = [one.quote for one in question.gold if one.quote]
    return quotes or [question.reference[a:b] for a, b in split_sentences(question.reference)]


def is_said(item: str, answer: str) -> bool:
    """Return true if the answer contains one of an item's alternatives: word for word, or by the stems of its
    content.
    """
    return any(_is_said(one.strip(), answer) for one in item.split("|") if one.strip())


def _is_said(required: str, answer: str) -> bool:
    required, answer = extract_prose(required).text, extract_prose(answer).text
    phrase, text = f" {' '.join(fold_words(required))} ", f" {' '.join(fold_words(answer))} "
    if phrase in text:
        return True
    stems = set(content_stems(required))
    if stems and stems <= set(content_stems(answer)):
        return True
    # a short item is a name or a number, which must match exactly
    return len(stems) > 3 and support(required, answer) >= SAID


def compute_sentence_f1(question: AnswerQuestion, sentences: Sequence[str]) -> float | None:
    """Return F1 of the sentences shown against the gold snippets; None if the question has no snippets.

    A snippet is found if the sentences together contain it. A sentence is right if it is part of a snippet or contains
    one.
    """
    quotes = [one.quote for one in question.gold if one.quote]
    if not quotes:
        return None
    if not sentences:
        return 0.0
    recall = sum(support(quote, "\n\n".join(sentences)) >= SAID for quote in quotes) / len(quotes)
    right = [any(support(one, q) >= SAID or support(q, one) >= SAID for q in quotes) for one in sentences]
    precision = sum(right) / len(right)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def compute_auroc(scores: Sequence[float], positive: Sequence[bool]) -> float | None:
    """Return the probability that a positive scores above a negative, ties counting half; None without both."""
    values, marks = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=bool)
    yes, no = values[marks], values[~marks]
    if not len(yes) or not len(no):
        return None
    above = (yes[:, None] > no[None, :]).mean() + 0.5 * (yes[:, None] == no[None, :]).mean()
    return float(above)


def compute_refusal_rate(scores: Sequence[float], answerable: Sequence[bool], answered: float = 0.9) -> float | None:
    """Return the share of unanswerable questions below the threshold at which a share of `answered` of the answerable
    ones is still answered.
    """
    values, marks = np.asarray(scores, dtype=np.float64), np.asarray(answerable, dtype=bool)
    if not marks.any() or marks.all():
        return None
    threshold = np.quantile(values[marks], 1 - answered)
    return float((values[~marks] < threshold).mean())
