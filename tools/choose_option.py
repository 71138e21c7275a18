"""Answers a multiple-choice question from passages, without a language model (Golden-Retriever 4.1's kind of question).

Each option is judged by how well some stretch of a passage says question and option together. "True/false" and
"yes/no" are judged by whether the passages say the question's statement, or deny it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from argot.tools.quoting import units_of
from argot.tools.support import objection, quantities, statement_stems

_TRUE = frozenset({"true", "yes", "correct", "right", "y", "t"})
_FALSE = frozenset({"false", "no", "incorrect", "wrong", "n", "f"})
_ALL = re.compile(r"^(?:all|both)(?: of (?:these|them|the above)| the above| options)?$|^all$", re.IGNORECASE)
_NOT = re.compile(r"\bNOT\b|\bexcept\b|\bdoes(?:n't| not)\b|\bis(?:n't| not)\b|\bnever\b")
_EXPLAINED = re.compile(r"^- (?P<term>[^:]+): (?P<full>[^(.]+?)(?= \(|\.|$)")
_NEAR = 2
"""Units a question and its answer may lie apart within one passage."""

_ALL_SHARE = 0.6


def choose_option(question: str, options: Sequence[str], passages: Sequence[str]) -> int | None:
    """The index of the option the passages speak for; None when they say nothing of any of them.

    Args:
        question: on its first line, with lines "- TERM: expansion" below it where jargon was explained.
        options: two or more.
        passages: Markdown, best first.
    """
    if not options:
        return None
    question = _in_full(question)
    if yes_no := _as_yes_no(options):
        return yes_no[0] if _is_said(question, passages) else yes_no[1]
    scores = [_spoken_for(question, option, options, passages) for option in options]
    everything = next((i for i, option in enumerate(options) if _ALL.match(option.strip())), None)
    if everything is not None:
        others = [score for i, score in enumerate(scores) if i != everything]
        if others and min(others) >= _ALL_SHARE * max(others) > 0:
            return everything
        scores[everything] = 0.0
    if _NOT.search(question):
        return min(range(len(options)), key=lambda i: scores[i])
    best = max(range(len(options)), key=lambda i: scores[i])
    return best if scores[best] > 0 else None


def _in_full(question: str) -> str:
    """The question alone, each explained term replaced by its expansion; the rest of an explanation is not asked."""
    first, *explained = question.split("\n")
    for line in explained:
        if match := _EXPLAINED.match(line):
            parts = re.split(rf"(?<!\w){re.escape(match['term'])}(?!\w)", first)
            first = match["full"].join(parts)
    return first


def _as_yes_no(options: Sequence[str]) -> tuple[int, int] | None:
    """The places of yes and no if these are the options."""
    folded = [option.strip().strip(".").casefold() for option in options]
    if len(folded) == 2 and set(folded) & _TRUE and set(folded) & _FALSE:
        yes = 0 if folded[0] in _TRUE else 1
        return yes, 1 - yes
    return None


# -- one option -------------------------------------------------------------------------------------------------------


def _spoken_for(question: str, option: str, options: Sequence[str], passages: Sequence[str]) -> float:
    """How well the best stretch of text says the option (what sets it apart from the others) near the question."""
    common = frozenset.intersection(*(statement_stems(other) for other in options)) if len(options) > 1 else frozenset()
    own = statement_stems(option) - common or statement_stems(option)
    asked = statement_stems(question) - own
    rarity = _rarity(asked, passages)
    best = 0.0
    for place, passage in enumerate(passages):
        units = units_of(passage)
        stems = [statement_stems(unit.plain) for unit in units]
        for at, here in enumerate(stems):
            share = len(own & here) / max(1, len(own))
            if share == 0:
                continue
            exact = 1.2 if _stands_in(option, units[at].plain) else 1.0
            near = frozenset().union(*stems[max(0, at - _NEAR) : at + _NEAR + 1])
            said = sum(w * (1.0 if s in here else 0.5 if s in near else 0.0) for s, w in rarity.items())
            best = max(best, share**2 * exact * (0.05 + said) / (1 + 0.15 * place))
    return best


def _stands_in(option: str, text: str) -> bool:
    folded = option.strip().strip(".").casefold()
    wanted = quantities(option)
    if wanted:
        return (
            wanted <= quantities(text)
            or re.search(rf"(?<![\w.]){re.escape(folded)}(?![\w.])", text.casefold()) is not None
        )
    return re.search(rf"(?<!\w){re.escape(folded)}(?!\w)", text.casefold()) is not None


def _rarity(stems: frozenset[str], passages: Sequence[str]) -> dict[str, float]:
    held = [statement_stems(unit.plain) for passage in passages for unit in units_of(passage)]
    count = len(held)
    weights = {stem: math.log(1 + (count + 0.5) / (sum(stem in one for one in held) + 0.5)) for stem in stems}
    total = sum(weights.values()) or 1.0
    return {stem: weight / total for stem, weight in weights.items()}


# -- yes or no --------------------------------------------------------------------------------------------------------

_SAID = 0.5


def _is_said(statement: str, passages: Sequence[str]) -> bool:
    """Whether the unit that shares most with the statement says it: no number, name or negation against it."""
    rarity = _rarity(statement_stems(statement), passages)
    best, nearest = 0.0, ""
    for place, passage in enumerate(passages):
        for unit in units_of(passage):
            stems = statement_stems(unit.plain)
            share = sum(weight for stem, weight in rarity.items() if stem in stems) / (1 + 0.1 * place)
            if share > best:
                best, nearest = share, unit.plain
    if not nearest:
        return False
    against = objection(statement, nearest)
    return not against or (best < _SAID and against.startswith("identifier"))
