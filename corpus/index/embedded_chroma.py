"""Chroma in this process, called through its binding alone.

Chroma's own Python package wraps the same binding (`chromadb.api.rust.RustBindingsAPI`). Importing it takes half a
second, for clients of servers, telemetry and embedding functions that are not used here.
"""

from __future__ import annotations

import json
import resource
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from argot.protocols import Vectors

TENANT, DATABASE = "default_tenant", "default_database"
"""Chroma's names of those that it creates in each new folder."""
FILES_OF_GRAPH = 5
MIN_GRAPHS_IN_MEMORY = 1024
"""A knowledge base has up to three graphs for each set of readers. One that was saved keeps four files open."""


class EmbeddedChroma:
    """One Chroma folder, open until `close`."""

    def __init__(self, folder: Path, database_file: str) -> None:
        import chromadb_rust_bindings as binding

        folder.mkdir(parents=True, exist_ok=True)
        self.binding = binding.Bindings(
            allow_reset=False,
            sqlite_db_config=binding.SqliteDBConfig(
                hash_type=binding.MigrationHash.MD5,
                migration_mode=binding.MigrationMode.Apply,
                url=str(folder / database_file),
            ),
            persist_path=str(folder),
            hnsw_cache_size=_count_graphs_in_memory(),
        )

    def list_collections(self) -> list[EmbeddedCollection]:
        return [
            EmbeddedCollection(self, found) for found in self.binding.list_collections(None, None, TENANT, DATABASE)
        ]

    def get_or_create_collection(self, name: str, configuration: Mapping[str, Any]) -> EmbeddedCollection:
        # As Chroma's package writes it for a collection without an embedding function.
        written = json.dumps({**configuration, "spann": None, "embedding_function": {"type": "legacy"}})
        return EmbeddedCollection(
            self, self.binding.create_collection(name, written, None, None, True, TENANT, DATABASE)
        )

    def close(self) -> None:
        # Without the binding Chroma closes its files; collections that somebody still has fail from then on.
        del self.binding


class EmbeddedCollection:
    """A collection in a folder, with the part of `chromadb.Collection` that the index uses."""

    def __init__(self, chroma: EmbeddedChroma, found: Any) -> None:
        self._chroma = chroma
        self._id = str(found.id)
        self.name: str = found.name
        self.configuration_json: dict[str, Any] = found.configuration

    def count(self) -> int:
        counted: int = self._chroma.binding.count(self._id, TENANT, DATABASE)
        return counted

    def get(self, *, ids: Sequence[str] | None = None, include: Sequence[str]) -> dict[str, Any]:
        wanted = None if ids is None else list(ids)
        found = self._chroma.binding.get(self._id, wanted, None, None, 0, None, list(include), TENANT, DATABASE)
        return {"ids": found.ids, "embeddings": found.embeddings}

    def query(
        self,
        *,
        query_embeddings: Sequence[Vectors] | Vectors,
        ids: Sequence[str] | None = None,
        n_results: int,
        include: Sequence[str] = ("distances",),
    ) -> dict[str, Any]:
        vectors = _list_rows(query_embeddings)
        wanted = None if ids is None else list(ids)
        found = self._chroma.binding.query(
            self._id, wanted, vectors, n_results, None, None, list(include), TENANT, DATABASE
        )
        return {"ids": found.ids, "distances": found.distances}

    def upsert(self, *, ids: Sequence[str], embeddings: Vectors) -> None:
        self._chroma.binding.upsert(self._id, list(ids), _list_rows(embeddings), None, None, None, TENANT, DATABASE)

    def delete(self, *, ids: Sequence[str]) -> None:
        self._chroma.binding.delete(self._id, list(ids), None, None, None, TENANT, DATABASE)

    def modify(self, *, configuration: Mapping[str, Any]) -> None:
        written = json.dumps({**configuration, "spann": None, "embedding_function": None})
        self._chroma.binding.update_collection(self._id, None, None, written)


def _count_graphs_in_memory() -> int:
    """Return the number of graphs that Chroma may keep in memory, however few files the process may have open.

    Chroma's package allows one for each five files of `ulimit -n`, in a cache of 64 shards. Under a low limit two
    graphs in the same shard evict each other, and a graph that was never saved is then reported as "Nothing found on
    disk".
    """
    return max(resource.getrlimit(resource.RLIMIT_NOFILE)[0] // FILES_OF_GRAPH, MIN_GRAPHS_IN_MEMORY)


def _list_rows(vectors: Sequence[Vectors] | Vectors) -> list[Vectors]:
    """Return the vectors as the binding takes them: a list of rows of 32-bit numbers."""
    return list(np.asarray(vectors, np.float32))
