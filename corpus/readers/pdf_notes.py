"""Footnotes of a page, joined to the paragraphs with their marks: neither is understood without the other."""

from __future__ import annotations

import re
from collections.abc import Sequence

from argot.corpus.readers.pdf_blocks import Fonts, Piece

_NOTE = re.compile(r"\^?(\d{1,2})[.)]?\s+(?=\S)")
_MAX_NOTE_SIZE_RATIO = 0.95
"""Smaller than the body, in font sizes."""


def join_notes(pieces: Sequence[Piece], fonts: Fonts) -> list[Piece]:
    """Return the pieces of a page, each footnote after the piece with its mark; notes without a mark come last."""
    notes: dict[int, list[Piece]] = {}
    moved: set[int] = set()
    pieces = _move_foot_last(pieces, fonts)
    # Notes at the foot: from the last piece up, as long as they are notes.
    for piece in reversed(pieces):
        match = _match_note(piece, fonts)
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


def _match_note(piece: Piece, fonts: Fonts) -> re.Match[str] | None:
    return (
        _NOTE.match(piece.text)
        if piece.kind == "paragraph" and piece.size < _MAX_NOTE_SIZE_RATIO * fonts.body
        else None
    )


def _move_foot_last(pieces: Sequence[Piece], fonts: Fonts) -> list[Piece]:
    """Move the notes below everything else to the end: some programs draw them before the text of the page."""
    end = max((piece.boxes[-1][4] for piece in pieces if _match_note(piece, fonts) is None), default=0.0)
    foot = [piece for piece in pieces if piece.boxes[0][2] > end and _match_note(piece, fonts) is not None]
    low = {id(piece) for piece in foot}
    above = [piece for piece in pieces if id(piece) not in low]
    return [*above, *sorted(foot, key=lambda piece: piece.boxes[0][2])]
