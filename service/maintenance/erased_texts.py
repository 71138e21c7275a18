"""Recognition of texts from documents that are being erased, however their Markdown was written."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache

MIN_CHARS = 40
"""A sentence or line of fewer letters is no quotation: it may occur in any document."""
_PIECE = re.compile(r"\n|(?<=[.!?])\s")
_NO_WORD = re.compile(r"[\W_]+")


class ErasedTexts:
    """The words of some documents. Called with a text and its sources, returns whether one of the documents contains
    a sentence or line of it that no source does: what a living source says as well was not taken from them.

    Args:
        read_living: returns the texts of those sources (ids or addresses) that are not erased.
    """

    def __init__(self, texts: Iterable[str], read_living: Callable[[Collection[str]], Iterable[str]]) -> None:
        self._texts = [_join_words(one) for one in texts]
        # Many sentences have the same sources, and a source may be a whole book.
        self._read_living = lru_cache(8)(lambda sources: [_join_words(one) for one in read_living(sources)])

    def __call__(self, text: str, sources: Collection[str] = ()) -> bool:
        quoted = [piece for piece in _split_pieces(text) if any(piece in one for one in self._texts)]
        living = self._read_living(frozenset(sources)) if quoted and sources else []
        return any(all(piece not in one for one in living) for piece in quoted)


def _split_pieces(text: str) -> Iterator[str]:
    for piece in _PIECE.split(text):
        words = _join_words(piece).strip()
        if len(words) >= MIN_CHARS:
            yield f" {words} "


def _join_words(text: str) -> str:
    return f" {_NO_WORD.sub(' ', text.casefold()).strip()} "
