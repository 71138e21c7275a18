"""Recognition of texts from documents that are being erased, however their Markdown was written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

SHORTEST_CHARS = 40
"""A sentence or line of fewer letters is no quotation: it may occur in any document."""
_PIECE = re.compile(r"\n|(?<=[.!?])\s")
_NO_WORD = re.compile(r"[\W_]+")


class ErasedTexts:
    """The words of some documents. Called with a text, returns whether one of them contains a sentence or line of
    it.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [_join_words(one) for one in texts]

    def __call__(self, text: str) -> bool:
        return any(piece in one for piece in _split_pieces(text) for one in self._texts)


def _split_pieces(text: str) -> Iterator[str]:
    for piece in _PIECE.split(text):
        words = _join_words(piece).strip()
        if len(words) >= SHORTEST_CHARS:
            yield f" {words} "


def _join_words(text: str) -> str:
    return f" {_NO_WORD.sub(' ', text.casefold()).strip()} "
