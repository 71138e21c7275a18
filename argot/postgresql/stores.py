"""PostgreSQL for all stores: one pool of connections, and one schema, for each knowledge base.

A store's migrations are numbered as in SQLite, and recorded in the table `store_migrations`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import Any

import psycopg
from psycopg import sql as pgsql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from argot.clock import timestamp
from argot.databases import POSTGRESQL, AdditiveMigration, PerEngine, PostgresqlMigration, StoreMigration
from argot.errors import DamagedStore, InvalidSettings, StoreUnavailable
from argot.postgresql.connection import PostgresqlConnection, build_connection_options
from argot.postgresql.errors import convert_postgresql_errors, is_lost
from argot.postgresql.presence import declare_open, list_holders, take_exclusively
from argot.postgresql.translation import translate
from argot.remedies import UPDATE

CONNECT_SECONDS = 5
"""Maximum duration of one connection attempt."""
WAIT_SECONDS = 10.0
"""How long a statement waits for a connection: for a free one, or for a restarting server."""
RECONNECT_SECONDS = 2.0
"""How long a lost connection is retried, with increasing pauses; later each caller that needs one retries at once."""
LOCK_SECONDS = 30
"""How long a statement waits for another writer."""
STATEMENT_SECONDS = 120
"""The maximum duration of one statement."""
IDLE_SECONDS = 600
"""How long a transaction may be idle before PostgreSQL releases its locks."""
KEEP_ALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
"""Seconds until a silent connection is probed, and between probes; and the number of failures after which it is
dropped, on both ends."""
MAX_CONNECTIONS = 10
MIN_SERVER_VERSION = 130_000
DEFAULT_SCHEMA = "argot"
_PRESENT = "present"
"""The name of the lock that is held while the knowledge base is open."""
_SCHEMA_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")
_HOST = r"(?:\[[^\]@/]*\]|[^:\[\]@/,?]*)(?::\d*)?"
_PLACE = re.compile(rf"postgres(?:ql)?://(?:[^@/]*@)?{_HOST}(?:,{_HOST})*(?:[/?].*)?")
_MIGRATIONS = """
    CREATE TABLE IF NOT EXISTS store_migrations (
        store TEXT COLLATE "C" NOT NULL, number BIGINT NOT NULL, additive BOOLEAN NOT NULL, at TEXT NOT NULL,
        PRIMARY KEY (store, number)
    )
"""


# -- one knowledge base -----------------------------------------------------------------------------------------------


class PostgresqlStores:
    """The stores of a knowledge base as tables of one schema, so that several knowledge bases can share a database.

    Args:
        url: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`, as libpq accepts it; messages never contain its password.
        schema: of small letters, digits and `_`.
        alone: the program that needs exclusive access: nobody else may have it open, now and until this is closed.

    Raises:
        InvalidSettings: the URL or the schema is invalid.
        StoreUnavailable: the server does not answer, or does not let its user create the schema.
        KnowledgeBaseBusy: another process has exclusive access; or, if `alone` is given, has it open.
    """

    _alone: psycopg.Connection[Any] | None = None

    def __init__(
        self, url: str, schema: str = DEFAULT_SCHEMA, *, most_connections: int = MAX_CONNECTIONS, alone: str = ""
    ) -> None:
        self.schema = _check_schema(schema)
        self.conninfo, self.name = _parse_address(url, self.schema)
        self.options = build_connection_options()
        with ExitStack() as undone, convert_postgresql_errors(self.name):
            if alone:
                self._alone = undone.enter_context(psycopg.connect(self.conninfo, **self.options))
                take_exclusively(self._alone, self.lock_number(_PRESENT), self.name, alone)
            self._make_schema(alone=bool(alone))
            # Opened after the server has answered: the pool itself would only report a timeout.
            self._pool = ConnectionPool(
                self.conninfo,
                kwargs=self.options,
                min_size=1,
                max_size=most_connections,
                timeout=WAIT_SECONDS,
                reconnect_timeout=RECONNECT_SECONDS,
                open=True,
                configure=None if alone else self._attend,
                name=f"argot {self.schema}",
            )
            undone.pop_all()

    def open(self, name: str, migrations: Sequence[StoreMigration]) -> PostgresqlDatabase:
        """Open a store, and apply its migrations first.

        Raises:
            DamagedStore: a newer Argot wrote it.
            StoreUnavailable
        """
        database = PostgresqlDatabase(self, name)
        with convert_postgresql_errors(self.name), self.connection() as connection:
            _migrate(connection, self, name, migrations)
        return database

    def holds(self, name: str) -> bool:
        database = PostgresqlDatabase(self, name)
        return bool(database.rows("SELECT 1 FROM store_migrations WHERE store = ? LIMIT 1", name))

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Any]]:
        """Borrow a connection of the pool, in auto-commit mode. Its server may be gone."""
        try:
            taken = self._pool.getconn()
        except PoolTimeout as error:
            # The pool only reports a timeout; one more attempt shows the reason.
            psycopg.connect(self.conninfo, **self.options).close()
            raise PoolTimeout(f"all {self._pool.max_size} connections were in use for {WAIT_SECONDS:.0f} s") from error
        try:
            yield taken
        finally:
            self._pool.putconn(taken)

    def renew(self) -> None:
        """Replace every idle lost connection after one was lost, since after a restart all are."""
        self._pool.check()

    def lock_number(self, name: str) -> int:
        """Return the number by which PostgreSQL locks this store, in any process."""
        digest = hashlib.blake2b(f"{self.schema}/{name}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big", signed=True)

    def list_processes(self) -> list[str]:
        """List the programs that have the knowledge base open, each with its machine.

        Raises:
            StoreUnavailable
        """
        with convert_postgresql_errors(self.name), self.connection() as connection:
            return list_holders(connection, self.lock_number(_PRESENT))

    def close(self) -> None:
        self._pool.close()
        if self._alone is not None:
            self._alone.close()

    def _attend(self, connection: psycopg.Connection[Any]) -> None:
        declare_open(connection, self.lock_number(_PRESENT), self.name)

    def _make_schema(self, *, alone: bool) -> None:
        with psycopg.connect(self.conninfo, **self.options) as connection:
            if not alone:
                self._attend(connection)
            if connection.info.server_version < MIN_SERVER_VERSION:
                raise StoreUnavailable(
                    f"{self.name} cannot be used: PostgreSQL {connection.info.server_version // 10_000} is too old."
                    " Use 13 or newer."
                )
            encoding = connection.info.parameter_status("server_encoding")
            if encoding != "UTF8":
                raise StoreUnavailable(
                    f"{self.name} cannot be used: its texts are in {encoding}. Make a database whose texts are in UTF-8"
                    " (createdb --encoding UTF8 --template template0), and name that one."
                )
            with _lock_store(connection, self.lock_number("")):
                # Checked first: a user who may use a schema need not have the right to create one.
                there = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = $1", (self.schema,)).fetchone()
                if not there:
                    connection.execute(pgsql.SQL("CREATE SCHEMA {}").format(pgsql.Identifier(self.schema)))
                if not connection.execute("SELECT 1 WHERE to_regclass('store_migrations') IS NOT NULL").fetchone():
                    connection.execute(_MIGRATIONS)


@contextmanager
def _lock_store(connection: psycopg.Connection[Any], number: int) -> Iterator[None]:
    """Open a transaction that begins with the lock of a store. It may wait long for the end of another process's
    migration.
    """
    with connection.transaction():
        connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0", prepare=False)
        connection.execute("SELECT pg_advisory_xact_lock($1::bigint)", (number,))
        yield


def _migrate(
    connection: psycopg.Connection[Any], stores: PostgresqlStores, name: str, migrations: Sequence[StoreMigration]
) -> None:
    while (seen := _count_migrations(connection, stores, name, len(migrations))) < len(migrations):
        with _lock_store(connection, stores.lock_number(name)):
            if _count_migrations(connection, stores, name, len(migrations)) == seen:  # another process was faster
                additive = _apply(connection, migrations[seen])
                connection.execute(
                    "INSERT INTO store_migrations (store, number, additive, at) VALUES ($1, $2, $3::int::boolean, $4)",
                    (name, seen + 1, additive, timestamp()),
                )


def _count_migrations(connection: psycopg.Connection[Any], stores: PostgresqlStores, name: str, known: int) -> int:
    """Return how many migrations the store has seen.

    Raises:
        DamagedStore: one of them is of a newer Argot, and incompatible with this one.
    """
    sql = "SELECT number, additive FROM store_migrations WHERE store = $1 ORDER BY number"
    rows = connection.execute(sql, (name,)).fetchall()
    if any(row["number"] > known and not row["additive"] for row in rows):
        raise DamagedStore(f"The store '{name}' in {stores.name} was written by a newer Argot. {UPDATE}")
    return len(rows)


def _apply(connection: psycopg.Connection[Any], migration: StoreMigration) -> bool:
    """Apply a migration; return whether an Argot that does not know it can work with it."""
    script = migration.script if isinstance(migration, AdditiveMigration) else migration
    if callable(script):
        raise TypeError("A migration that is a function is for SQLite alone: PerEngine says it for both.")
    if isinstance(script, PostgresqlMigration):
        words = script.postgresql
    else:
        words = translate(script.postgresql if isinstance(script, PerEngine) else script).sql
    connection.execute(words or "SELECT 1", prepare=False)
    return isinstance(migration, AdditiveMigration)


# -- one store --------------------------------------------------------------------------------------------------------


class PostgresqlDatabase:
    """The tables of one store. Closing it leaves the pool to the others."""

    dialect = POSTGRESQL

    def __init__(self, stores: PostgresqlStores, name: str) -> None:
        self.stores = stores
        self.name = f"The store '{name}' in {stores.name}"
        self._lock = stores.lock_number(name)

    def rows(self, sql: str, *parameters: object) -> list[Any]:
        with convert_postgresql_errors(self.name):
            with self.stores.connection() as connection:
                try:
                    return PostgresqlConnection(connection).execute(sql, parameters).fetchall()
                except psycopg.Error as error:
                    if not is_lost(error, connection):
                        raise
                    connection.close()
            self.stores.renew()
            with self.stores.connection() as connection:
                # Other connections may hold an outdated plan as well.
                return PostgresqlConnection(connection).execute(sql, parameters, prepare=False).fetchall()

    def write(self, sql: str, *parameters: object) -> int:
        with self._block(self._begin("pg_advisory_xact_lock_shared")) as connection:
            return connection.execute(sql, parameters).rowcount

    def write_returning(self, sql: str, *parameters: object) -> list[Any]:
        with self._block(self._begin("pg_advisory_xact_lock_shared")) as connection:
            return connection.execute(sql, parameters).fetchall()

    def reader(self) -> AbstractContextManager[PostgresqlConnection]:
        return self._block("BEGIN READ ONLY")

    def snapshot(self) -> AbstractContextManager[PostgresqlConnection]:
        return self._block("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def transaction(self) -> AbstractContextManager[PostgresqlConnection]:
        return self._block(self._begin("pg_advisory_xact_lock"))

    def scrub(self) -> bool:
        """PostgreSQL itself removes deleted rows from its files, by autovacuum, and from its log in time."""
        return True

    def close(self) -> None:
        """Only the pool holds connections open."""

    def _begin(self, lock: str) -> str:
        # One statement to the server: a transaction, and within it the lock, before anything is read.
        return f"BEGIN; SELECT {lock}({self._lock})"

    @contextmanager
    def _block(self, begin: str) -> Iterator[PostgresqlConnection]:
        """Open a transaction that ends with the block. It begins on another connection if the first one is lost."""
        with convert_postgresql_errors(self.name), ExitStack() as stack:
            connection = stack.enter_context(self.stores.connection())
            try:
                try:
                    connection.execute(begin, prepare=False)
                except psycopg.OperationalError as error:
                    # Nothing was done yet.
                    if not is_lost(error, connection):
                        raise
                    stack.close()
                    self.stores.renew()
                    connection = stack.enter_context(self.stores.connection())
                    connection.execute(begin, prepare=False)
                yield PostgresqlConnection(connection)
                _commit(connection)
            except BaseException as error:
                if isinstance(error, psycopg.Error) and is_lost(error, connection):
                    connection.close()
                # If the connection is lost by now, the server rolls back by itself.
                with suppress(psycopg.OperationalError):
                    connection.execute("ROLLBACK", prepare=False)
                raise


def _commit(connection: psycopg.Connection[Any]) -> None:
    try:
        status = connection.execute("COMMIT", prepare=False).statusmessage
    except psycopg.OperationalError as error:
        if is_lost(error, connection):
            raise psycopg.OperationalError(f"{error}; whether the last change was kept is not known") from error
        raise
    # If a statement failed and its error was caught, PostgreSQL rolls back and reports no error.
    if status != "COMMIT":
        raise psycopg.errors.InFailedSqlTransaction("a statement failed before, and the transaction with it")


def _check_schema(schema: str) -> str:
    if not _SCHEMA_NAME.fullmatch(schema) or schema.startswith("pg_"):
        raise InvalidSettings(
            f"{schema!r} cannot be the schema of a knowledge base. Use 1 to 48 small letters, digits and '_',"
            " beginning with a letter, and not with pg_."
        )
    return schema


def _parse_address(url: str, schema: str) -> tuple[str, str]:
    """Return the connection string for libpq, and a name for messages, without user and password."""
    if not url.startswith(("postgresql://", "postgres://")):
        raise InvalidSettings(
            "The address of PostgreSQL begins with postgresql://, as in postgresql://USER@HOST/DATABASE."
        )
    try:
        # libpq itself would read a part of a password with @ in it as a host, and name it in its messages.
        if not _PLACE.fullmatch(url):
            raise psycopg.ProgrammingError
        address = conninfo_to_dict(url)
    except psycopg.Error:
        # Without libpq's message: it contains the unreadable part, which may be the password.
        raise InvalidSettings(
            "The address of PostgreSQL cannot be read. It is postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with"
            " %-codes for signs like @ / : in the password."
        ) from None
    limits = {
        "search_path": schema,
        # Compiling takes longer than Argot's longest search.
        "jit": "off",
        "lock_timeout": f"{LOCK_SECONDS}s",
        "statement_timeout": f"{STATEMENT_SECONDS}s",
        "idle_in_transaction_session_timeout": f"{IDLE_SECONDS}s",
        # A client that vanishes with its machine must not hold its locks for the hours of a TCP timeout.
        **{f"tcp_{name}": str(number) for name, number in KEEP_ALIVE.items()},
    }
    options = " ".join([*(f"-c {name}={value}" for name, value in limits.items()), str(address.get("options") or "")])
    ours = {"application_name": "argot", "connect_timeout": CONNECT_SECONDS, "tcp_user_timeout": 30_000, **KEEP_ALIVE}
    # Options in the address take precedence over Argot's, except for the schema.
    parts: dict[str, Any] = {**ours, **address, "options": options.strip(), "client_encoding": "UTF8"}
    conninfo = make_conninfo(**parts)
    place = f"{address.get('host') or 'this machine'}{f':{port}' if (port := address.get('port')) else ''}"
    return conninfo, f"PostgreSQL on {place} (database {address.get('dbname') or 'of its user'}, schema {schema})"
