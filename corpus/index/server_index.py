"""The vector index on a Chroma server, which several knowledge bases may share.

A generation is a database of the server, `argot-<id of the knowledge base>s<number>`; `vectors/CURRENT` names the live
one without `argot-`. The id is beside it and not in corpus.db: a backup restored elsewhere gets its own, and leaves the
vectors of the original knowledge base alone.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from argot.corpus.index import generations
from argot.corpus.index.chroma_index import CONFIGURATION, ChromaIndex
from argot.corpus.index.chroma_server import ChromaServer
from argot.corpus.index.live_pointer import FolderPointer, LivePointer
from argot.corpus.vector_ids import VectorKind
from argot.errors import VectorsUnavailable
from argot.protocols import Vectors
from argot.types import Audience

if TYPE_CHECKING:
    from chromadb.api import ServerAPI
    from chromadb.api.models.Collection import Collection

T = TypeVar("T")

_PREFIX = "argot-"
_PAGE = 1000
"""Collections or databases that are listed at a time."""
_RELIST_SECONDS = 2.0
"""Another process may have created a collection: a search for an unknown one checks again, at most this often."""

_PAUSES_SECONDS = (0.5, 2.0, 5.0)
"""Pause before writing again to a server that broke off: a restart takes a few seconds."""

log = logging.getLogger(__name__)


class ServerIndex(ChromaIndex):
    """One generation, as a database of the server."""

    written_together = 500
    read_together = 1000
    threads = ThreadPoolExecutor(64, "argot-collections")
    """These threads only wait. There are enough that no question waits for another's if the server does not answer."""

    def __init__(self, server: ChromaServer, generation: str, fingerprint: str) -> None:
        """
        Raises:
            VectorsUnavailable
        """
        super().__init__(generation, fingerprint)
        self._server = server
        self._listed_at = 0.0
        with self._errors_named():
            # Chroma lists no collections of a database that does not exist, and says nothing.
            server.patient.get_database(_PREFIX + generation)
            self._list_collections(server.patient)

    def searches(
        self,
        kind: VectorKind,
        vectors: Vectors,
        audiences: Iterable[Audience],
        limit: int,
        only: Mapping[Audience, Sequence[str]] | None = None,
    ) -> list[list[tuple[str, float]]]:
        # The server refuses a query without vectors.
        if not len(vectors):
            return []
        audiences = list(audiences)
        return _retry(lambda: super(ServerIndex, self).searches(kind, vectors, audiences, limit, only), (0.0,))

    def upsert(self, collection: str, vectors: Mapping[str, Vectors]) -> None:
        _retry(lambda: super(ServerIndex, self).upsert(collection, vectors), _PAUSES_SECONDS)

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        _retry(lambda: super(ServerIndex, self).delete(collection, ids), _PAUSES_SECONDS)

    def build_damage_error(self, reason: str) -> VectorsUnavailable:
        return self._server.build_lost_error(reason)

    def _errors_named(self) -> AbstractContextManager[None]:
        return self._server.errors_named()

    def _collection(self, name: str) -> Collection | None:
        if name not in self._collections and time.monotonic() > self._listed_at + _RELIST_SECONDS:
            self._list_collections(self._server.quick)
        return self._collections.get(name)

    def _made_collection(self, name: str) -> Collection:
        from chromadb.api.models.Collection import Collection

        model = self._server.patient.get_or_create_collection(
            name, configuration=cast(Any, CONFIGURATION), database=_PREFIX + self.generation
        )
        return Collection(self._server.quick, model, embedding_function=None)

    def _patient(self, collection: Collection) -> Collection:
        return type(collection)(self._server.patient, collection._model, embedding_function=None)

    def _list_collections(self, api: ServerAPI) -> None:
        from chromadb.api.models.Collection import Collection

        self._listed_at = time.monotonic()
        database = _PREFIX + self.generation
        listed = {
            model.name: Collection(self._server.quick, model, embedding_function=None)
            for model in _read_pages(lambda start: api.list_collections(_PAGE, start, database=database))
        }
        # Known ones stay cached: a collection that the server has lost must be an error, not a search without results.
        self._collections = {**listed, **self._collections}

    def _close(self) -> None:
        """The connection serves the other generations, too."""


class ServerGenerations:
    """Each generation is a database of a Chroma server.

    Args:
        root: the folder of the knowledge base's vectors.
        pointer: names the live one, and stores the id; None: `CURRENT` and `SERVER_ID` in that folder do.
    """

    def __init__(self, server: ChromaServer, root: Path, pointer: LivePointer | None = None) -> None:
        self._server = server
        self._root = root
        self._pointer = pointer or FolderPointer(root)

    def current(self) -> str | None:
        name = self._pointer.read_name()
        if name is not None and not generations.is_on_server(name):
            raise self.build_damage_error(f"they still lie in {self._root}")
        return name

    def unused_name(self, known: Iterable[str]) -> str:
        own = self._pointer.own_id()
        names = {*known, self._pointer.read_name() or ""}
        numbers = [int(name.removeprefix(f"{own}s")) for name in names if name.startswith(f"{own}s")]
        return f"{own}s{max(numbers, default=0) + 1:06d}"

    def make(self, generation: str, fingerprint: str) -> ServerIndex:
        with self._server.errors_named():
            # Removals that the server did not answer.
            if _PREFIX + generation in self._list_databases(generation):
                self._remove(_PREFIX + generation)
            self._server.patient.create_database(_PREFIX + generation)
        return ServerIndex(self._server, generation, fingerprint)

    def open(self, generation: str, fingerprint: str) -> ServerIndex:
        self._server.version(quick=True)  # a question may be waiting
        index = ServerIndex(self._server, generation, fingerprint)
        try:
            index.fit_breadth(index.counts())
        except VectorsUnavailable as error:  # it may be read-only
            log.warning("large collections are searched as broadly as before: %s", error)
        return index

    def check(self, generation: str) -> None:
        """Check that the server answers; its data storage is its own responsibility."""
        self._server.version()

    def make_current(self, generation: str) -> None:
        self._pointer.point(generation)

    def remove_others(self, live: str | None) -> None:
        generations.remove_generations(self._root, but=None)  # from before there was a server
        try:
            with self._server.errors_named():
                for name in self._list_databases(self._pointer.own_id()):
                    if name != _PREFIX + (live or ""):
                        self._remove(name)
        except VectorsUnavailable as error:  # only space is taken: the next opening removes them
            log.warning("earlier vectors are not removed yet: %s", error)

    def blank_unsaved(self, generation: str) -> None:
        """The server manages its files itself."""

    def build_damage_error(self, reason: str) -> VectorsUnavailable:
        return self._server.build_lost_error(reason)

    def close(self) -> None:
        self._server.close()

    def _list_databases(self, begin: str) -> list[str]:
        """Return names of databases that belong to generations with this name prefix."""
        found = _read_pages(lambda start: self._server.patient.list_databases(_PAGE, start))
        return [database["name"] for database in found if database["name"].startswith(_PREFIX + begin)]

    def _remove(self, database: str) -> None:
        api = self._server.patient
        # Deleted only with its database, a collection would stay in the server's memory.
        for model in [*_read_pages(lambda start: api.list_collections(_PAGE, start, database=database))]:
            api.delete_collection(model.name, database=database)
        api.delete_database(database)


def _retry(work: Callable[[], T], pauses: Sequence[float]) -> T:
    """Do it, and repeat it after each of these pauses while the server breaks off. All of it can be repeated."""
    for pause in pauses:
        try:
            return work()
        except VectorsUnavailable as error:
            if not error.broke_off:
                raise
            time.sleep(pause)
    return work()


def _read_pages(page: Callable[[int], Sequence[T]]) -> Iterator[T]:
    start = 0
    while found := page(start):
        yield from found
        start += len(found)
        if len(found) < _PAGE:
            return
