"""Recognition of questions about a term's meaning: "What does DGD stand for?". English, as the other readings of
messages.

The glossary answers these, whatever the documents say. Conservative if the words may ask for something else: "What is
the CC for Harstad?" wants a value, "What is a CC?" its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from argot.tools.reading.question_splitting import split_questions
from argot.types import Mention

MAX_CHARS = 200  # characters of one question; longer ones describe a situation around it

_MARK = "\ue000"
"""Placeholder for a term while the words around it are read."""
_NOUN = r"(?:term|terms|abbreviations?|acronyms?|initialism|words?|letters|expressions?|shorthand|short form|phrase)"
_TERM = rf"(?:(?:the|an?|our|your|this|that|these|those) )?(?:{_NOUN} )?{_MARK}"
_TERMS = rf"(?P<terms>{_TERM}(?: (?:and|or|vs|versus) {_TERM})*)"
_WHAT = r"what(?:'s| is| are| was| were)"
_MEANS = (
    r"(?:means?(?! (?:for|that|to|if|when)\b)|stands? for|refers? to|(?:is|are) short for|denotes?|signif(?:y|ies))"
)
_MEANING = r"(?:meanings?|definitions?|full forms?|long forms?|expansions?|full names?)"
# Words that may precede any question.
_POLITE = re.compile(
    r"^(?:(?:hi|hello|hey|please|so|ok|okay|sorry|well|and|also|just|now|then|again|argot|quick question) )*"
    r"(?:(?:can|could|would|will) (?:you|someone|anyone|somebody) (?:please |kindly )?)?"
    r"(?:i(?:'d| would) like to know |i want to know |i wonder |do you know |(?:tell|remind) me |let me know )?"
    r"(?:please )?"
)
# Words after these do not matter: "What does CC mean in the galley?"
_WHATEVER_FOLLOWS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"what (?:do|does|did|would|might|could) {_TERMS} (?:actually |really |exactly )?{_MEANS}\b",
        rf"what {_TERMS} (?:actually |really |exactly )?{_MEANS}\b",
        rf"{_WHAT} (?:the )?{_MEANING} (?:of|for|behind) {_TERMS}(?= |$)",
        rf"{_WHAT} (?:meant|understood) (?:by|with) {_TERMS}(?= |$)",
        rf"what (?:do|does) (?:you|we|they|people|one) (?:mean|understand) (?:by|with) {_TERMS}(?= |$)",
        rf"(?:what is|is) {_TERMS} (?:short for|an? (?:abbreviation|acronym) (?:of|for)|supposed to mean)\b",
    )
)
_ALONE = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?:{_WHAT}|what) {_TERMS}",
        rf"(?:what|who or what) {_TERMS} (?:is|are)",
        rf"who or what is {_TERMS}",
        rf"(?:define|explain|expand|spell out|decipher)(?: to me)? {_TERMS}(?: to me| for me)?",
        rf"(?:explain|say|show me|give me|look up)(?: to me)? what {_TERMS} (?:is|are|{_MEANS})",
        rf"(?:(?:explain|show me|give me|look up)(?: to me)? )?(?:the )?{_MEANING} (?:of|for) {_TERMS}",
        rf"{_TERMS} (?:{_MEANING}|{_MEANS}(?: what)?)",
        _TERMS,
    )
)
_BACK = re.compile(
    r"(?P<before>.*[.,;:!?)\"'”’–-])\s+(?:(?:so|and|but) )?what (?:does|would|could) (?:that|it|this) "
    rf"(?:even |actually |really )?{_MEANS}\W*",
    re.IGNORECASE | re.DOTALL,
)
"""A question that refers back: "There is a 'DGD' in my draft. What does that mean?"."""
_HERE = re.compile(
    r"(?: (?:here|exactly|please|anyway|again|actually|mean|thanks|for us|(?:at|in) (?:our|the|this|your) (?:company"
    r"|firm|organi[sz]ation|documents?|context|glossary|house)))+$"
)
_SCOPE = re.compile(r" (?:in|for|at|within|from|of|to) (?P<words>[\w' ]+)$")
_AROUND = frozenset(
    {"the", "our", "team", "department", "context", "field", "sense", "world", "side", "and", "of", "terms"}
)
_BREAKS = re.compile(rf"[^\w'{_MARK}]+")
_WORD = re.compile(r"\w+")


def find_asked_meanings(question: str, mentions: Sequence[Mention], contexts: Collection[str] = ()) -> list[Mention]:
    """Return the mentions whose meaning is asked for, in a message of one question or several.

    Args:
        contexts: names of contexts, which may follow: "What is a CC in Catering?".
    """
    known = _AROUND.union(word for name in contexts for word in _WORD.findall(name.casefold()))
    return [mention for part in split_questions(question) for mention in _find_asked(part, mentions, known)]


def _find_asked(part: str, mentions: Sequence[Mention], known: Collection[str]) -> list[Mention]:
    text, here = _mark_terms(part, mentions)
    if not here or len(part) > MAX_CHARS:
        return []
    said = " ".join(_BREAKS.sub(" ", text.casefold().replace("’", "'")).split())
    said = _POLITE.sub("", said)
    if back := _BACK.fullmatch(part):
        return _select_pointed(back["before"], here)
    for pattern in _WHATEVER_FOLLOWS:
        if found := pattern.match(said):
            return _select_within(found, said, here)
    said = _strip_scope(_HERE.sub("", said), known)
    found = next(filter(None, (pattern.fullmatch(said) for pattern in _ALONE)), None)
    return _select_within(found, said, here) if found else []


def _mark_terms(part: str, mentions: Sequence[Mention]) -> tuple[str, list[Mention]]:
    """Return the part with a mark for each term in it, and those terms in order."""
    pieces, here, end, lower = [], [], 0, part.lower()
    for mention in sorted(mentions, key=lambda one: one.start):
        at = lower.find(mention.surface.lower(), end)
        if at >= 0:
            pieces += [part[end:at], f" {_MARK} "]
            here.append(mention)
            end = at + len(mention.surface)
    return "".join([*pieces, part[end:]]), here


def _select_within(found: re.Match[str], said: str, here: Sequence[Mention]) -> list[Mention]:
    start, end = found.span("terms")
    before = said[: max(start, 0)].count(_MARK)
    return list(here[before : before + max(1, said[max(start, 0) : end].count(_MARK))])


def _select_pointed(before: str, here: Sequence[Mention]) -> list[Mention]:
    """Return the one term of a statement that is quoted, or ends it: without that, the statement is meant."""
    pointed = [
        one
        for one in here
        if re.search(rf"['\"“‘`]{re.escape(one.surface)}['\"”’`]|\b{re.escape(one.surface)}\W*$", before, re.IGNORECASE)
    ]
    return pointed if len({one.surface.casefold() for one in here}) == 1 else []


def _strip_scope(said: str, known: Collection[str]) -> str:
    """Return the text without a context's name at the end: "in Catering", "for the IT team"."""
    found = _SCOPE.search(said)
    return said[: found.start()] if found and all(word in known for word in found["words"].split()) else said
