"""The passages that a model's draft names behind each of its sentences, read from its citation marks.

The marks are no evidence: a sentence is checked against the passages that it names as against any others. They tell
which passages to check first, and that several passages may support a sentence together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from argot.tools.answering.citation_marks import list_marks

LIST_ENTRY = re.compile(r"\s*(?:[-*+•]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+\S")
_LETTERS = re.compile(r"[^\W_]+")
_MAX_COMPARED = 40  # letters before a mark by which its place is found in the text without marks


def find_named_sources(draft: str, sentences: Sequence[str], passages: int) -> list[tuple[int, ...]]:
    """Return for each sentence the indexes of the passages that its own marks name, in order.

    Args:
        draft: the draft with its marks.
        sentences: those of the draft without its marks.
        passages: how many there are; marks with other numbers are ignored.
    """
    if not sentences:  # a draft of marks alone
        return []
    named: list[list[int]] = [[] for _ in sentences]
    ends = _list_ends(sentences)
    letters, at = "".join(map(_fold, sentences)), 0
    unmarked, last = "", 0
    for start, end, numbers in list_marks(draft):
        unmarked, last = unmarked + draft[last:start], end
        before = _fold(unmarked)[-_MAX_COMPARED:]
        found = letters.find(before, max(0, at - len(before)))
        if found < 0:
            continue
        at = found + len(before)
        owner = next((index for index, end in enumerate(ends) if at <= end), len(ends) - 1)
        named[owner] += [number - 1 for number in numbers if 1 <= number <= passages]
    return [tuple(dict.fromkeys(one)) for one in named]


def share_named_sources(
    named: Sequence[tuple[int, ...]], gaps: Sequence[str], sentences: Sequence[str] = ()
) -> list[tuple[int, ...]]:
    """Return the passages that each sentence names, or shares with one that has a mark.

    Many models put one mark behind several sentences: a sentence without a mark has those of the next one in its
    paragraph. The entries of a list without marks have those of the line above the list.

    Args:
        named: the passages that each sentence's own marks name.
        gaps: the white space before each sentence; a blank line in it begins a paragraph.
        sentences: their texts, by which lists are found.
    """
    shared = list(named)
    for place in range(len(shared) - 2, -1, -1):
        if not shared[place] and "\n\n" not in gaps[place + 1]:
            shared[place] = shared[place + 1]
    for place, sentence in enumerate(sentences):
        if named[place] and sentence.rstrip(" *_").endswith(":"):
            _share_with_entries(shared, sentences, place)
    return shared


def _share_with_entries(shared: list[tuple[int, ...]], sentences: Sequence[str], lead_in: int) -> None:
    for place in range(lead_in + 1, len(sentences)):
        if shared[place] or not LIST_ENTRY.match(sentences[place]):
            return
        shared[place] = shared[lead_in]


def _list_ends(sentences: Sequence[str]) -> list[int]:
    ends, total = [], 0
    for sentence in sentences:
        total += len(_fold(sentence))
        ends.append(total)
    return ends


def _fold(text: str) -> str:
    """Return only the letters and digits: marks, blanks and emphasis differ between the draft and its sentences."""
    return "".join(_LETTERS.findall(text)).casefold()
