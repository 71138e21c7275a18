"""The passages that hold a quotation word for word, whatever the mark-up of either."""

from __future__ import annotations

import re
from collections.abc import Iterable

from argot.tools.text.markdown_prose import extract_prose
from argot.types import Passage


class QuotationFinder:
    """A search for quotations in the passages of one knowledge base. Each passage is folded once for all of them."""

    def __init__(self) -> None:
        self._folded: dict[str, str] = {}

    def find_passages(self, quotes: Iterable[str], passages: Iterable[Passage]) -> list[Passage]:
        """Return the passages that hold one of the quotations. One without words is in none."""
        wanted = [words for words in map(fold_prose, quotes) if words]
        return [one for one in passages if any(words in self._fold(one) for words in wanted)]

    def _fold(self, passage: Passage) -> str:
        if passage.id not in self._folded:
            self._folded[passage.id] = fold_prose(passage.text)
        return self._folded[passage.id]


def fold_prose(markdown: str) -> str:
    """Return the words that a reader sees, in small letters, separated by one blank and without mark-up."""
    return " ".join(re.findall(r"[^\W_]+", extract_prose(markdown).text.casefold()))
