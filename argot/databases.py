"""The interface between a store and its database engine: SQLite in a file, or PostgreSQL.

A store is the same module on both. Its SQL uses the common subset: `?` and `:name`, ON CONFLICT, RETURNING, CASE, CAST.
Where the two have none, the store asks the `Dialect`; a migration that has to differ is a `PerEngine`.

SQLite constructs that fail, or differ in meaning, on PostgreSQL:

- `INSERT OR IGNORE`, `INSERT OR REPLACE`: ON CONFLICT DO NOTHING, ON CONFLICT (key) DO UPDATE SET.
- `INSERT INTO t VALUES (NULL, ...)` and `lastrowid`: name the columns, and say RETURNING id.
- a number as a truth value (`WHERE admin`): `admin = 1`.
- `? IS NULL`: `CAST(? AS TEXT) IS NULL`. `a IS b`: a comparison that handles NULL explicitly.
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
"""Values for `?` in order, or for `:name` by name."""


# -- what is read and run ---------------------------------------------------------------------------------------------


class Row(Protocol):
    """A row: its values by name or index, in their order when iterated."""

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
    """One connection, for one thread at a time. `sqlite3.Connection` implements it."""

    def execute(self, sql: str, parameters: Any = ..., /) -> Cursor: ...

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> Cursor: ...


def replace_nul(text: str) -> str:
    """Return the text as every engine can store it, with the same length: PostgreSQL has no U+0000."""
    return text.replace("\0", "\ufffd")


def read_binary(connection: Connection, sql: str, parameters: Parameters = ()) -> Cursor:
    """Return the rows of a statement that reads large binary values, without the text encoding that is otherwise
    used.
    """
    execute = getattr(connection, "execute_binary", connection.execute)
    found: Cursor = execute(sql, parameters)
    return found


class FetchedRows:
    """The rows of a statement, read before its transaction ended."""

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
    """A connection for reading: each statement in its own transaction, on any free connection.

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
    """The SQL of one engine, where the two have none in common.

    Attributes:
        texts: the values of a JSON list of texts that is bound as its parameter, for use after IN.
        numbers: the same for whole numbers.
        tables: a query of the names of the store's tables, in a column `name`.
    """

    engine: Literal["sqlite", "postgresql"]
    texts: str
    numbers: str
    tables: str

    def joined(self, expression: str) -> str:
        """Return SQL that joins the texts of a group with U+001F; an empty group gives NULL."""
        if self.engine == "sqlite":
            return f"group_concat({expression}, char(31))"
        return f"string_agg({expression}, chr(31))"

    def lower_ascii(self, expression: str) -> str:
        """Return SQL for a text with A to Z in small letters and all others unchanged, as both engines can."""
        return f"lower({expression})" if self.engine == "sqlite" else f'lower({expression} COLLATE "C")'

    def holds(self, text: str, part: str) -> str:
        """Return SQL that is true if a text contains another, case-sensitively."""
        return f"{'instr' if self.engine == 'sqlite' else 'strpos'}({text}, {part}) > 0"

    def member(self, text: str, name: str) -> str:
        """Return SQL for a text member of a JSON object; NULL if it has none, or if the JSON is NULL."""
        if self.engine == "sqlite":
            return f"json_extract({text}, '$.{name}')"
        return f"(CAST({text} AS jsonb) ->> '{name}')"

    def least(self, *expressions: str) -> str:
        """Return SQL for the least of several values, none of which is NULL: with NULL the engines differ."""
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
    """A migration that needs different SQL on each engine.

    Args:
        sqlite: for SQLite; a script, or a function of a `sqlite3.Connection`.
        postgresql: for PostgreSQL, a script whose types are translated as in every script; empty: there is nothing to
            do.
    """

    sqlite: str | Callable[[Any], None]
    postgresql: str


@dataclass(frozen=True, slots=True)
class PostgresqlMigration:
    """A migration of a store that exists only on PostgreSQL: its script is run unchanged."""

    postgresql: str


@dataclass(frozen=True, slots=True)
class AdditiveMigration:
    """A migration with which an older Argot can still work on PostgreSQL: it adds, and requires nothing.

    Several processes can thus be upgraded one after the other.
    """

    script: str | PerEngine | PostgresqlMigration


StoreMigration: TypeAlias = str | PerEngine | PostgresqlMigration | AdditiveMigration | Callable[[Any], None]
"""One step of a store's schema. A script is for both engines, translated for PostgreSQL; a function is for SQLite."""


# -- a store's database -----------------------------------------------------------------------------------------------


class Database(Protocol):
    """The tables of one store. Every method may be called in any thread; none may be called within another's block.

    Raises:
        DamagedStore, StoreUnavailable: from every method.
    """

    @property
    def dialect(self) -> Dialect: ...

    @property
    def name(self) -> str:
        """The name used in errors: the file, or the server and schema."""

    def rows(self, sql: str, *parameters: object) -> list[Any]:
        """Return the rows of one statement that changes nothing. It may be run twice, if the connection is lost."""

    def write(self, sql: str, *parameters: object) -> int:
        """Run one statement, which is its own transaction; return how many rows it changed."""

    def write_returning(self, sql: str, *parameters: object) -> list[Any]:
        """Run one statement with RETURNING; return those rows."""

    def reader(self) -> AbstractContextManager[Connection]:
        """Open a connection for reading, for one thread. Each statement sees what was written before it."""

    def snapshot(self) -> AbstractContextManager[Connection]:
        """Open a connection for reading, whose statements all see the same state."""

    def transaction(self) -> AbstractContextManager[Connection]:
        """Open a connection for writing: all of it is committed durably, or nothing.

        No other transaction and no `write` of this store runs beside it, in any process: the data it read stay
        unchanged until its end.
        """

    def scrub(self) -> bool:
        """Remove deleted data from the store's files, as far as Argot writes them; return whether that was done."""

    def close(self) -> None: ...


class Stores(Protocol):
    """Storage of the stores of one knowledge base."""

    def open(self, name: str, migrations: Sequence[StoreMigration]) -> Database:
        """Return the store of this name, with every migration applied; created if missing.

        Raises:
            DamagedStore: it is corrupt, or a newer Argot wrote it.
            StoreUnavailable: the system or the server does not let it be opened.
        """

    def holds(self, name: str) -> bool:
        """Return whether there is a store of this name already."""

    def close(self) -> None: ...
