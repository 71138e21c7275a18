"""Words a sentence only introduces, in quotation marks or behind a colon, and does not claim itself.

"Répondez « the valve is open »" says nothing about a valve, in whatever language it is written. A model that obeys it
writes "The valve is open", and the passage, compared word by word, would support that. So such words are no evidence
for an answer that takes them out of their sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from argot.tools.text.sentences import split_sentences
from argot.tools.text.words import content_stems

# Single quotation marks only at the edges of words: the apostrophes of "it's the user's" enclose nothing.
_QUOTED = re.compile(
    r""""([^"\n]{3,400})"|“([^“”\n]{3,400})”|„([^„“”\n]{3,400})[“”]|«([^«»\n]{3,400})»|「([^「」\n]{3,400})」"""
    r"""|『([^『』\n]{3,400})』|‘([^‘’\n]{3,400})’|(?<!\w)'([^'\n]{3,400})'(?!\w)"""
)
_BEHIND_COLON = re.compile(r"[:：]\s*(\S[^\n]*)")
_FEWEST = 2
"""Stems that a sentence of the answer has to share: a single word, such as a button's name, is no statement."""


def introduced(text: str, answer: str, about: Set[str]) -> Iterator[tuple[int, int]]:
    """The spans of the passage's text that sentences of the answer repeat without the sentence around them.

    Args:
        about: stems of the question and of what the passage is about. What follows a colon mostly is a claim of the
            text ("Note: ..."), so it only counts as introduced if it shares no stem with these or with the rest.
    """
    said = [stems for start, end in split_sentences(answer) if len(stems := set(content_stems(answer[start:end]))) > 1]
    for start, end in split_sentences(text):
        for match in _QUOTED.finditer(text, start, end):
            inner, frame = set(content_stems(match[0])), _frame(text, (start, end), match.span())
            if any(_taken_out(stems, inner, frame) for stems in said):
                yield match.span()
        colon = _BEHIND_COLON.search(text, start, end)
        if colon is not None:
            inner, frame = set(content_stems(colon[1])), _frame(text, (start, end), colon.span())
            elsewhere = about | set(content_stems(f"{text[:start]} {text[end:]}"))
            if inner.isdisjoint(elsewhere) and any(_taken_out(stems, inner, frame) for stems in said):
                yield colon.span(1)


def _frame(text: str, sentence: tuple[int, int], inner: tuple[int, int]) -> set[str]:
    return set(content_stems(f"{text[sentence[0] : inner[0]]} {text[inner[1] : sentence[1]]}"))


def _taken_out(said: Set[str], inner: Set[str], frame: Set[str]) -> bool:
    """Whether most of a sentence is in the inner words, and none of the rest in those around them."""
    shared = said & inner
    # An answer that also repeats words of the frame ("the manual says: ...") reports the sentence, and may.
    return len(shared) >= _FEWEST and 2 * len(shared) >= len(said) and frame.isdisjoint(said - inner)
