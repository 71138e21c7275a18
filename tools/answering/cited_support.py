"""Weighs a sentence against the passages that it cites, all together.

A sentence may join what two passages say ("use either browser [1] for the site of the trainings [8]"): no passage alone
has all of it, and none contradicts it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from argot.tools.answering.objections import find_objection, is_soft
from argot.tools.answering.premises import is_denied_answer, remove_premise
from argot.tools.answering.statement_parts import split_statement
from argot.tools.answering.support import find_statement_stems, read_visible, strip_links, strip_spelt_out, support
from argot.tools.text.totals import strip_true_comparisons, strip_true_weekdays

_AT_MOST = "scope 'at most'"
_AT_LEAST = "scope 'at least'"
_LIMIT = re.compile(
    r"\bat (?:the )?most\b|\b(?:max\w*|limit\w*|longest|highest)\b"
    r"|\bhow (?:long|many|much|far|heavy|old|late|big|large|high|fast|wide|tall|deep|thick)\b"
    r".*\b(?:can|may|allowed)\b",
    re.IGNORECASE,
)
"""Question for a limit: "how long can it run?" is answered by "at most 7 hours" for the passage's "7 hours"."""
_NEED = re.compile(
    r"\bhow (?:long|many|much|far|old|early|big|large|high|wide|tall|deep|thick)\b"
    r".*\b(?:needs?|required?|must|have to|has to)\b",
    re.IGNORECASE,
)
"""Question for what is needed: "at least £5" answers it for the passage's "£5"."""
_MAX_PREMISES = 3  # words of the question that are removed from one sentence, one objection each


class CitedSupport(NamedTuple):
    """Support of a sentence by the passages that it cites.

    `objection`: as `find_objection` returns it. `share`: the share of the sentence that the passages have, in [0, 1].
    `places`: the indexes of the passages that support it best, or a part of it.
    """

    objection: str
    share: float
    places: tuple[int, ...]


def weigh_cited(sentence: str, texts: Sequence[str], asked: str) -> CitedSupport:
    """Weigh a sentence against the texts of the passages that it cites, in the order of the citations.

    Args:
        asked: the question, whose own words are no claim of the sentence.
    """
    source = "\n\n".join(texts)
    objection = find_claim_objection(sentence, source, asked)
    sentence = strip_spelt_out(strip_links(sentence, source), source)
    whole = [support(sentence, text) for text in texts]
    best = max(whole)
    parts = split_statement(read_visible(sentence))
    if len(texts) == 1 or len(parts) == 1:
        return CitedSupport(objection, best, (whole.index(best),))
    weights = [len(find_statement_stems(part)) for part in parts]
    shares = [[support(part, text) for text in texts] for part in parts]
    joined = sum(weight * max(row) for weight, row in zip(weights, shares, strict=True)) / max(1, sum(weights))
    places = {row.index(max(row)) for row in shares if max(row) > 0}
    if joined <= best or len(places) < 2:
        return CitedSupport(objection, best, (whole.index(best),))
    return CitedSupport(objection, joined, tuple(sorted(places)))


def find_claim_objection(sentence: str, text: str, asked: str) -> str:
    """Return the objection of `find_objection` that is left after what the sentence only repeats from the question is
    removed.
    """
    sentence = strip_true_weekdays(strip_true_comparisons(strip_spelt_out(sentence, text), asked), text)
    said, source = read_visible(strip_links(sentence, text)), read_visible(text)
    reason = _find_objection(sentence, text, asked)
    if is_soft(reason) and is_denied_answer(said, source, asked):
        return "negation"
    for _ in range(_MAX_PREMISES):
        # A condition that the source may have in other words may also be the question's.
        if is_soft(reason) and not reason.startswith("condition "):
            return reason
        before = said, source
        said, source = remove_premise(reason, said, source, asked)
        if (said, source) == before:
            return reason
        reason = _find_objection(said, source, asked)
    return reason


def _find_objection(sentence: str, text: str, asked: str) -> str:
    reason = find_objection(sentence, text)
    asked_bounds = ((_AT_MOST, _LIMIT), (_AT_LEAST, _NEED))
    return next((name for name, asks in asked_bounds if reason.startswith(name) and asks.search(asked)), reason)
