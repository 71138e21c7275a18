"""PostgreSQL as every store uses it: one pool of connections, and one schema, for each knowledge base.

A store's migrations are numbered as in SQLite, and noted in the table `store_migrations`.
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
from argot.postgresql.presence import declare_open, take_exclusively
from argot.postgresql.translation import translate
from argot.remedies import UPDATE

CONNECT_SECONDS = 5
"""How long one try to connect takes at most."""
WAIT_SECONDS = 10.0
"""How long a statement waits for a connection: for a free one, or for a server that restarts."""
RECONNECT_SECONDS = 2.0
"""So long a lost connection is tried again, with ever longer pauses; later whoever needs one has it tried at once."""
LOCK_SECONDS = 30
"""How long a statement waits for another writer."""
STATEMENT_SECONDS = 120
"""The longest that one statement may take."""
IDLE_SECONDS = 600
"""How long a transaction may go without a statement before PostgreSQL takes its locks away."""
KEEP_ALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
"""Seconds until a silent connection is tried, and between tries; and after how many it is given up, on both ends."""
MAX_CONNECTIONS = 10
MIN_SERVER_VERSION = 130_000
DEFAULT_SCHEMA = "argot"
_PRESENT = "present"
"""The name of the lock of those who have it open."""
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
    """The stores of a knowledge base as tables of one schema: several knowledge bases share a database so.

    Args:
        url: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`, as libpq takes it; its password is in no message.
        schema: of small letters, digits and `_`.
        alone: the program that needs to be alone: nobody else may have it open, now and until this is closed.

    Raises:
        InvalidSettings: the URL or the schema is none.
        StoreUnavailable: the server does not answer, or does not let its user make the schema.
        KnowledgeBaseBusy: somebody has it alone; or, where `alone` is given, has it open.
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
            # Opened when it is known that the server answers: the pool itself would only say that it waited in vain.
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
        """
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
        """One of the pool's, in auto-commit mode. It may be one whose server is gone."""
        try:
            taken = self._pool.getconn()
        except PoolTimeout as error:
            # The pool only says that it waited in vain; one more try says why.
            psycopg.connect(self.conninfo, **self.options).close()
            raise PoolTimeout(f"all {self._pool.max_size} connections were in use for {WAIT_SECONDS:.0f} s") from error
        try:
            yield taken
        finally:
            self._pool.putconn(taken)

    def renew(self) -> None:
        """After a connection was lost: replace every idle one that is lost as well, as after a restart all are."""
        self._pool.check()

    def lock_number(self, name: str) -> int:
        """The number by which PostgreSQL locks this store, in whatever process."""
        digest = hashlib.blake2b(f"{self.schema}/{name}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big", signed=True)

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
                # Looked for first: who may use a schema need not be let make one.
                there = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = $1", (self.schema,)).fetchone()
                if not there:
                    connection.execute(pgsql.SQL("CREATE SCHEMA {}").format(pgsql.Identifier(self.schema)))
                if not connection.execute("SELECT 1 WHERE to_regclass('store_migrations') IS NOT NULL").fetchone():
                    connection.execute(_MIGRATIONS)


@contextmanager
def _lock_store(connection: psycopg.Connection[Any], number: int) -> Iterator[None]:
    """A transaction that begins with the lock of a store. It may take long: others wait for a migration's end."""
    with connection.transaction():
        connection.execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0", prepare=False)
        connection.execute("SELECT pg_advisory_xact_lock($1::bigint)", (number,))
        yield


def _migrate(
    connection: psycopg.Connection[Any], stores: PostgresqlStores, name: str, migrations: Sequence[StoreMigration]
) -> None:
    while (seen := _count_migrations(connection, stores, name, len(migrations))) < len(migrations):
        with _lock_store(connection, stores.lock_number(name)):
            if _count_migrations(connection, stores, name, len(migrations)) == seen:  # else another process was faster
                additive = _apply(connection, migrations[seen])
                connection.execute(
                    "INSERT INTO store_migrations (store, number, additive, at) VALUES ($1, $2, $3::int::boolean, $4)",
                    (name, seen + 1, additive, timestamp()),
                )


def _count_migrations(connection: psycopg.Connection[Any], stores: PostgresqlStores, name: str, known: int) -> int:
    """Return how many migrations the store has seen.

    Raises:
        DamagedStore: it has seen one of a newer Argot that this one cannot live with.
    """
    sql = "SELECT number, additive FROM store_migrations WHERE store = $1 ORDER BY number"
    rows = connection.execute(sql, (name,)).fetchall()
    if any(row["number"] > known and not row["additive"] for row in rows):
        raise DamagedStore(f"The store '{name}' in {stores.name} was written by a newer Argot. {UPDATE}")
    return len(rows)


def _apply(connection: psycopg.Connection[Any], migration: StoreMigration) -> bool:
    """Return whether an Argot that does not know the migration can live with it."""
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
        """PostgreSQL itself takes deleted rows out of its files, by autovacuum, and out of its log in time."""
        return True

    def close(self) -> None:
        """Nothing is held open beside the pool."""

    def _begin(self, lock: str) -> str:
        # One statement to the server: a transaction, and within it the lock, before anything is read.
        return f"BEGIN; SELECT {lock}({self._lock})"

    @contextmanager
    def _block(self, begin: str) -> Iterator[PostgresqlConnection]:
        """A transaction that ends with the block. It begins on another connection where the first one is lost."""
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
                # Where the connection is lost by now, the server takes all back by itself.
                with suppress(psycopg.OperationalError):
                    connection.execute("ROLLBACK", prepare=False)
                raise


def _commit(connection: psycopg.Connection[Any]) -> None:
    try:
        said = connection.execute("COMMIT", prepare=False).statusmessage
    except psycopg.OperationalError as error:
        if is_lost(error, connection):
            raise psycopg.OperationalError(f"{error}; whether the last change was kept is not known") from error
        raise
    # Where a statement failed and somebody caught its error, PostgreSQL takes all back and calls that no error.
    if said != "COMMIT":
        raise psycopg.errors.InFailedSqlTransaction("a statement failed before, and the transaction with it")


def _check_schema(schema: str) -> str:
    if not _SCHEMA_NAME.fullmatch(schema) or schema.startswith("pg_"):
        raise InvalidSettings(
            f"{schema!r} cannot be the schema of a knowledge base. Use 1 to 48 small letters, digits and '_',"
            " beginning with a letter, and not with pg_."
        )
    return schema


def _parse_address(url: str, schema: str) -> tuple[str, str]:
    """Return the connection string for libpq, and a name for messages, which holds no user and no password."""
    if not url.startswith(("postgresql://", "postgres://")):
        raise InvalidSettings(
            "The address of PostgreSQL begins with postgresql://, as in postgresql://USER@HOST/DATABASE."
        )
    try:
        # libpq itself would take a part of a password with @ in it for a host, and name it in its messages.
        if not _PLACE.fullmatch(url):
            raise psycopg.ProgrammingError
        given = conninfo_to_dict(url)
    except psycopg.Error:
        # Without its words: they hold the part that could not be read, and that may be the password.
        raise InvalidSettings(
            "The address of PostgreSQL cannot be read. It is postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with"
            " %-codes for signs like @ / : in the password."
        ) from None
    limits = {
        "search_path": schema,
        # Compiling takes longer than our longest search does.
        "jit": "off",
        "lock_timeout": f"{LOCK_SECONDS}s",
        "statement_timeout": f"{STATEMENT_SECONDS}s",
        "idle_in_transaction_session_timeout": f"{IDLE_SECONDS}s",
        # Whoever vanishes with its machine must not hold its locks for the hours that TCP would wait.
        **{f"tcp_{name}": str(number) for name, number in KEEP_ALIVE.items()},
    }
    options = " ".join([*(f"-c {name}={value}" for name, value in limits.items()), str(given.get("options") or "")])
    ours = {"application_name": "argot", "connect_timeout": CONNECT_SECONDS, "tcp_user_timeout": 30_000, **KEEP_ALIVE}
    # What somebody says in the address wins over ours, but for the schema.
    said: dict[str, Any] = {**ours, **given, "options": options.strip(), "client_encoding": "UTF8"}
    conninfo = make_conninfo(**said)
    place = f"{given.get('host') or 'this machine'}{f':{port}' if (port := given.get('port')) else ''}"
    return conninfo, f"PostgreSQL on {place} (database {given.get('dbname') or 'of its user'}, schema {schema})"
