"""The surroundings of a passage in its document, for people who read it: a little text before and after it."""

from __future__ import annotations

import re

from argot.corpus.chunking.blocks import find_sentence_starts

AROUND_CHARS = 160


def cut_text_before(markdown: str, start: int, size: int = AROUND_CHARS) -> str:
    """Return the last sentences before `start` that fit into `size` characters, or words if they fill less than
    half.
    """
    # A little more than is shown, so that a sentence that begins exactly at the cut is found.
    text = markdown[max(0, start - size - 40) : start].rstrip()
    if len(text) <= size:
        return text.lstrip()
    at = len(text) - size
    starts = [one - at for one in find_sentence_starts(text, 0, len(text)) if 0 <= one - at <= size // 2]
    if not starts:
        space = re.search(r"\s", text[at:])
        starts = [space.end() if space and space.end() <= size // 2 else 0]
    return text[at + starts[0] :].lstrip()


def cut_text_after(markdown: str, end: int, size: int = AROUND_CHARS) -> str:
    """Return the first sentences after `end` that fit into `size` characters, or words if they fill less than half."""
    text = markdown[end : end + 2 * size].lstrip()[: size + 40]
    if len(text) <= size:
        return text.rstrip()
    ends = [start for start in find_sentence_starts(text, 0, len(text)) if size // 2 <= start <= size]
    if ends:
        return text[: ends[-1]].rstrip()
    space = max(text.rfind(mark, size // 2, size) for mark in (" ", "\n"))
    return text[: space if space > 0 else size].rstrip()
