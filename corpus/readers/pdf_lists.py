"""Depths of the items of a PDF's lists, by their left edges on the page."""

from __future__ import annotations

from collections.abc import Sequence

from argot.corpus.readers.pdf_blocks import Piece

_EDGE_TOLERANCE_POINTS = 3.0
_MAX_INDENT_POINTS = 60.0
"""Points: what begins further to the right is in another column."""


def set_depths(pieces: Sequence[Piece]) -> None:
    """Give every item its depth, from 0. Items that follow each other are one list."""
    edges: list[float] = []
    for piece in pieces:
        if piece.kind != "item":
            edges = []
            continue
        edge = piece.boxes[0][1]
        while edges and edge < edges[-1] - _EDGE_TOLERANCE_POINTS:
            edges.pop()
        if not edges or edge > edges[-1] + _MAX_INDENT_POINTS:
            edges = [edge]
        elif edge > edges[-1] + _EDGE_TOLERANCE_POINTS:
            edges.append(edge)
        piece.depth = len(edges) - 1
