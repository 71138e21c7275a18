"""A `Judge` without a language model, by simple rules. It is rough: use it to watch the effect of a change, but never
for a published figure; papers report the judgement of models and of people.

An answer is TRUE if it has the reference word for word; or if, for each sentence of the reference, it has all numbers
and identifiers, with the same negation and direction (`objections.py`), and most of its words. The judge knows no
synonyms, so it says FALSE to free paraphrases, and it ignores what an answer claims in addition to the reference.
"""

from __future__ import annotations

import re
from typing import Protocol, runtime_checkable

from argot.tools.answering.objections import find_objection
from argot.tools.text.sentences import split_sentences
from argot.tools.text.words import bare, content_stems

MIN_SHARED_SHARE = 0.6
"""The least share of the reference's distinct stems that a right answer has."""

# In "No.5 is the room", "No" is not an answer.
_YES_NO = re.compile(r"\W*(yes|no)\b(?!\.\d)", re.IGNORECASE)


@runtime_checkable
class Judge(Protocol):
    """A judge that compares an answer with a reference answer."""

    async def is_correct(self, question: str, answer: str, reference: str) -> bool:
        """Judge whether the answer is correct (AccurateRAG 2.4.2, figure 4)."""
        ...


class ExtractiveJudge:
    """A judge that compares exact words, or else numbers, names and shared words."""

    async def is_correct(self, question: str, answer: str, reference: str) -> bool:
        """Return true if the answer has the facts of the reference, judging by its words. An empty reference matches
        nothing.
        """
        answer_text, reference_text = bare(answer), bare(reference)
        if not answer_text or not reference_text:
            return False
        if answer_text == reference_text:
            return True
        # "Yes, visitors may park there." and "No, visitors ..." share most of their words.
        if read_yes_or_no(answer) and read_yes_or_no(reference) and read_yes_or_no(answer) != read_yes_or_no(reference):
            return False
        if any(find_objection(reference[start:end], answer) for start, end in split_sentences(reference)):
            return False
        # With spaces around them, so that "41" is not found in "410".
        return (
            f" {reference_text} " in f" {answer_text} "
            or measure_shared_words(answer, reference, question) >= MIN_SHARED_SHARE
        )


def measure_shared_words(answer: str, reference: str, question: str) -> float:
    # Any answer has the words of the question, so they do not count, unless the reference has no others.
    wanted = set(content_stems(reference))
    content = wanted - set(content_stems(question)) or wanted
    return len(content & set(content_stems(answer))) / len(content) if content else 0.0


def read_yes_or_no(text: str) -> str:
    match = _YES_NO.match(text)
    return match[1].casefold() if match else ""
