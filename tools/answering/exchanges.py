"""Finds two numbers or names of a passage that a sentence has exchanged.

"Level 5 gets 80 hours, level 4 gets 44" has the same words as its reverse with 44 and 80, so that neither a missing
word nor a missing number shows the difference.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import combinations

from argot.tools.answering.support import find_statement_stems

_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?![\w-])")
_NAME = re.compile(r"(?<![\w#])(?:#[\w-]+|[A-Z][\w&-]*\w|[A-Z])")
_DIVIDER = re.compile(r"\|(?:\s*:?-{2,}:?\s*\|)+")
_WORD = re.compile(r"[\w#&.,'’-]*\w")
_MIN_MARGIN = 2  # words by which at least one of two things fits the other's place better than its own
_NEAR = 5  # words before and behind a number or name that say what it belongs to
_MAX_THINGS = 8  # numbers, or names, of a sentence that are compared


def find_exchanged(said: str, source: str) -> str:
    """Return two numbers or names of a sentence, each of which stands where the source has the other; empty if there
    are none. Both texts are plain prose.
    """
    for pattern in (_NUMBER, _NAME):
        things = list(dict.fromkeys(found[0] for found in pattern.finditer(said)))[:_MAX_THINGS]
        columns = _find_column_words(source)
        besides = frozenset().union(*map(find_statement_stems, things)) if things else frozenset()
        for one, other in combinations(things, 2):
            # The name of a column stands beside other columns, and a cell beside other cells.
            if (one in columns) == (other in columns) and _is_exchanged(one, other, said, source, besides):
                return f"{one} and {other}"
    return ""


@lru_cache(maxsize=2_000)
def _find_column_words(source: str) -> frozenset[str]:
    """Return the numbers and names in the names of a text's columns. In plain prose a table is one line."""
    found: set[str] = set()
    for divider in _DIVIDER.finditer(source):
        cells = source[: divider.start()].rstrip().removesuffix("|").split("|")[-divider[0].count("|") + 1 :]
        found |= {thing[0] for cell in cells for pattern in (_NUMBER, _NAME) for thing in pattern.finditer(cell)}
    return frozenset(found)


def _is_exchanged(one: str, other: str, said: str, source: str, besides: frozenset[str]) -> bool:
    """Return whether each thing has in the sentence the neighbours that the other has in the source.

    `besides`: stems of numbers or names, which are no neighbours.
    """
    mine, theirs = _list_neighbours(one, said) - besides, _list_neighbours(other, said) - besides
    there, there_too = _list_neighbours(one, source), _list_neighbours(other, source)
    if not there or not there_too:
        return False
    # what stands beside both tells nothing
    mine, theirs = mine - theirs, theirs - mine
    return (
        len(mine & there_too) >= len(mine & there) + _MIN_MARGIN and len(theirs & there) > len(theirs & there_too)
    ) or (len(theirs & there) >= len(theirs & there_too) + _MIN_MARGIN and len(mine & there_too) > len(mine & there))


@lru_cache(maxsize=8_000)
def _list_neighbours(thing: str, text: str) -> frozenset[str]:
    """Return the stems of the words near each place of a number or name, within its sentence."""
    found: set[str] = set()
    for place in re.finditer(rf"(?<![\w.,#-]){re.escape(thing)}(?![\w-]|[.,]\d)", text):
        before = _WORD.findall(re.split(r"[.;!?]\s|\n", text[: place.start()])[-1])[-_NEAR:]
        behind = _WORD.findall(re.split(r"[.;!?]\s|\n", text[place.end() :])[0])[:_NEAR]
        found |= find_statement_stems(" ".join([*before, *behind]))
    return frozenset(found)
