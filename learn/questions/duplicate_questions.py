"""Duplicate questions: a repeated pair teaches nothing, and one in two parts invalidates the measurement."""

from __future__ import annotations

from collections import defaultdict
from typing import Literal

from argot.tools.text.words import bare, content_stems

NEAR = 0.8
"""Share of common content words of two questions about the same passage above which they are the same."""

Duplicate = Literal["the same question", "nearly the same question"]


def make_passage_key(text: str) -> str:
    """Return a key that passages with equal words share, wherever they are."""
    return bare(text)


class AskedQuestions:
    """The questions of a set so far."""

    def __init__(self) -> None:
        self._questions: set[str] = set()
        self._stems: defaultdict[str, list[frozenset[str]]] = defaultdict(list)

    def find_duplicate(self, question: str, passage: str, *, twin: bool = False) -> Duplicate | None:
        """Find how a question about this passage's text repeats another; None: it counts as asked from now on.

        `twin`: it is meant to be near another one.
        """
        key, about, stems = bare(question), make_passage_key(passage), frozenset(content_stems(question))
        if not key or key in self._questions:
            return "the same question"
        if not twin and any(_share(stems, other) >= NEAR for other in self._stems[about]):
            return "nearly the same question"
        self._questions.add(key)
        self._stems[about].append(stems)
        return None


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0
