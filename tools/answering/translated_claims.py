"""Sentences of an answer in another language than the passages that they cite.

Across languages words cannot be compared. Rules decide about numbers, units, identifiers and names, which stay the
same; a language model alone decides about the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from argot.languages.detection import identify_listed_language, identify_question_language
from argot.tools.answering.objections import find_missing, is_soft
from argot.tools.answering.support import read_visible, strip_links
from argot.tools.text.totals import strip_counts
from argot.types import Passage


def is_translated(sentence: str, cited: Sequence[Passage], asked: str) -> bool:
    """Return whether all passages that a sentence cites are in another language than the sentence and the question.

    A short sentence does not show its language; it usually has the question's.
    """
    # Definitions follow in further lines, perhaps in the documents' language.
    question = next(iter(asked.splitlines()), "")
    own = {identify_listed_language(sentence), identify_question_language(question)}
    return bool(cited) and all(one.language and one.language not in own for one in cited)


def may_be_translation(sentence: str, texts: Sequence[str]) -> bool:
    """Return whether the cited texts together have every number, identifier and name of the sentence."""
    source = "\n\n".join(texts)
    said = strip_counts(read_visible(strip_links(sentence, source)), source)
    return is_soft(find_missing(said, read_visible(source)))
