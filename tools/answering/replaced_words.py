"""Finds words of a passage that a sentence puts in the place of others while the words around them stay the same: "the
tenant pays the deposit" where the passage has "the landlord pays the deposit" and names the tenant elsewhere.

Every word of such a sentence is in the passage, so that neither a missing word nor a share of words shows the change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import Match, SequenceMatcher
from functools import lru_cache

from argot.corpus.keyword.stop_words import STOP_WORDS
from argot.jargon_db.lookup.ordinary_words import is_ordinary_word
from argot.tools.answering.statement_parts import split_statement
from argot.tools.answering.support import find_nearest_units, read_visible
from argot.tools.text.quantities import normalize_number
from argot.tools.text.units import is_unit
from argot.tools.text.words import NUMBER_WORDS, find_identifiers, fold, stem

_TOKEN = re.compile(r"[^\W_](?:[\w#&@.,'’-]*\w)?|[,;:()–—|](?=\s|$)|[.!?](?=\s)")
_MAX_WORDS = 3  # words with a meaning that may stand in the place of as many others
_MIN_SAME = 3  # words of the sentence that the passage's sentence has in the same order
_MIN_SHARE = 0.6  # share of the sentence's words that the passage's sentence has in the same order
_MIN_BEGINNING = 4  # letters that two forms of a word share
_MIN_BESIDE = 2  # of the words in the same order, those in one run before or behind the replaced ones
_BREAK = ""
"""Stands for a comma or stop in a list of words."""
_MAX_SYMBOL = 2  # letters; "us" is a unit and a word
_STATEMENT_END = re.compile(r"[;:.!?]\s+")
_ADJUNCT = re.compile(r"\s*(?:for|with|in|at|on|during|as|by|from|to|under|within)\b", re.IGNORECASE)
_SMALL = re.compile(r"(?<![\w.@/-])[a-z]\w+")
_CAPITAL = re.compile(r"(?<!\w)[A-Z]\w*")
_NAME = re.compile(r"(?<=[\w,;] )[A-Z][\w&-]*\w")

_Words = tuple[str, ...]


def find_replaced(said: str, passage: str) -> str:
    """Return words of a sentence that stand where each of the passage's nearest sentences has others, as "tenant for
    landlord"; empty if there are none.

    Only words that the passage has elsewhere count, and only a name for a name, or a number or unit for another. If the
    nearest sentence has them at another place, they must have changed places with the others; one name is then enough.
    """
    known, names = frozenset(_list_words(passage)), _find_names(read_visible(passage))
    for statement in _STATEMENT_END.split(said):
        everything = frozenset(_list_words(statement))
        for part in split_statement(statement):
            found = [
                _find_replaced_by(part, nearest, known, names, everything)
                for nearest in find_nearest_units(part, passage)
                # In a calculation any number may come first.
                if not _is_title(nearest) and "=" not in nearest
            ]
            if found and all(found):
                return found[0]
    return ""


def _find_replaced_by(
    part: str, nearest: str, known: frozenset[str], names: frozenset[str], everything: frozenset[str]
) -> str:
    theirs = _list_words(nearest)
    for here, there in _list_replaced(part, theirs):
        is_new = not frozenset(theirs).issuperset(here)
        if not known.issuperset(here) or not (is_new or everything.issuperset(there)):
            continue
        if _is_of_a_kind(here, there, names, is_new=is_new):
            return f"{' '.join(here)} for {' '.join(there)}"
    return ""


def _list_replaced(part: str, theirs: _Words) -> Iterator[tuple[_Words, _Words]]:
    """Yield words of a part, each time with those in whose place they stand in a text that is the same around them."""
    mine = tuple(word for word in _list_words(part) if word != _BREAK)
    blocks = _find_same(mine, theirs)
    if sum(block.size for block in blocks) < max(_MIN_SAME, _MIN_SHARE * len(mine)):
        return
    # "In the portal, ..." is a place, and no subject in the place of another
    first, start = (blocks[0].a, blocks[0].b) if _ADJUNCT.match(part) else (0, 0)
    before = 0
    for block in (*blocks, Match(len(mine), len(theirs), 0)):
        here, there = _drop_common(mine[first : block.a], _cut_at_breaks(theirs, start, block.b))
        first, start = block.a + block.size, block.b + block.size
        beside, before = max(before, block.size), block.size
        if beside < _MIN_BESIDE or not 0 < len(here) <= _MAX_WORDS:
            continue
        if 0 < len(there) <= _MAX_WORDS and not _are_alike(here, there):
            yield here, there


def _find_same(mine: _Words, theirs: _Words) -> list[Match]:
    """Return the runs of words that two texts share, in order.

    A single word is left out if it stands behind other words in one text and before others in the other, as "pays" in
    "the tenant pays" and "pays the landlord".
    """
    blocks = SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks()[:-1]
    kept: list[Match] = []
    for place, block in enumerate(blocks):
        before = kept[-1] if kept else Match(0, 0, 0)
        behind = blocks[place + 1] if place + 1 < len(blocks) else Match(len(mine), len(theirs), 0)
        gaps = (block.a - before.a - before.size, block.b - before.b - before.size)
        next_gaps = (behind.a - block.a - 1, behind.b - block.b - 1)
        turned = (gaps[0] > 0 == gaps[1] and next_gaps[1] > 0 == next_gaps[0]) or (
            gaps[1] > 0 == gaps[0] and next_gaps[0] > 0 == next_gaps[1]
        )
        if block.size > 1 or not turned:
            kept.append(block)
    return kept


def _cut_at_breaks(words: _Words, start: int, end: int) -> _Words:
    """Return the words between two shared runs, without commas and stops at their ends; none if one is inside."""
    there = list(words[start:end])
    if start == 0 and _BREAK in there:
        there = there[len(there) - there[::-1].index(_BREAK) :]
    elif end == len(words) and _BREAK in there:
        there = there[: there.index(_BREAK)]
    while there and there[0] == _BREAK:
        there.pop(0)
    while there and there[-1] == _BREAK:
        there.pop()
    return () if _BREAK in there else tuple(there)


def _drop_common(here: _Words, there: _Words) -> tuple[_Words, _Words]:
    return tuple(word for word in here if word not in there), tuple(word for word in there if word not in here)


def _is_title(text: str) -> bool:
    """Return whether most words of a text have a capital, so that a capital marks no name."""
    return 2 * len(_CAPITAL.findall(text)) > len(text.split())


def _is_unit(word: str) -> bool:
    return len(word) > _MAX_SYMBOL and is_unit(word)


def _are_alike(here: _Words, there: _Words) -> bool:
    """Return whether a word of one text is a form of a word of the other: "use" and "unused"."""
    return any(
        one[:_MIN_BEGINNING] == other[:_MIN_BEGINNING] or one.endswith(other) or other.endswith(one)
        for one in here
        for other in there
    )


def _is_of_a_kind(here: _Words, there: _Words, names: frozenset[str], *, is_new: bool) -> bool:
    """Return whether two groups of words have a number or unit each, or a name each; of words that changed places (not
    `is_new`) one name is enough. Other words are left alone: a verb may say the same as another, a noun as a name.
    """
    measured = [any(word[0].isdigit() or _is_unit(word) for word in side) for side in (here, there)]
    if any(measured):
        return all(measured)
    named = [not names.isdisjoint(side) for side in (here, there)]
    return all(named) if is_new else any(named)


@lru_cache(maxsize=2_000)
def _find_names(text: str) -> frozenset[str]:
    """Return the stems of a text's names: words with a capital within a sentence, or at its beginning if they are no
    English words, that the text never has in small letters.
    """
    named = frozenset(stem(fold(name)) for name in _NAME.findall(text))
    named |= {stem(fold(word)) for word in _CAPITAL.findall(text) if not is_ordinary_word(word.casefold())}
    small = frozenset(stem(fold(word)) for word in _SMALL.findall(text))
    return (named | find_identifiers(text)) - small


@lru_cache(maxsize=4_000)
def _list_words(text: str) -> _Words:
    """Return the stems of a text's words with a meaning, in order, and `_BREAK` for each comma and stop."""
    found: list[str] = []
    for token in _TOKEN.findall(text):
        word = NUMBER_WORDS.get(token.casefold(), fold(token))
        if not word[0].isalnum():
            found.append(_BREAK)
        elif word not in STOP_WORDS:
            found.append(normalize_number(word) if word[0].isdigit() else stem(word))
    return tuple(found)
