"""Moves a whole knowledge base to another place, a folder or a schema of PostgreSQL. The source stays unchanged.

Existing data are compared and kept, so that the same command continues a killed move. Until everything is there, and
verified row by row, the target has a mark, and nobody can open it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from argot.clock import timestamp
from argot.corpus.index.vector_index import Generations, VectorIndex
from argot.errors import Conflict, DamagedStore, InvalidInput, NotFound, VectorsUnavailable
from argot.remedies import init_command, quote_shell
from argot.service.audit.audit_actions import RESOURCES
from argot.service.audit.audit_events import Deed, Resource
from argot.service.audit.audit_trail import record_command
from argot.service.moving.moved_stores import CORPUS, STORES
from argot.service.moving.places import MovePlace, lock_folder, open_place, put_kept, read_kept_contents
from argot.service.moving.store_copying import ComparedTable, Copying, count_rows
from argot.service.moving.vector_copying import compare_vectors, copy_vectors
from argot.service.storage import home_folder as layout
from argot.service.storage.missing_wings import require_wings
from argot.service.storage.restore import finish_interrupted_restore
from argot.service.storage.store_location import refuse_if_elsewhere
from argot.service.storage.unfinished_move import (
    UnfinishedMove,
    end_move,
    find_unfinished_move,
    note_move,
    refuse_unfinished,
)
from argot.settings import Settings

Progress = Callable[[int, int, str], None]
"""Called with (rows done, rows in all, what is being done); originals and vectors count as rows."""
PROGRAM = "argot move"


@dataclass(frozen=True, slots=True)
class MoveOutcome:
    """Outcome of a move. `vectors`: how many were copied; None: they have to be rebuilt (`argot reindex`)."""

    source: str
    target: str
    tables: tuple[ComparedTable, ...]
    originals: int
    files: int
    vectors: int | None

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)


def move_base(
    source: tuple[Path, Settings], target: tuple[Path, Settings], *, with_vectors: bool = True, progress: Progress
) -> MoveOutcome:
    """Copy a knowledge base to another place, and check the copy.

    Args:
        source, target: a folder, and the settings that say what keeps the stores (`store`) and vectors (`chroma_url`).

    Raises:
        NotFound: there is no knowledge base to move.
        Conflict: there is one at the target already, or another move to it was begun.
        MissingWing: a wing that is not installed has a store there.
        KnowledgeBaseBusy: somebody has one of the two open, another move included; the message names who.
        DamagedStore, StoreUnavailable, VectorsUnavailable, InvalidInput, InvalidSettings
    """
    with ExitStack() as stack:
        for home in _list_folders(source, target):
            stack.enter_context(lock_folder(home))
        there = stack.enter_context(open_place(*target, PROGRAM))
        here = stack.enter_context(open_place(*source, PROGRAM))
        refuse_unfinished(here.home, here.stores, here.name if here.settings.storage.database else "")
        if not here.is_begun:
            raise NotFound(f"There is no knowledge base in {here.name}. Make one with: {init_command(here.home)}")
        require_wings(here.stores.holds)
        move = _begin_move(here, there, with_vectors=with_vectors)
        moved = _Move(here, there, move, progress).run()
    about = (Resource("knowledge base", name=moved.source), Resource("knowledge base", name=moved.target))
    record_command(source[1], Deed(RESOURCES, "move", "move", resources=about))
    return moved


def copy_base(here: MovePlace, there: MovePlace) -> MoveOutcome:
    """Copy everything except the vectors into an empty target; locks and marks are the caller's."""
    return _Move(here, there, UnfinishedMove(here.name, "", timestamp()), lambda *_: None).run()


def _list_folders(source: tuple[Path, Settings], target: tuple[Path, Settings]) -> list[Path]:
    """Return the folders to be locked, always in the same order. That of the target is created if missing.

    Raises:
        NotFound, InvalidInput, Conflict, InvalidSettings
    """
    home, settings = source
    if not settings.storage.database:
        finish_interrupted_restore(home, 0)
        layout.require(home)
        refuse_if_elsewhere(home)
    if not target[1].storage.database:
        if not settings.storage.database and home == target[0]:
            raise InvalidInput(f"{home} is the knowledge base itself. Give another folder with --to.")
        _prepare_folder(target[0])
    return sorted({home, target[0]})


def _prepare_folder(home: Path) -> None:
    if home.exists() and not home.is_dir():
        raise InvalidInput(f"{home} is a file. Give the path of a new folder with --to.")
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"{home} cannot be made: {error.strerror}. Give another folder with --to.") from error


def _begin_move(here: MovePlace, there: MovePlace, *, with_vectors: bool) -> UnfinishedMove:
    """Return the move begun to this target; a new one, recorded there, if there is none.

    Raises:
        Conflict, InvalidInput
    """
    found = find_unfinished_move(there.home, there.stores)
    if found and found.source != here.name:
        raise Conflict(
            f"A move to {there.name} was begun from {found.source}, and not from {here.name}. Continue that one, or "
            f"{_empty_place(there)} first."
        )
    if found and found.generation and not with_vectors:
        raise Conflict(f"The move to {there.name} was begun with the vectors. Continue it without --reindex.")
    if not found:
        _require_empty(there)
        # Before anything else is there: a target without it is a knowledge base.
        note_move(there.home, there.stores, found := UnfinishedMove(here.name, "", timestamp()))
    if with_vectors and not found.generation:
        found = replace(found, generation=_choose_generation(here, there))
        note_move(there.home, there.stores, found)
    return found


def _require_empty(there: MovePlace) -> None:
    if not there.settings.storage.database:
        foreign = [path.name for path in there.home.iterdir() if not layout.is_scratch(path.name)]
        if foreign and not layout.is_knowledge_base(there.home):
            raise InvalidInput(f"{there.home} is not empty ('{foreign[0]}'). Give a new folder with --to.")
        if foreign:
            raise Conflict(f"There is a knowledge base in {there.home}. Give a new folder with --to.")
    elif there.is_begun:
        raise Conflict(
            f"There is a knowledge base in {there.name} already. Name another schema with --schema, or "
            f"{_empty_place(there)} first."
        )


def _empty_place(there: MovePlace) -> str:
    if there.settings.storage.database:
        return f"remove that (DROP SCHEMA {there.settings.storage.schema_name} CASCADE)"
    return f"remove that (rm -r {quote_shell(there.home)})"


def _choose_generation(here: MovePlace, there: MovePlace) -> str:
    """Name the generation of the vectors at the target; empty if there are none."""
    with here.generations() as mine:
        if mine.current() is None:
            return ""
    with there.generations() as theirs:
        return theirs.unused_name(())


# -- doing it ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _LiveVectors:
    """The live generation of the source: its name, its embedder, and its number of vectors."""

    generation: str
    fingerprint: str
    vectors: int


class _Move:
    def __init__(self, here: MovePlace, there: MovePlace, move: UnfinishedMove, progress: Progress) -> None:
        self.here, self.there, self.move = here, there, move
        self._progress, self._done, self._total = progress, 0, 0

    def run(self) -> MoveOutcome:
        stores = [store for store in STORES if self.here.side.holds(store)]
        for store in stores:
            self.here.side.prepare(store)
        live = self._find_live_vectors()
        generations = {live.generation: self.move.generation} if live else {}
        copying = Copying(self.here.side, self.there.side, generations, self._tell_progress)
        # Each row is copied, and then read on both sides.
        self._total = 3 * sum(count_rows(self.here.side, store) for store in stores) + (live.vectors if live else 0)
        self._total += 2 * sum(1 for _ in self.here.blobs)
        for store in stores:
            copying.copy_store(store)
        originals, files = self._copy_originals(), self._copy_kept()
        tables = [table for store in stores for table in copying.compare_store(store)]
        if live:
            self._copy_vectors(live)
        self._end()
        return MoveOutcome(
            self.here.name, self.there.name, tuple(tables), originals, files, live.vectors if live else None
        )

    def _find_live_vectors(self) -> _LiveVectors | None:
        """Find the vectors to be copied; None: there are none."""
        if not self.move.generation:
            return None
        with self.here.generations() as mine:
            name = mine.current()
        with self.here.side.open_to_read(CORPUS) as connection:
            row = connection.execute("SELECT fingerprint FROM generations WHERE name = ?", (name,)).fetchone()
            sql = "SELECT coalesce(sum(windows), 0) FROM vectors WHERE generation = ?"
            vectors = connection.execute(sql, (name,)).fetchone()[0]
        return _LiveVectors(str(name), str(row[0]), int(vectors)) if row else None

    def _copy_originals(self) -> int:
        """
        Raises:
            DamagedStore: one differs at the target.
        """
        here, there, copied = self.here.blobs, self.there.blobs, 0
        if here.place == there.place:
            return 0
        for one in here:
            if one not in there:
                there.put(one, here.get(one))
            self._tell_progress("originals", 1)
        for one in there:
            if one not in here:  # from an interrupted move, and removed since
                there.remove(one)
            elif there.get(one) != here.get(one):
                raise DamagedStore(f"The original {one} is not the same in {there.place} as in {here.place}.")
            copied += 1
            self._tell_progress("checking originals", 1)
        return copied

    def _copy_kept(self) -> int:
        kept = read_kept_contents(self.here)
        put_kept(self.there, kept)
        if read_kept_contents(self.there) != kept:
            raise DamagedStore(f"The profiles and models of {self.there.name} are not those of {self.here.name}.")
        return len(kept)

    def _copy_vectors(self, live: _LiveVectors) -> None:
        generation = self.move.generation
        with self.here.generations() as mine, self.there.generations() as theirs, ExitStack() as opened:
            here = mine.open(live.generation, live.fingerprint)
            opened.callback(here.close)
            there = _open_or_make_index(theirs, generation, live.fingerprint)
            opened.callback(there.close)
            with self.there.side.open_to_read(CORPUS) as connection:
                copy_vectors(connection, here, there, self._tell_progress)
                self._tell_progress("checking vectors", 0)
                compare_vectors(connection, there)
            theirs.make_current(generation)

    def _tell_progress(self, what: str, rows: int) -> None:
        self._done += rows
        self._progress(self._done, self._total, what)

    def _end(self) -> None:
        if not self.there.settings.storage.database:
            layout.write_marker(self.there.home)
            layout.note_stores(self.there.home)
        end_move(self.there.home, self.there.stores)
        self._progress(self._total, self._total, "done")


def _open_or_make_index(generations: Generations, name: str, fingerprint: str) -> VectorIndex:
    """Open the vectors of an interrupted move; create an empty index if there are none, or they are damaged."""
    try:
        return generations.open(name, fingerprint)
    except (DamagedStore, VectorsUnavailable):
        generations.remove_others(None)
        return generations.make(name, fingerprint)
