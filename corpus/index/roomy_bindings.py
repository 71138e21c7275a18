"""The binding to embedded Chroma with room in memory for the graphs of a usual knowledge base."""

from chromadb.api.rust import RustBindingsAPI
from chromadb.config import System

MIN_GRAPHS_IN_MEMORY = 1024
"""A knowledge base has up to three graphs for each set of readers. One that was saved keeps four files open."""


class RoomyBindings(RustBindingsAPI):
    """Keeps at least `MIN_GRAPHS_IN_MEMORY` graphs in memory, however few files the process may have open.

    Chroma allows one graph for each five files of `ulimit -n`, in a cache of 64 shards. Under a low limit two graphs in
    the same shard evict each other, and a graph that was never saved is then reported as "Nothing found on disk".
    """

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self.hnsw_cache_size = max(self.hnsw_cache_size, MIN_GRAPHS_IN_MEMORY)
