"""A glossary on PostgreSQL: the store `glossary` of a knowledge base, over the connections that its stores share."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from argot.databases import POSTGRESQL, Connection, Cursor, FetchedRows, SingleStatements
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.nul_texts import escape, unescape
from argot.jargon_db.store.rows import Row
from argot.jargon_db.store.schema import MIGRATIONS
from argot.jargon_db.store.sqlite_connections import SqliteConnections, prepare
from argot.postgresql import PostgresqlStores
from argot.postgresql_connection import PostgresqlConnection

_ANALYZE_ROWS = 500
"""Rows that a table gets in one transaction, from which on PostgreSQL's plans change."""
_FETCH = "FETCH 1000 FROM streamed"


class PostgresConnections(Connections):
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
        """A transaction that cannot write."""
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
    """A connection that takes the statements of a glossary, and keeps U+0000 in texts. Its rows are tuples."""

    dialect = POSTGRESQL

    def __init__(self, connection: PostgresqlConnection) -> None:
        self._connection = connection
        self._added: Counter[str] = Counter()

    def execute(self, sql: str, parameters: Any = (), /) -> FetchedRows:
        cursor = self._connection.execute(translate_statement(sql), _escape_parameters(parameters))
        rows = [_unescape_row(row) for row in cursor] if cursor.description else []
        return FetchedRows(rows, cursor.description, cursor.rowcount)

    def stream(self, sql: str, values: Mapping[str, Any]) -> Iterator[Row]:
        """The rows of a statement, a thousand at a time."""
        # Not prepared: of one cursor after another, the columns differ.
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
        """Let PostgreSQL know the tables that have grown: until it looks itself it would read them from end to end."""
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
    """Parameters, by place or by name, as PostgreSQL takes them."""
    if isinstance(parameters, Mapping):
        return {name: escape(value) if isinstance(value, str) else value for name, value in parameters.items()}
    return [escape(value) if isinstance(value, str) else value for value in parameters]


def _unescape_row(row: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(unescape(value) if isinstance(value, str) else value for value in row)


# -- postgres copy -----------------------------------------------------------------------------------------------------
# A glossary on PostgreSQL as a file of SQLite's, in which a change can be tried.


_TABLES = (
    "contexts", "terms", "senses", "aliases", "changes", "history", "accepted_conflicts", "misses", "miss_questions",
    "proposals", "uses", "mined",
)  # fmt: skip
"""In an order in which each row finds those it refers to."""


def copy_to_sqlite(source: Connection, path: Path) -> None:
    """Copy all rows that a transaction sees into a new file; what the search box finds is derived, and left out."""
    prepare(path)
    with closing(SqliteConnections(path)) as target, target.writing() as connection:
        for table in _TABLES:
            found = source.execute(f"SELECT * FROM {table} ORDER BY 1")  # noqa: S608
            connection.add_rows(table, ", ".join(column[0] for column in found.description), found)
        (version,) = source.execute("SELECT value FROM meta").fetchone()
        connection.execute("UPDATE meta SET value = ?", (version,))


# -- postgres statements -----------------------------------------------------------------------------------------------
# The statements of a glossary in PostgreSQL's words: lists that are bound as JSON, and tables of another name.


_WORDS = (
    # A list of texts as a table with the one column `value`.
    (re.compile(r"json_each\((:\w+)\) AS (\w+)"), r"jsonb_array_elements_text(CAST(\1 AS jsonb)) AS \2 (value)"),
    # A member of a list within such a list.
    (re.compile(r"json_extract\(([\w.]+), '\$\[(\d)\]'\)"), r"(CAST(\1 AS jsonb) ->> \2)"),
    # By which SQLite is told the order to join in; PostgreSQL finds it.
    (re.compile(r"\bCROSS JOIN\b"), "JOIN"),
    (re.compile(r"\bmeta\b"), "glossary_meta"),
)


@lru_cache(maxsize=256)
def translate_statement(sql: str) -> str:
    """A statement of ours as PostgreSQL has the words. Its placeholders stay as they are."""
    for ours, theirs in _WORDS:
        sql = ours.sub(theirs, sql)
    return sql
