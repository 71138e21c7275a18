"""Recognition of questions about a term's meaning: "What does DGD stand for?". The words are data of each language
(`argot/languages`).

The glossary answers these, whatever the documents say. Conservative if the words may ask for something else: "What is
the CC for Harstad?" wants a value, "What is a CC?" its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from argot.languages.request_patterns import TERM_MARK, RequestPatterns, fold_accents, list_requests, normalize
from argot.tools.reading.question_splitting import split_questions
from argot.types import Mention

MAX_CHARS = 200  # characters of one question; longer ones describe a situation around it

MeaningRequestKind = Literal["thing", "meaning", "every"]
"""How a meaning is asked for: "What is a CC?", which may ask about the thing; "What does CC stand for?"; "What are the
meanings of CC?"."""

_WORD = re.compile(r"\w+")


class MeaningRequest(NamedTuple):
    """A question of a message. `mentions`: the terms whose meaning it asks for; none if it asks something else."""

    kind: MeaningRequestKind
    mentions: Sequence[Mention]


_NO_REQUEST = MeaningRequest("thing", ())


def find_asked_meanings(question: str, mentions: Sequence[Mention], contexts: Collection[str] = ()) -> list[Mention]:
    """Return the mentions whose meaning is asked for, in a message of one question or several.

    Args:
        contexts: names of contexts, which may follow: "What is a CC in Catering?".
    """
    return [one for request in list_meaning_requests(question, mentions, contexts) for one in request.mentions]


def list_meaning_requests(
    question: str, mentions: Sequence[Mention], contexts: Collection[str] = ()
) -> list[MeaningRequest]:
    """Return for each question of a message how it asks for the meaning of which mentions."""
    known = frozenset(word for name in contexts for word in _WORD.findall(fold_accents(name.casefold())))
    return [_read_request(part, mentions, known) for part in split_questions(question)]


def _read_request(part: str, mentions: Sequence[Mention], context_names: frozenset[str]) -> MeaningRequest:
    text, here = _mark_terms(part, mentions)
    if here and len(part) <= MAX_CHARS:
        marked = normalize(text)
        for words in list_requests("meaning", part):
            request = _read_request_in(words, part, marked, here, context_names)
            if request.mentions:
                return request
    return _NO_REQUEST


def _read_request_in(
    words: RequestPatterns, part: str, marked: str, here: list[Mention], context_names: frozenset[str]
) -> MeaningRequest:
    """Read the request in one language. `marked` is the part's words, with marks."""
    marked = words.opening.sub("", marked)
    if back := _match_first(words.compile("back"), fold_accents(part), whole=True):
        return MeaningRequest("meaning", _select_pointed(part[slice(*back.span("before"))], here))
    (scope,) = words.compile("scope")
    around = context_names.union(fold_accents(words.texts["around"]).split())
    whole = _strip_scope(words.ending.sub("", marked), scope, around)
    if found := _match_first(words.compile("every"), whole, whole=True):
        return MeaningRequest("every", _select_within(found, whole, here))
    if found := _match_first(words.compile("anywhere"), marked):
        return MeaningRequest("meaning", _select_within(found, marked, here))
    if found := _match_first(words.compile("alone"), whole, whole=True):
        return MeaningRequest("meaning", _select_within(found, whole, here))
    found = _match_first(words.compile("thing"), whole, whole=True)
    return MeaningRequest("thing", _select_within(found, whole, here)) if found else _NO_REQUEST


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
