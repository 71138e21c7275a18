"""The interface between a store and the engine that keeps it: SQLite in a file, or PostgreSQL.

A store is one module on both. Its SQL keeps to what both know: `?` and `:name`, ON CONFLICT, RETURNING, CASE, CAST.
Where they have no words in common, the store asks the `Dialect`; a migration that has to differ is a `PerEngine`.

What is written for SQLite and would fail, or mean something else, on PostgreSQL:

- `INSERT OR IGNORE`, `INSERT OR REPLACE`: ON CONFLICT DO NOTHING, ON CONFLICT (key) DO UPDATE SET.
- `INSERT INTO t VALUES (NULL, ...)` and `lastrowid`: name the columns, and say RETURNING id.
- a number in the place of a truth (`WHERE admin`): `admin = 1`.
- `? IS NULL`: `CAST(? AS TEXT) IS NULL`. `a IS b`: a comparison that says what of NULL.
- a statement that fails within a transaction, and whose error is caught there: PostgreSQL ends the transaction.
- a table or index of the same name in two stores: on PostgreSQL all stores are in one schema.
- `max(a, b)`, `lower`, `instr`, `iif`, `group_concat`, `json_each`, `LIMIT -1`, `rowid`: the dialect, CASE, a column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any]
"""Of `?` in their order, or of `:name` by name."""


# -- what is read and run ---------------------------------------------------------------------------------------------


class Row(Protocol):
    """A row: its values by name or place, in their order when iterated."""

    def __getitem__(self, key: Any, /) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...

    def __len__(self) -> int: ...

    def keys(self) -> Any: ...


class Cursor(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int: ...

    @property
    def description(self) -> Any: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """One connection, for one thread at a time. `sqlite3.Connection` is one."""

    def execute(self, sql: str, parameters: Any = ..., /) -> Cursor: ...

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> Cursor: ...


def replace_nul(text: str) -> str:
    """The text as every engine keeps it, and as long as before: PostgreSQL has no U+0000."""
    return text.replace("\0", "\ufffd")


def read_binary(connection: Connection, sql: str, parameters: Parameters = ()) -> Cursor:
    """The rows of a statement that reads large values of bytes; as they are, also where bytes are else sent as text."""
    execute = getattr(connection, "execute_binary", connection.execute)
    found: Cursor = execute(sql, parameters)
    return found


class FetchedRows:
    """The rows that a statement found, read before its transaction ended."""

    def __init__(self, rows: list[Any], description: Any, rowcount: int) -> None:
        self._rows = iter(rows)
        self.rowcount = rowcount
        self.description = description

    def fetchone(self) -> Any:
        return next(self._rows, None)

    def fetchall(self) -> list[Any]:
        return list(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows


class SingleStatements:
    """A connection to read by: each statement in a transaction of its own, on whatever connection is free.

    Args:
        reading: begins such a transaction.
    """

    def __init__(self, reading: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._reading = reading

    def execute(self, sql: str, parameters: Any = (), /) -> FetchedRows:
        with self._reading() as connection:
            cursor = connection.execute(sql, parameters)
            return FetchedRows(cursor.fetchall(), cursor.description, cursor.rowcount)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> FetchedRows:
        raise NotImplementedError("Rows are written within `writing`.")


# -- where the engines differ -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dialect:
    """The SQL of one engine, where the two have no words in common.

    Attributes:
        texts: the values of a JSON list of texts that is bound in its place, to stand after IN.
        numbers: the same of whole numbers.
        tables: a query of the names of the store's tables, in a column `name`.
    """

    engine: Literal["sqlite", "postgresql"]
    texts: str
    numbers: str
    tables: str

    def joined(self, expression: str) -> str:
        """The texts of a group in one, with U+001F between them; an empty group gives NULL."""
        if self.engine == "sqlite":
            return f"group_concat({expression}, char(31))"
        return f"string_agg({expression}, chr(31))"

    def lower_ascii(self, expression: str) -> str:
        """A text with small letters for A to Z, and all others as they are, as both engines can."""
        return f"lower({expression})" if self.engine == "sqlite" else f'lower({expression} COLLATE "C")'

    def holds(self, text: str, part: str) -> str:
        """Return whether a text holds another, letter for letter."""
        return f"{'instr' if self.engine == 'sqlite' else 'strpos'}({text}, {part}) > 0"

    def member(self, text: str, name: str) -> str:
        """A text that an object in JSON has under a name; NULL where it has none, or where the JSON is NULL."""
        if self.engine == "sqlite":
            return f"json_extract({text}, '$.{name}')"
        return f"(CAST({text} AS jsonb) ->> '{name}')"

    def least(self, *expressions: str) -> str:
        """The least of several values, none of which is NULL: with NULL the engines differ."""
        return f"{'min' if self.engine == 'sqlite' else 'LEAST'}({', '.join(expressions)})"


SQLITE = Dialect(
    "sqlite",
    texts="(SELECT value FROM json_each(?))",
    numbers="(SELECT value FROM json_each(?))",
    tables="SELECT name FROM sqlite_master WHERE type = 'table'",
)
POSTGRESQL = Dialect(
    "postgresql",
    texts="(SELECT jsonb_array_elements_text(CAST(? AS jsonb)))",
    numbers="(SELECT CAST(jsonb_array_elements_text(CAST(? AS jsonb)) AS bigint))",
    tables="SELECT CAST(tablename AS text) AS name FROM pg_tables WHERE schemaname = current_schema()",
)


@dataclass(frozen=True, slots=True)
class PerEngine:
    """A migration that the engines need in words of their own.

    Args:
        sqlite: for SQLite; a script, or a function of a `sqlite3.Connection`.
        postgresql: for PostgreSQL, a script whose types are translated as those of every script; empty: there is
            nothing to do.
    """

    sqlite: str | Callable[[Any], None]
    postgresql: str


@dataclass(frozen=True, slots=True)
class PostgresqlMigration:
    """A migration of a store that is on PostgreSQL alone: its script is run as it stands."""

    postgresql: str


@dataclass(frozen=True, slots=True)
class AdditiveMigration:
    """A migration that an Argot which does not know it can live with on PostgreSQL: it adds, and demands nothing.

    So that several processes can be brought up to date one after the other.
    """

    script: str | PerEngine | PostgresqlMigration


StoreMigration: TypeAlias = str | PerEngine | PostgresqlMigration | AdditiveMigration | Callable[[Any], None]
"""One step of a store's schema. A script is for both engines, translated for PostgreSQL; a function is for SQLite."""


# -- a store's database -----------------------------------------------------------------------------------------------


class Database(Protocol):
    """The tables of one store. Every method may be called in any thread; none may be called within another's block.

    Raises:
        DamagedStore, StoreUnavailable: by every method.
    """

    @property
    def dialect(self) -> Dialect: ...

    @property
    def name(self) -> str:
        """The name that errors give it: the file, or the server and schema."""

    def rows(self, sql: str, *parameters: object) -> list[Any]:
        """The rows of one statement that changes nothing. It may be run twice, where the connection is lost."""

    def write(self, sql: str, *parameters: object) -> int:
        """Run one statement, which is its own transaction; how many rows it changed."""

    def write_returning(self, sql: str, *parameters: object) -> list[Any]:
        """Run one statement that says RETURNING; those rows."""

    def reader(self) -> AbstractContextManager[Connection]:
        """A connection to read by, for one thread. Each statement sees what was written before it."""

    def snapshot(self) -> AbstractContextManager[Connection]:
        """A connection to read by, whose statements all see one and the same state."""

    def transaction(self) -> AbstractContextManager[Connection]:
        """A connection to write by: all of it comes to pass, durably, or nothing.

        No other transaction and no `write` of this store runs beside it, in whatever process: what it read stays so
        until its end.
        """

    def scrub(self) -> bool:
        """Let nothing of what was deleted stay in the store's files, as far as we write them; whether that was done."""

    def close(self) -> None: ...


class Stores(Protocol):
    """The place that keeps the stores of one knowledge base."""

    def open(self, name: str, migrations: Sequence[StoreMigration]) -> Database:
        """The store of this name, with every migration applied; made where there is none.

        Raises:
            DamagedStore: it is corrupt, or a newer Argot wrote it.
            StoreUnavailable: the system or the server does not let it be opened.
        """

    def holds(self, name: str) -> bool:
        """Return whether there is a store of this name already."""

    def close(self) -> None: ...
