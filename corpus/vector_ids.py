"""The ids of vectors, composed of their item's id and the number of the window; and the kinds of items."""

from __future__ import annotations

from typing import Literal

VectorKind = Literal["passage", "derived", "triple"]
KINDS: tuple[VectorKind, ...] = ("passage", "derived", "triple")
TABLES: dict[VectorKind, str] = {"passage": "passages", "derived": "derived", "triple": "triples"}
"""The tables with the items of each kind."""
VECTOR_TABLES = ("vectors", "quantised_vectors")
"""The tables of a generation of the index; each row names the generation and the document."""


def build_vector_id(item: str, window: int) -> str:
    return f"{item}:{window}"


def parse_item(vector: str) -> str:
    return vector.rpartition(":")[0]
