"""The binding to embedded Chroma with room for every graph in memory."""

from chromadb.api.rust import RustBindingsAPI
from chromadb.config import System

GRAPHS_IN_MEMORY = 100_000
"""More than a knowledge base has: it has three for each set of readers."""


class RoomyBindings(RustBindingsAPI):
    """Keeps every loaded graph in memory, however few files the process may have open.

    Chroma allows one graph for each five files of `ulimit -n`, in a cache of 64 shards. Under a low limit two graphs in
    the same shard evict each other, and a graph that was never saved is then reported as "Nothing found on disk".
    """

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self.hnsw_cache_size = GRAPHS_IN_MEMORY
