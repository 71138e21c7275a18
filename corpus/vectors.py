"""The vector index: Chroma, embedded, below `vectors/`. Always rebuildable from corpus.db.

`vectors/<generation>/` is one Chroma folder and `vectors/CURRENT` names the live one. Inside, a collection holds what
one embedder made of one kind of text for one set of readers: a search opens only collections that its principal may
read, so that others' texts can neither be found nor crowd out results, and no filter makes it linear.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import struct
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from argot.corpus.blobs import write_atomically
from argot.corpus.rows import audience_text
from argot.errors import DamagedStore
from argot.mending import reindex_command
from argot.protocols import Vectors
from argot.types import Audience

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

VectorKind = Literal["passage", "derived", "triple"]
KINDS: tuple[VectorKind, ...] = ("passage", "derived", "triple")

CURRENT = "CURRENT"
CHROMA_FILE = "chroma.sqlite3"
PROBED = 50
HEADER_BYTES = 100
BATCH = 5000  # Chroma refuses more than 5,461
# hnswlib's construction and search breadth: well above Chroma's 100, so that a list of 50 is nearly exact.
_CONFIGURATION = {"hnsw": {"space": "cosine", "ef_construction": 200, "ef_search": 200}}


class IndexClosed(RuntimeError):
    """The generation was replaced by a rebuilt one between two steps of a read. Read again from the new one."""


class VectorIndex:
    """One generation. Safe to read from several threads while one writes; `close` waits for running reads."""

    def __init__(self, root: Path, generation: str, fingerprint: str) -> None:
        """Opens Chroma, which takes about a second the first time in a process.

        Raises:
            DamagedStore: the folder cannot be opened.
        """
        self.root = root
        self.generation = generation
        self.fingerprint = fingerprint
        self._changed = threading.Condition()
        self._readers = 0
        self._closed = False
        self._client = _client(root / generation)
        try:
            self._collections = {found.name: found for found in self._client.list_collections()}
        except Exception as error:  # Chroma raises whatever its parts do
            raise damaged_vectors(root, str(error)) from error

    # -- reading ----------------------------------------------------------------------------------------------------

    def search(
        self, kind: VectorKind, vector: Vectors, audiences: Iterable[Audience], limit: int
    ) -> list[tuple[str, float]]:
        """(item id, cosine similarity), best first; an item's similarity is that of its best window.

        Args:
            vector: shape (dimensions,), of length 1.
            audiences: those the principal may read; others' collections are never opened.
        """
        best: dict[str, float] = {}
        with self._reading():
            for audience in set(audiences):
                collection = self._collections.get(self.collection_name(kind, audience))
                if collection is not None:
                    for item, similarity in _search_items(collection, vector, limit):
                        best[item] = max(similarity, best.get(item, -1.0))
        return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]

    def get(self, collection: str, ids: Sequence[str]) -> dict[str, Vectors]:
        """The stored vectors, each of shape (dimensions,)."""
        found: dict[str, Vectors] = {}
        with self._reading():
            if collection in self._collections:
                for batch in _batches(ids):
                    answer = self._collections[collection].get(ids=list(batch), include=["embeddings"])
                    embeddings = cast(Any, answer["embeddings"])
                    found |= {
                        id_: np.asarray(row, np.float32) for id_, row in zip(answer["ids"], embeddings, strict=True)
                    }
        return found

    def counts(self) -> dict[str, int]:
        """Vectors by collection; empty collections do not count.

        Raises:
            DamagedStore: an index file is truncated or gone.
        """
        with self._reading():
            try:
                counted = {name: collection.count() for name, collection in self._collections.items()}
            except Exception as error:
                raise damaged_vectors(self.root, str(error)) from error
        return {name: count for name, count in counted.items() if count}

    def probe(self, dimensions: int) -> None:
        """Find lost or truncated graphs now rather than at a question, by their sizes and by searching each once.

        Raises:
            DamagedStore: a graph is not whole, or finds fewer vectors than are stored.
        """
        check_graphs(self.root, self.generation)
        vector = np.full(dimensions, dimensions**-0.5, np.float32)
        for name, count in self.counts().items():
            wanted = min(count, PROBED)
            with self._reading():
                try:
                    answer = self._collections[name].query(query_embeddings=cast(Any, [vector]), n_results=wanted)
                except Exception as error:
                    raise damaged_vectors(self.root, str(error)) from error
            if len(answer["ids"][0]) < wanted:
                raise damaged_vectors(self.root, f"the graph of {name} is lost")

    def ids(self, collection: str) -> list[str]:
        with self._reading():
            known = self._collections.get(collection)
            return sorted(known.get(include=[])["ids"]) if known else []

    def collection_name(self, kind: VectorKind, audience: Audience) -> str:
        """Names tell a folder's reader nothing of the groups there are."""
        readers = blake2b(audience_text(audience).encode(), digest_size=8).hexdigest()
        return f"{kind}-{self.fingerprint}-{readers}"

    # -- writing (one thread at a time: `Corpus` sees to it) --------------------------------------------------------

    def upsert(self, collection: str, vectors: Mapping[str, Vectors]) -> None:
        if not vectors:
            return
        target = self._collections.get(collection)
        if target is None:
            target = self._client.get_or_create_collection(
                collection, embedding_function=None, configuration=cast(Any, _CONFIGURATION)
            )
            self._collections = {**self._collections, collection: target}
        with _space_needed(self.root):
            for batch in _batches(list(vectors)):
                target.upsert(ids=list(batch), embeddings=np.stack([vectors[id_] for id_ in batch]))

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Unknown ids and collections are left alone: a crash may have come before they were written."""
        target = self._collections.get(collection)
        if target is not None:
            with _space_needed(self.root):
                for batch in _batches(ids):
                    target.delete(ids=list(batch))

    def close(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._readers == 0)
            if not self._closed:
                self._closed = True
                self._collections = {}
                cast(Any, self._client).close()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        with self._changed:
            if self._closed:
                raise IndexClosed(self.generation)
            self._readers += 1
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._changed.notify_all()


# -- generations ----------------------------------------------------------------------------------------------------


def current_generation(root: Path) -> str | None:
    """The live generation's name; None when no index was ever made here.

    Raises:
        DamagedStore: its folder or its database file is gone or truncated.
    """
    pointer = root / CURRENT
    if not pointer.exists():
        return None
    name = pointer.read_text("utf-8", "replace").strip()
    if not name.isalnum():
        raise damaged_vectors(root, f"{CURRENT} names no generation")
    check_folder(root, name)
    return name


def check_folder(root: Path, generation: str) -> None:
    from argot.corpus.database import check_header  # Chroma's own store is SQLite too

    file = root / generation / CHROMA_FILE
    if not file.exists() or file.stat().st_size == 0:
        raise damaged_vectors(root, f"{file.relative_to(root)} is missing")
    try:
        check_header(file)
    except DamagedStore as error:
        raise damaged_vectors(root, str(error).partition(": ")[2].partition(". ")[0]) from error


def check_graphs(root: Path, generation: str) -> None:
    """Compare the files of each saved HNSW graph with what its header says. Chroma itself reads short ones as zeros.

    The header is hnswlib's: 4 bytes of version, then as 64-bit numbers the offset of level 0, the room for elements,
    how many there are, and the bytes of each.
    """
    for saved in sorted((root / generation).glob("*/index_metadata.pickle")):
        folder = saved.parent
        try:
            header = (folder / "header.bin").read_bytes()
            *_, elements, element_bytes = struct.unpack_from("<4Q", header, 4)
            sizes = [(folder / name).stat().st_size for name in ("data_level0.bin", "length.bin")]
            links = (folder / "link_lists.bin").read_bytes()
        except (OSError, struct.error) as error:
            raise damaged_vectors(root, f"a file of {generation}/{folder.name} is missing or too short") from error
        whole = len(header) == HEADER_BYTES and _link_bytes(links, elements) == len(links)
        if not whole or sizes != [elements * element_bytes, 4 * elements]:
            raise damaged_vectors(root, f"a file of {generation}/{folder.name} is truncated")


def _link_bytes(links: bytes, elements: int) -> int:
    """Each element has a length in 4 bytes and as many bytes of links in the graph's upper levels, mostly none."""
    position = 0
    for _ in range(elements):
        position += 4 + int.from_bytes(links[position : position + 4], "little")
    return position


def next_generation(root: Path) -> str:
    """A name above all that are there, also those of unfinished rebuilds."""
    numbers = [int(folder.name[1:]) for folder in root.glob("g*") if folder.name[1:].isdigit()]
    return f"g{max(numbers, default=0) + 1:06d}"


def make_current(root: Path, generation: str) -> None:
    """From the moment this returns, also after a crash, this is the live generation."""
    write_atomically(root / CURRENT, generation)


def remove_generations(root: Path, *, but: str | None) -> None:
    """Delete the folders of earlier generations and of unfinished rebuilds."""
    for folder in root.glob("g*"):
        if folder.name != but and folder.is_dir():
            shutil.rmtree(folder)


def damaged_vectors(root: Path, reason: str) -> DamagedStore:
    return DamagedStore(
        f"The vector index in {root} is damaged: {reason}. Rebuild it with: {reindex_command(root.parent)}"
    )


def vector_id(item: str, window: int) -> str:
    return f"{item}:{window}"


def item_of(vector: str) -> str:
    return vector.rpartition(":")[0]


# -- parts ----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _space_needed(root: Path) -> Iterator[None]:
    """Chroma wraps what its own SQLite says of a full disk into errors of its own."""
    try:
        yield
    except Exception as error:
        if "disk is full" not in str(error):
            raise
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(root)) from error


def _client(folder: Path) -> ClientAPI:
    import chromadb
    from chromadb.config import Settings

    folder.mkdir(parents=True, exist_ok=True)
    try:
        with _space_needed(folder.parent):
            return chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    except OSError:
        raise
    except Exception as error:
        raise damaged_vectors(folder.parent, str(error)) from error


def _search_items(collection: Collection, vector: Vectors, limit: int) -> list[tuple[str, float]]:
    """The best `limit` items. Windows of one item may fill the list, so it is widened until enough items are in it."""
    total = collection.count()
    wanted = min(total, 2 * limit)
    while wanted:
        answer = collection.query(query_embeddings=cast(Any, [vector]), n_results=wanted, include=["distances"])
        distances = cast(Any, answer["distances"])[0]
        items: dict[str, float] = {}
        for id_, distance in zip(answer["ids"][0], distances, strict=True):
            items.setdefault(item_of(id_), 1.0 - float(distance))  # nearest first, so the first window is the best
        if len(items) >= limit or wanted == total:
            return list(items.items())[:limit]
        wanted = min(total, 2 * wanted)
    return []


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]
