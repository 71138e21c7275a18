"""A glossary on PostgreSQL: the store `glossary` of a knowledge base, over the connections that its stores share."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from argot.databases import POSTGRESQL, Connection, Cursor, FetchedRows, SingleStatements
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.nul_texts import escape, unescape
from argot.jargon_db.store.postgresql_copy import copy_to_sqlite
from argot.jargon_db.store.postgresql_statements import translate_statement
from argot.jargon_db.store.rows import Row
from argot.jargon_db.store.schema import MIGRATIONS
from argot.postgresql.connection import PostgresqlConnection
from argot.postgresql.stores import PostgresqlStores

_ANALYZE_ROWS = 500
"""Number of rows added to a table in one transaction from which PostgreSQL's plans change."""
_FETCH = "FETCH 1000 FROM streamed"


class PostgresqlConnections(Connections):
    """The connections of one glossary."""

    dialect = POSTGRESQL

    def __init__(self, stores: PostgresqlStores) -> None:
        """
        Raises:
            DamagedStore, StoreUnavailable
        """
        self._database = stores.open("glossary", MIGRATIONS)
        self._of_thread = threading.local()

    def reader(self) -> Connection:
        return SingleStatements(self.reading)

    @contextmanager
    def reading(self) -> Iterator[GlossaryConnection]:
        """Open a transaction that cannot write."""
        with self._database.reader() as connection:
            yield GlossaryConnection(connection)

    @contextmanager
    def writing(self) -> Iterator[GlossaryConnection]:
        outer: GlossaryConnection | None = getattr(self._of_thread, "writer", None)
        if outer is not None:
            with outer.savepoint():
                yield outer
            return
        with self._database.transaction() as connection:
            writer = self._of_thread.writer = GlossaryConnection(connection)
            try:
                yield writer
                writer.analyze()
            finally:
                self._of_thread.writer = None

    def stream(self, sql: str, **values: Any) -> Iterator[Row]:
        with self.reading() as connection:
            yield from connection.stream(sql, values)

    def scrub(self) -> bool:
        return self._database.scrub()

    def copy_to(self, path: Path) -> None:
        with self._database.snapshot() as connection:
            copy_to_sqlite(GlossaryConnection(connection), path)

    def close(self) -> None:
        self._database.close()


class GlossaryConnection:
    """A connection that accepts the statements of a glossary, and preserves U+0000 in texts. Its rows are tuples."""

    dialect = POSTGRESQL

    def __init__(self, connection: PostgresqlConnection) -> None:
        self._connection = connection
        self._added: Counter[str] = Counter()

    def execute(self, sql: str, parameters: Any = (), /) -> FetchedRows:
        cursor = self._connection.execute(translate_statement(sql), _escape_parameters(parameters))
        rows = [_unescape_row(row) for row in cursor] if cursor.description else []
        return FetchedRows(rows, cursor.description, cursor.rowcount)

    def stream(self, sql: str, values: Mapping[str, Any]) -> Iterator[Row]:
        """Yield the rows of a statement, a thousand at a time."""
        # Not prepared: the columns differ from one cursor to the next.
        begin = f"DECLARE streamed NO SCROLL CURSOR FOR {translate_statement(sql)}"
        self._connection.execute(begin, _escape_parameters(values), prepare=False)
        while rows := (cursor := self._connection.execute(_FETCH, prepare=False)).fetchall():
            names = [column.name for column in cursor.description or ()]
            yield from (dict(zip(names, _unescape_row(row), strict=True)) for row in rows)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> Cursor:
        return self._connection.executemany(translate_statement(sql), map(_escape_parameters, parameters))

    def add_rows(self, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
        self._added[table] += self._connection.copy_rows(table, columns, map(_escape_parameters, rows))

    def analyze(self) -> None:
        """Have PostgreSQL analyse the tables that have grown: until it does so itself it would scan them completely."""
        for table, number in self._added.items():
            if number >= _ANALYZE_ROWS:
                self._connection.execute(f"ANALYZE {table}")

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        self._connection.execute("SAVEPOINT inner_part")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK TO SAVEPOINT inner_part")
            raise
        finally:
            self._connection.execute("RELEASE SAVEPOINT inner_part")


def _escape_parameters(parameters: Any) -> Any:
    """Return parameters, by position or by name, in a form that PostgreSQL accepts."""
    if isinstance(parameters, Mapping):
        return {name: escape(value) if isinstance(value, str) else value for name, value in parameters.items()}
    return [escape(value) if isinstance(value, str) else value for value in parameters]


def _unescape_row(row: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(unescape(value) if isinstance(value, str) else value for value in row)
