"""Check whether an objection concerns a claim of the sentence, or only the question's words or a reference back.

"With 950 cycles it is in class 2" takes 950 from the question, and no passage can contain it. Word matching does not
support such a sentence, but a model may be asked about it. A confirmation is none: "Yes, the limit is 950" claims the
number.
"""

from __future__ import annotations

import re

from argot.tools.answering.denial import NEGATION, is_negated
from argot.tools.answering.support import find_statement_stems
from argot.tools.text.quantities import find_quantities
from argot.tools.text.words import NUMBER_WORDS, stem

_OPENING = re.compile(
    r"(?:^|[,;(]\s*)(?:with|at|for|after|before|if|when|in case of|as|on|given|since|of)\b[^,;:()]*", re.IGNORECASE
)
_CONDITION = re.compile(r"^(?:.*\s)?(?:if|when|where|once|in case)$", re.IGNORECASE | re.DOTALL)
_FRAGMENT = re.compile(
    r"\W*(?:between|from|on|in|at|until|before|after|during|within|to|for|by|because|as|since)\b", re.IGNORECASE
)
_FEW = {number: word for word, number in NUMBER_WORDS.items() if word in ("two", "three", "four")}


def remove_premise(reason: str, said: str, source: str, asked: str) -> tuple[str, str]:
    """Return sentence and source without the subject of the objection `reason`, if that is no claim of the sentence.

    Both are plain prose, `asked` is the question. They are unchanged if it is a claim.
    """
    kind, _, what = reason.partition(" ")
    # "When must nothing end?" is answered by "Between 5 and 6": the denial is in the question.
    if kind == "negation" and is_negated(asked) and not is_negated(said) and _FRAGMENT.match(said):
        return said, NEGATION.sub(" ", source)
    if kind == "clause":
        return _remove_condition(what.strip("'"), said, asked), source
    if kind == "number":
        return _remove_counted(what, _remove_opening(what.split()[0], said, asked), source), source
    return said, source


def _remove_condition(clause: str, said: str, asked: str) -> str:
    """Return the sentence without the question's own words after an "if"."""
    at = said.find(clause)
    # At the beginning of a sentence the "if" is a part of the clause.
    conjunction = f"{said[:at]}{clause.split(maxsplit=1)[0] if at == 0 else ''}".strip()
    if at < 0 or not _CONDITION.match(conjunction) or not find_statement_stems(clause) <= find_statement_stems(asked):
        return said
    return said[:at] + said[at + len(clause) :]


def _remove_opening(number: str, said: str, asked: str) -> str:
    """Return the sentence without the question's number if it opens a clause: "With 950 cycles ..."."""
    opening = _OPENING.search(said)
    numbers = [{one for one, _ in find_quantities(text)} for text in (asked, opening[0] if opening else "")]
    if opening is None or not all(number in known for known in numbers):
        return said
    return said[: opening.start()] + re.sub(r"\d[\d.,]*", "", opening[0]) + said[opening.end() :]


def _remove_counted(number: str, said: str, source: str) -> str:
    """Return the sentence without the "two" of "the two counters": it counts things just named, which the source does
    not count.
    """
    word = _FEW.get(number)
    found = re.search(rf"\b(?:the|these|those|all) {word} (\w+)", said, re.IGNORECASE) if word else None
    if not found:
        return said
    counted = re.findall(rf"\b(?:\d+|{'|'.join(NUMBER_WORDS)}) (\w+)", source, re.IGNORECASE)
    known = stem(found[1].casefold()) in {stem(one.casefold()) for one in counted}
    return said if known else f"{said[: found.start()]}the {found[1]}{said[found.end() :]}"
