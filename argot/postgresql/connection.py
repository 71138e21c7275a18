"""A connection to PostgreSQL that accepts Argot's SQL, and returns rows like SQLite's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import psycopg
from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.types.string import StrDumper

from argot.databases import Parameters
from argot.postgresql.translation import translate


class _BoolAsNumber(Dumper):
    """Stores a truth value as 0 or 1, as SQLite does."""

    oid = psycopg.adapters.types["int8"].oid

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"


class _NumberLoader(Loader):
    """`numeric` is PostgreSQL's type for a sum or mean of whole numbers; SQLite returns int and float."""

    def load(self, data: Any) -> int | float:
        text = bytes(data).decode()
        return float(text) if "." in text or text == "NaN" else int(text)


def _build_adapters() -> AdaptersMap:
    adapters = AdaptersMap(psycopg.adapters)
    # As text, and not as "unknown": the type of a parameter must not depend on its position.
    adapters.register_dumper(str, StrDumper)
    adapters.register_dumper(bool, _BoolAsNumber)
    adapters.register_loader("numeric", _NumberLoader)
    return adapters


class PostgresqlRow:
    """A row that behaves like `sqlite3.Row`."""

    __slots__ = ("_places", "_values")

    def __init__(self, places: dict[str, int], values: Sequence[Any]) -> None:
        self._places = places
        self._values = tuple(values)

    def __getitem__(self, key: Any) -> Any:
        return self._values[self._places[key] if isinstance(key, str) else key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PostgresqlRow) and (self._places, self._values) == (other._places, other._values)

    def __hash__(self) -> int:
        return hash(self._values)

    def keys(self) -> list[str]:
        return list(self._places)


def _row_factory(cursor: Any) -> Callable[[Sequence[Any]], PostgresqlRow]:
    places = {column.name: place for place, column in enumerate(cursor.description or ())}
    return lambda values: PostgresqlRow(places, values)


class PostgresqlConnection:
    """A connection that accepts Argot's SQL."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def execute(self, sql: str, parameters: Parameters = (), *, prepare: bool | None = None) -> psycopg.Cursor[Any]:
        """Run one statement; with `prepare` False without a cached plan."""
        statement = translate(sql)
        return self._connection.cursor().execute(statement.sql, statement.bind(parameters), prepare=prepare)

    def execute_binary(self, sql: str, parameters: Parameters = ()) -> psycopg.Cursor[Any]:
        """Run one statement whose rows come in PostgreSQL's binary format: raw bytes, not twice as long."""
        statement = translate(sql)
        return self._connection.cursor(binary=True).execute(statement.sql, statement.bind(parameters))

    def copy_rows(self, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> int:
        """Add many new rows to a table, as fast as PostgreSQL can; return how many. `columns`: names separated by
        commas.
        """
        cursor = self._connection.cursor()
        with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        return cursor.rowcount

    def executemany(self, sql: str, parameters: Iterable[Parameters]) -> psycopg.Cursor[Any]:
        statement, cursor = translate(sql), self._connection.cursor()
        cursor.executemany(statement.sql, [statement.bind(one) or () for one in parameters])
        return cursor


def build_connection_options() -> dict[str, Any]:
    """Return the options of `psycopg.connect` other than the address."""
    return {
        "autocommit": True,
        "row_factory": _row_factory,
        "cursor_factory": psycopg.RawCursor,
        "context": _build_adapters(),
    }
