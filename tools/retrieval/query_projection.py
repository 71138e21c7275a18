"""The query projection: a matrix that moves a question's vector towards those of the passages that answer it.

People ask in other words than documents use. The embedder places such a question near texts that are worded alike; the
projection has learnt, from employees' questions and the passages that answer them, in which directions to correct that.
Vectors of passages stay as they are, so that no document is embedded again, and a question takes one product more.
`argot.learn.passage_reader` trains it, and Argot comes with the matrix in the file beside this module.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from argot.errors import InvalidSettings
from argot.files import replace_atomically
from argot.protocols import Embedder, Vectors

PROJECTION_FILE = Path(__file__).with_name("query_projection.npz")


@dataclass(frozen=True, slots=True)
class QueryProjection:
    """A correction of questions' vectors: `matrix` (dimensions, dimensions), for the embedder of this fingerprint."""

    fingerprint: str
    matrix: Vectors

    def project_queries(self, vectors: Vectors) -> Vectors:
        """Return the vectors of questions, (questions, dimensions), moved towards their answers, of length 1."""
        moved = vectors + vectors @ self.matrix
        return moved / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-9)  # type: ignore[no-any-return]


def project_queries(vectors: Vectors, embedder: Embedder, file: Path = PROJECTION_FILE) -> Vectors:
    """Return the vectors of questions, (questions, dimensions), moved towards their answers; unchanged if the
    projection was trained for another embedder.

    Raises:
        InvalidSettings: the file is no projection.
    """
    projection = read_projection(file)
    if projection is None or projection.fingerprint != embedder.fingerprint:
        return vectors
    return projection.project_queries(vectors)


@lru_cache(maxsize=4)
def read_projection(file: Path) -> QueryProjection | None:
    """Read a projection; None if there is no such file.

    Raises:
        InvalidSettings: the file is no projection.
    """
    if not file.is_file():
        return None
    try:
        with np.load(file, allow_pickle=False) as stored:
            card = json.loads(str(stored["card"]))
            return QueryProjection(str(card["fingerprint"]), stored["matrix"].astype(np.float32))
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        raise InvalidSettings(
            f"{file} is no query projection: {error}. Install Argot again, or train one: "
            "python -m argot.learn.passage_reader --help"
        ) from error


def write_projection(matrix: Vectors, card: dict[str, object], file: Path) -> None:
    """Write a projection and its card, with the `fingerprint` of its embedder, completely or not at all.

    In 16 bits the matrix takes half the space, and cosines differ by less than a ten-thousandth.
    """
    with replace_atomically(file) as target:
        np.savez_compressed(target, matrix=matrix.astype(np.float16), card=json.dumps(card))
