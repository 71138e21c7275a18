"""The vector index in this process: Chroma, embedded, below `vectors/`.

`vectors/<generation>/` is one Chroma folder and `vectors/CURRENT` names the live one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from argot.corpus.index import generations
from argot.corpus.index.chroma_index import CONFIGURATION, ChromaIndex
from argot.corpus.index.embedded_chroma import EmbeddedChroma
from argot.corpus.index.live_pointer import FolderPointer, LivePointer
from argot.corpus.index.vector_graphs import check_graphs, count_saved_elements
from argot.disk_space import is_no_room
from argot.errors import DamagedStore, StoreUnavailable
from argot.machine_limits import count_processors

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection


class EmbeddedIndex(ChromaIndex):
    """One generation, in its own folder."""

    written_together = 64
    """While Chroma writes vectors, no other thread of the process runs: some 30 ms for this many, and seconds for
    thousands."""
    read_together = 5000
    threads = ThreadPoolExecutor(count_processors(), "argot-collections")

    def __init__(self, root: Path, generation: str, fingerprint: str) -> None:
        """Open Chroma.

        Raises:
            DamagedStore: the folder cannot be opened.
        """
        super().__init__(generation, fingerprint)
        self.root = root
        with self._errors_named():
            self._chroma = EmbeddedChroma(root / generation, generations.CHROMA_FILE)
            # They have the methods of Chroma's own collections that are used.
            self._collections = {found.name: cast("Collection", found) for found in self._chroma.list_collections()}

    def build_damage_error(self, reason: str) -> DamagedStore:
        return generations.build_damage_error(self.root, reason)

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        try:
            with generations.convert_errors(self.root):
                yield
        except (StoreUnavailable, OSError) as error:
            # Chroma keeps the connection of a write that a full disk interrupted, and waits for ever without a free
            # one.
            self.is_starved = self.is_starved or is_no_room(error)
            raise

    def _made_collection(self, name: str) -> Collection:
        return cast("Collection", self._chroma.get_or_create_collection(name, CONFIGURATION))

    def _close(self) -> None:
        self._chroma.close()


class FolderGenerations:
    """Each generation is a folder.

    Args:
        root: the folder of all generations, in the knowledge base's own.
        pointer: names the live one; None: `CURRENT` in that folder does.
    """

    def __init__(self, root: Path, pointer: LivePointer | None = None) -> None:
        self.root = root
        self._shared = pointer is not None
        self._pointer = pointer or FolderPointer(root)

    def current(self) -> str | None:
        name = self._pointer.read_name()
        if name is not None:
            generations.require_in_folder(self.root, name)
        return name

    def unused_name(self, known: Iterable[str]) -> str:
        # The database may have been used with the folder of another machine, where numbers increased.
        return generations.name_unique_generation() if self._shared else generations.name_next_generation(self.root)

    def make(self, generation: str, fingerprint: str) -> EmbeddedIndex:
        return EmbeddedIndex(self.root, generation, fingerprint)

    def open(self, generation: str, fingerprint: str) -> EmbeddedIndex:
        generations.check_folder(self.root, generation)
        # Files are checked before Chroma opens them: on damaged ones it ends the whole process instead of raising.
        generations.check_pages(self.root, generation)
        check_graphs(self.root, generation)
        index = EmbeddedIndex(self.root, generation, fingerprint)
        try:
            counts = index.counts()
            if index.fit_breadth(counts):
                index.close()
                index = EmbeddedIndex(self.root, generation, fingerprint)
            # Chroma keeps deleted elements in its graphs and does not report their number.
            index.gone = max(0, count_saved_elements(self.root, generation) - sum(counts.values()))
        except BaseException:
            index.close()
            raise
        return index

    def check(self, generation: str) -> None:
        generations.check_pages(self.root, generation, thoroughly=True)
        check_graphs(self.root, generation, thoroughly=True)

    def make_current(self, generation: str) -> None:
        self._pointer.point(generation)

    def remove_others(self, live: str | None) -> None:
        generations.remove_generations(self.root, but=live)

    def blank_unsaved(self, generation: str) -> None:
        generations.blank_unsaved(self.root, generation)

    def build_damage_error(self, reason: str) -> DamagedStore:
        return generations.build_damage_error(self.root, reason)

    def close(self) -> None:
        """Each index closes its own files."""
