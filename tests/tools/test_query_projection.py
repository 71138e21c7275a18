"""The query projection: whose vectors it moves, and what happens without it."""

from pathlib import Path
from typing import cast

import numpy as np
import pytest

from argot.corpus.embedding.embedder import load_embedder
from argot.errors import InvalidSettings
from argot.protocols import Embedder, Vectors
from argot.settings import Settings
from argot.tools.retrieval.query_projection import (
    PROJECTION_FILE,
    project_queries,
    read_projection,
    write_projection,
)


class NamedEmbedder:
    """Stands for an embedder of which only the fingerprint is read."""

    def __init__(self, fingerprint: str) -> None:
        self.fingerprint = fingerprint


def project(vectors: Vectors, fingerprint: str, file: Path) -> Vectors:
    return project_queries(vectors, cast(Embedder, NamedEmbedder(fingerprint)), file)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write a projection that turns the first axis towards the second, for the embedder `known`."""
    path = tmp_path / "projection.npz"
    write_projection(np.array([[0, 1], [0, 0]], dtype=np.float32), {"fingerprint": "known"}, path)
    return path


def test_questions_are_moved_and_keep_their_length(file: Path) -> None:
    moved = project(np.array([[1, 0], [0, 1]], dtype=np.float32), "known", file)
    assert moved == pytest.approx(np.array([[0.5**0.5, 0.5**0.5], [0, 1]]), abs=1e-3)


def test_vectors_of_another_embedder_are_not_moved(file: Path, tmp_path: Path) -> None:
    vectors = np.array([[1, 0]], dtype=np.float32)
    assert project(vectors, "other", file) is vectors
    assert project(vectors, "known", tmp_path / "none.npz") is vectors


def test_a_damaged_file_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "damaged.npz"
    path.write_bytes(b"no archive")
    with pytest.raises(InvalidSettings, match=r"damaged\.npz is no query projection.*Install Argot again"):
        read_projection(path)


def test_the_projection_that_comes_with_argot_is_for_the_default_embedder() -> None:
    projection, embedder = read_projection(PROJECTION_FILE), load_embedder(Settings(threads=1))
    assert projection is not None and projection.fingerprint == embedder.fingerprint
    asked = embedder.embed_queries(["what if the applicant never turns up?"])
    moved = projection.project_queries(asked)
    assert 0.5 < float(moved[0] @ asked[0]) < 0.999
