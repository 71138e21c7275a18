"""Copying the live vectors to the other side's storage: between folders and Chroma servers, nothing is embedded.

Existing ones are not read again, so that a killed copy resumes where it stopped.
"""

from __future__ import annotations

from argot.corpus.index.soundness import find_vector_faults, read_expected_vectors
from argot.corpus.index.vector_index import VectorIndex
from argot.databases import Connection
from argot.errors import DamagedStore
from argot.service.moving.store_copying import ProgressListener

BATCH_VECTORS = 500
"""Vectors that are read and written at a time."""
WHAT = "vectors"


def copy_vectors(connection: Connection, here: VectorIndex, there: VectorIndex, on_progress: ProgressListener) -> None:
    """Make the target's vectors those that its rows name: copy the missing ones, delete the others.

    Args:
        connection: reads the rows of the other side, which name its vectors.

    Raises:
        DamagedStore: some are missing at the source.
    """
    wanted = {name: sorted(ids) for name, ids in read_expected_vectors(connection, there).items()}
    for collection in there.counts():  # from an interrupted move, and removed since
        there.delete(collection, sorted(set(there.ids(collection)) - set(wanted.get(collection, ()))))
    for collection, ids in wanted.items():
        copied = set(there.ids(collection)) if collection in there.counts() else set()
        on_progress(WHAT, len(copied.intersection(ids)))
        left = [one for one in ids if one not in copied]
        for start in range(0, len(left), BATCH_VECTORS):
            batch = left[start : start + BATCH_VECTORS]
            vectors = here.get(collection, batch)
            if len(vectors) < len(batch):
                raise here.build_damage_error(f"{len(batch) - len(vectors)} vectors of {collection} are missing")
            there.upsert(collection, vectors)
            on_progress(WHAT, len(batch))


def compare_vectors(connection: Connection, there: VectorIndex) -> None:
    """Check that the other side has exactly the vectors that its rows name, unchanged.

    Raises:
        DamagedStore
    """
    # A graph differs each time it is built, and among many similar vectors it may miss some: `argot doctor` looks for
    # that, and it is no fault of the copy.
    for fault in find_vector_faults(connection, there, searched=False):
        raise DamagedStore(f"The vectors were not copied correctly: {fault}. Rebuild them with --reindex.")
