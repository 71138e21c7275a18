"""Recognition of questions about a term's meaning: "What does DGD stand for?". The words are data of each language
(`argot/languages`).

The glossary answers these, whatever the documents say. Conservative if the words may ask for something else: "What is
the CC for Harstad?" wants a value, "What is a CC?" its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from argot.languages.request_patterns import TERM_MARK, RequestPatterns, fold_accents, list_requests, normalize
from argot.tools.reading.question_splitting import split_questions
from argot.types import Mention

MAX_CHARS = 200  # characters of one question; longer ones describe a situation around it

_WORD = re.compile(r"\w+")


def find_asked_meanings(question: str, mentions: Sequence[Mention], contexts: Collection[str] = ()) -> list[Mention]:
    """Return the mentions whose meaning is asked for, in a message of one question or several.

    Args:
        contexts: names of contexts, which may follow: "What is a CC in Catering?".
    """
    known = frozenset(word for name in contexts for word in _WORD.findall(fold_accents(name.casefold())))
    return [mention for part in split_questions(question) for mention in _find_asked(part, mentions, known)]


def _find_asked(part: str, mentions: Sequence[Mention], context_names: frozenset[str]) -> list[Mention]:
    text, here = _mark_terms(part, mentions)
    if not here or len(part) > MAX_CHARS:
        return []
    marked = normalize(text)
    for words in list_requests("meaning", part):
        if found := _find_asked_in(words, part, marked, here, context_names):
            return found
    return []


def _find_asked_in(
    words: RequestPatterns, part: str, marked: str, here: list[Mention], context_names: frozenset[str]
) -> list[Mention]:
    """Return the mentions whose meaning is asked for in one language. `marked` is the part's words, with marks."""
    marked = words.opening.sub("", marked)
    if back := _match_first(words.compile("back"), fold_accents(part), whole=True):
        return _select_pointed(part[slice(*back.span("before"))], here)
    if found := _match_first(words.compile("anywhere"), marked):
        return _select_within(found, marked, here)
    (scope,) = words.compile("scope")
    around = context_names.union(fold_accents(words.texts["around"]).split())
    marked = _strip_scope(words.ending.sub("", marked), scope, around)
    found = _match_first(words.compile("alone"), marked, whole=True)
    return _select_within(found, marked, here) if found else []


def _match_first(patterns: Sequence[re.Pattern[str]], text: str, *, whole: bool = False) -> re.Match[str] | None:
    return next(filter(None, (one.fullmatch(text) if whole else one.match(text) for one in patterns)), None)


def _mark_terms(part: str, mentions: Sequence[Mention]) -> tuple[str, list[Mention]]:
    """Return the part with a mark for each term in it, and those terms in order."""
    pieces, here, end, lower = [], [], 0, part.lower()
    for mention in sorted(mentions, key=lambda one: one.start):
        at = lower.find(mention.surface.lower(), end)
        if at >= 0:
            pieces += [part[end:at], f" {TERM_MARK} "]
            here.append(mention)
            end = at + len(mention.surface)
    return "".join([*pieces, part[end:]]), here


def _select_within(found: re.Match[str], marked: str, here: Sequence[Mention]) -> list[Mention]:
    start, end = found.span("terms")
    before = marked[: max(start, 0)].count(TERM_MARK)
    return list(here[before : before + max(1, marked[max(start, 0) : end].count(TERM_MARK))])


def _select_pointed(before: str, here: Sequence[Mention]) -> list[Mention]:
    """Return the one term of a statement that is quoted, or ends it: without that, the statement is meant."""
    pointed = [
        one
        for one in here
        if re.search(rf"['\"“‘`]{re.escape(one.surface)}['\"”’`]|\b{re.escape(one.surface)}\W*$", before, re.IGNORECASE)
    ]
    return pointed if len({one.surface.casefold() for one in here}) == 1 else []


def _strip_scope(text: str, scope: re.Pattern[str], context_names: Collection[str]) -> str:
    """Return the text without a context's name at the end: "in Catering", "for the IT team"."""
    found = scope.search(text)
    return text[: found.start()] if found and all(word in context_names for word in found["words"].split()) else text
