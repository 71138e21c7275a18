"""The interface between the parts of a glossary and the engine that stores it.

All parts of a glossary share one `Connections`, and read and write only through it. Statements are the same on both
engines, in SQLite's dialect where they have none in common (`argot.jargon_db.store.postgresql_statements`).
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
    """The connections of one glossary, for any thread. Readers cannot write, whatever the statement."""

    dialect: Dialect

    @abstractmethod
    def reader(self) -> Connection:
        """Return a connection for single statements that read."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[WritingConnection]:
        """Open a transaction, the only one in any process at that time. A `writing` inside a `writing` of the same
        thread is a part of it that can be undone separately.
        """

    @abstractmethod
    def stream(self, sql: str, **values: Any) -> Iterator[Row]:
        """Yield the rows of a statement whose result is long, or not read to its end: rows are fetched on demand, and a
        connection is occupied until then. It must not be nested.
        """

    @abstractmethod
    def scrub(self) -> bool:
        """Remove deleted data from the store's files, as far as Argot writes them; return whether that was done."""

    @abstractmethod
    def copy_to(self, path: Path) -> None:
        """Write the committed state of the glossary into a new SQLite file. The search box's index may have to be
        rebuilt.
        """

    @abstractmethod
    def close(self) -> None: ...

    def select(self, sql: str, **values: Any) -> Iterator[Row]:
        """Return the rows of a statement that reads."""
        return select(self.reader(), sql, values)

    def passable_audiences(self, principal: Principal) -> str | None:
        return passable_audiences(self.reader(), self.dialect, principal)

    @contextmanager
    def changing(
        self, by: Principal | None, kind: ChangeKind, *, why: str = "", name: str = "", undoes: int | None = None
    ) -> Iterator[Writer]:
        """Open a transaction with a change: all of it or nothing."""
        with self.writing() as connection:
            writer = Writer.on_behalf(connection, by, kind, why=why, name=name, undoes=undoes)
            yield writer
            # Not in a `finally`: after an error there is no change to close, because all of it is undone.
            writer.finish()
