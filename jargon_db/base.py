"""What all parts of the glossary share: its connections, and one way to read and to write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from argot.errors import NotFound
from argot.jargon_db.changes import Writer
from argot.jargon_db.connections import Connections
from argot.jargon_db.journal import ChangeKind
from argot.jargon_db.rows import Row, readable, select
from argot.types import Principal


class Store:
    """One glossary file, open. The parts of `Glossary` build on it."""

    def __init__(self, path: Path) -> None:
        self._connections = Connections(path)

    def close(self) -> None:
        self._connections.close()

    def _select(self, sql: str, **values: Any) -> Iterator[Row]:
        return select(self._connections.reader(), sql, values)

    @contextmanager
    def _changing(
        self, by: Principal | None, kind: ChangeKind, *, why: str = "", name: str = "", undoes: int | None = None
    ) -> Iterator[Writer]:
        """A transaction, and the change made in it: all of it or nothing."""
        with self._connections.writing() as db:
            writer = Writer.on_behalf(db, by, kind, why=why, name=name, undoes=undoes)
            yield writer
            writer.finish()


def readable_row(writer: Writer, principal: Principal | None, sense_id: int) -> Row:
    """A sense's row as it stands in this transaction.

    Raises:
        NotFound: there is none, or not for this principal.
    """
    row = writer.row(sense_id)
    if row is None or (principal is not None and not any(readable([row], principal))):
        raise no_sense(sense_id)
    return row


def no_sense(sense_id: int) -> NotFound:
    return NotFound(f"There is no sense {sense_id}. The list of terms shows those there are, with their numbers.")
