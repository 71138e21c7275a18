"""The ids of vectors, made of their item's id and the number of the window; and the kinds of items."""

from __future__ import annotations

from typing import Literal

VectorKind = Literal["passage", "derived", "triple"]
KINDS: tuple[VectorKind, ...] = ("passage", "derived", "triple")
TABLES: dict[VectorKind, str] = {"passage": "passages", "derived": "derived", "triple": "triples"}
"""Where the items of each kind are stored."""
VECTOR_TABLES = ("vectors", "quantised_vectors")
"""What a generation of the index has in the database; each row names the generation and the document."""


def build_vector_id(item: str, window: int) -> str:
    return f"{item}:{window}"


def parse_item(vector: str) -> str:
    return vector.rpartition(":")[0]
