"""Sketches of documents in corpus.db, whole and in bands: an index finds the documents with a common band."""

from __future__ import annotations

from argot.corpus.minhash import SKETCH_HASHES
from argot.databases import Connection

_BAND_ROWS = 8
"""Numbers of a band: two texts that share 0.8 have one of the 16 bands in common in 95 of 100 cases, 0.9: in all."""
_HASH_BYTES = 4


def put_sketch(connection: Connection, document: str, sketch: bytes) -> None:
    """Store the sketch of a document's live revision, in its caller's transaction; empty if it is too short."""
    for table in ("document_sketches", "document_bands"):
        connection.execute(f"DELETE FROM {table} WHERE document = ?", (document,))  # noqa: S608
    if sketch:
        connection.execute("INSERT INTO document_sketches (document, sketch) VALUES (?, ?)", (document, sketch))
        size = _BAND_ROWS * _HASH_BYTES
        bands = [(document, n, sketch[n * size : (n + 1) * size]) for n in range(SKETCH_HASHES // _BAND_ROWS)]
        connection.executemany("INSERT INTO document_bands (document, band, part) VALUES (?, ?, ?)", bands)
