"""The interface between the parts of a glossary and the engine that keeps it.

All parts of a glossary share one `Connections`, and read and write through it alone. Statements are the same on both
engines, in SQLite's words where they have none in common (`argot.jargon_db.store.postgresql_statements`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from argot.databases import Connection, Dialect
from argot.jargon_db.store.glossary_writer import Writer
from argot.jargon_db.store.journal import ChangeKind
from argot.jargon_db.store.rows import Row, passable_audiences, select
from argot.jargon_db.store.writing_connection import WritingConnection
from argot.types import Principal


class Connections(ABC):
    """The connections of one glossary, for any thread. Readers cannot write, whatever statement they are given."""

    dialect: Dialect

    @abstractmethod
    def reader(self) -> Connection:
        """For single statements that read."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[WritingConnection]:
        """One transaction, and no other beside it in whatever process. A `writing` inside a `writing` of the same
        thread is a part of it that can be undone alone.
        """

    @abstractmethod
    def stream(self, sql: str, **values: Any) -> Iterator[Row]:
        """Yield the rows of a statement whose result is long, or not read to its end: rows come as they are asked for,
        and a connection is taken until then. Not to be used in one another.
        """

    @abstractmethod
    def scrub(self) -> bool:
        """Let nothing of what was deleted stay in the store's files, as far as we write them; whether that was done."""

    @abstractmethod
    def copy_to(self, path: Path) -> None:
        """Write the glossary as it stands between two transactions into a new file of SQLite's. What the search box
        finds may have to be indexed anew.
        """

    @abstractmethod
    def close(self) -> None: ...

    def select(self, sql: str, **values: Any) -> Iterator[Row]:
        """The rows of a statement that reads."""
        return select(self.reader(), sql, values)

    def passable_audiences(self, principal: Principal) -> str | None:
        return passable_audiences(self.reader(), self.dialect, principal)

    @contextmanager
    def changing(
        self, by: Principal | None, kind: ChangeKind, *, why: str = "", name: str = "", undoes: int | None = None
    ) -> Iterator[Writer]:
        """A transaction, and the change made in it: all of it or nothing."""
        with self.writing() as connection:
            writer = Writer.on_behalf(connection, by, kind, why=why, name=name, undoes=undoes)
            yield writer
            # Not in a `finally`: after an error there is no change to close, for all of it is undone.
            writer.finish()
