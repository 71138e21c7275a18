"""Footnotes of a page, joined to the paragraphs that bear their marks: neither is understood without the other."""

from __future__ import annotations

import re
from collections.abc import Sequence

from argot.corpus.readers.pdf_blocks import Fonts, Piece

_NOTE = re.compile(r"\^?(\d{1,2})[.)]?\s+(?=\S)")
_SMALLER = 0.95
"""Than the body, in font sizes."""


def with_joined_notes(pieces: Sequence[Piece], fonts: Fonts) -> list[Piece]:
    """The pieces of a page, each note at its foot behind what bears its mark; one without a mark stays where it is."""
    notes: dict[int, list[Piece]] = {}
    moved: set[int] = set()
    # What stands at the foot: from the last one up, as long as they are notes.
    for piece in reversed(pieces):
        match = _NOTE.match(piece.text) if piece.kind == "paragraph" and piece.size < _SMALLER * fonts.body else None
        if match is None:
            break
        marked = re.compile(rf"\^{match[1]}(?!\d)")
        bearer = next((one for one in pieces if one.size > piece.size and marked.search(one.text)), None)
        if bearer is not None:
            piece.kind, piece.text = "note", f"^{match[1]} {piece.text[match.end() :]}"
            notes.setdefault(id(bearer), []).insert(0, piece)
            moved.add(id(piece))
    kept = [piece for piece in pieces if id(piece) not in moved]
    return [one for piece in kept for one in (piece, *notes.get(id(piece), ()))]
