"""PostgreSQL that is gone, restarted, read-only, full or newer: the messages, and that no committed data is lost."""

import logging
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from postgresql_server import MISSING, PostgresqlServer, end_connections, programs, running

from argot.databases import AdditiveMigration
from argot.errors import DamagedStore, InvalidInput, InvalidSettings, StoreUnavailable
from argot.postgresql import stores as postgresql
from argot.postgresql.stores import PostgresqlStores
from argot.postgresql.translation import translate

THINGS = ("CREATE TABLE things (name TEXT PRIMARY KEY)",)
INSERT = "INSERT INTO things (name) VALUES (?)"


@pytest.fixture
def opened(postgresql_url: str) -> Iterator[PostgresqlStores]:
    with closing(PostgresqlStores(postgresql_url)) as stores:
        yield stores


# -- the address ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    ["", "mysql://u:geheim7@host/db", "host=h password=geheim7", "postgresql://u:geheim7@host:port/db",
     "postgresql://u:ge@heim7@[host/db", "postgresql://u:geheim7@host/db?nonsense=1"],
)  # fmt: skip
def test_an_invalid_address_is_refused_without_showing_its_password(url: str) -> None:
    with pytest.raises(InvalidSettings, match="postgresql://") as refused:
        PostgresqlStores(url)
    assert "heim7" not in str(refused.value) and refused.value.__cause__ is None


@pytest.mark.parametrize("schema", ["", "a b", "Argot", "pg_argot", "a" * 60, "x; DROP SCHEMA y", '"'])
def test_an_invalid_schema_name_is_refused(schema: str) -> None:
    with pytest.raises(InvalidSettings, match="cannot be the schema"):
        PostgresqlStores("postgresql://localhost/db", schema)


@pytest.mark.parametrize(
    ("change", "remedy"),
    [
        (lambda _, name: f"postgresql://argot:secret-of-tests@127.0.0.1:1/{name}", "Start"),
        (lambda url, name: url.replace(name, "nowhere"), "Make the database (createdb)"),
        (lambda url, _: url.replace("argot:", "nobody-known:"), "Let its user in"),
    ],
)
def test_a_refused_connection_is_reported_with_a_remedy(
    postgresql_url: str, change: Any, remedy: str, caplog: pytest.LogCaptureFixture
) -> None:
    name = postgresql_url.rsplit("/", 1)[1]
    with caplog.at_level(logging.DEBUG), pytest.raises(StoreUnavailable, match="cannot be used") as refused:
        PostgresqlStores(change(postgresql_url, name))
    assert remedy in str(refused.value) or remedy in refused.value.elsewhere
    assert "secret-of-tests" not in str(refused.value) + caplog.text + repr(refused.value.__cause__)


def test_a_database_that_is_not_in_utf8_is_refused(postgresql_server: PostgresqlServer) -> None:
    postgresql_server.execute("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    with pytest.raises(StoreUnavailable, match=r"texts are in LATIN1.*createdb --encoding UTF8"):
        PostgresqlStores(postgresql_server.url("latin"))
    postgresql_server.execute("DROP DATABASE latin")


def test_several_knowledge_bases_share_a_database(postgresql_url: str) -> None:
    made = (PostgresqlStores(postgresql_url, schema) for schema in ("one", "two"))
    with closing(next(made)) as one, closing(next(made)) as two:
        one.open("shop", THINGS).write(INSERT, "a")
        assert two.open("shop", THINGS).rows("SELECT * FROM things") == []
        assert "schema one" in one.name and "secret-of-tests" not in one.name


# -- what happens to a server -----------------------------------------------------------------------------------------


def test_a_lost_connection_is_replaced_before_a_read_or_a_new_write(
    postgresql_url: str, opened: PostgresqlStores
) -> None:
    database = opened.open("shop", THINGS)
    for number, work in enumerate(
        (
            lambda: database.write(INSERT, "a"),
            lambda: database.write_returning(f"{INSERT} RETURNING name", "b"),
            lambda: database.rows("SELECT * FROM things"),
        )
    ):
        end_connections(postgresql_url)
        assert work(), number
    end_connections(postgresql_url)
    with database.transaction() as connection:
        connection.execute(INSERT, ("c",))
    end_connections(postgresql_url)
    with database.snapshot() as connection:
        assert len(connection.execute("SELECT * FROM things").fetchall()) == 3


def test_a_connection_lost_in_a_transaction_fails_and_rolls_back(postgresql_url: str, opened: PostgresqlStores) -> None:
    database = opened.open("shop", THINGS)
    with pytest.raises(StoreUnavailable, match="Start PostgreSQL"), database.transaction() as connection:
        connection.execute(INSERT, ("half",))
        end_connections(postgresql_url)
        connection.execute(INSERT, ("a",))
    with pytest.raises(StoreUnavailable), database.transaction() as connection:
        connection.execute(INSERT, ("half",))
        end_connections(postgresql_url)
    assert database.rows("SELECT * FROM things") == []


def test_a_transaction_with_a_caught_error_still_fails_at_commit(opened: PostgresqlStores) -> None:
    database = opened.open("shop", THINGS)
    with pytest.raises(psycopg.errors.InFailedSqlTransaction), database.transaction() as connection:
        connection.execute(INSERT, ("a",))
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute(INSERT, ("a",))
    assert database.rows("SELECT * FROM things") == []


def test_a_write_to_a_read_only_server_is_reported(postgresql_url: str, opened: PostgresqlStores) -> None:
    database = opened.open("shop", THINGS)
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")  # type: ignore[arg-type]
    end_connections(postgresql_url)
    assert database.rows("SELECT * FROM things") == []
    with pytest.raises(StoreUnavailable, match="Name the primary server"):
        database.write(INSERT, "a")


def test_a_full_disk_is_reported(opened: PostgresqlStores) -> None:
    """Check the message for error 53100, which a trigger raises as PostgreSQL does on a full disk."""
    database = opened.open("shop", THINGS)
    with opened.connection() as connection:
        connection.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$"
        )
        connection.execute("CREATE TRIGGER refused BEFORE INSERT ON things EXECUTE FUNCTION refuse()")
    with pytest.raises(StoreUnavailable, match="Free some space"):
        database.write(INSERT, "a")
    assert database.rows("SELECT * FROM things") == []


def test_a_writer_that_waits_too_long_for_the_lock_gets_an_error(
    postgresql_url: str, opened: PostgresqlStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = opened.open("shop", THINGS)
    monkeypatch.setattr(postgresql, "LOCK_SECONDS", 1)
    with closing(PostgresqlStores(postgresql_url)) as other:
        waiting = other.open("shop", THINGS)
        with database.transaction(), pytest.raises(StoreUnavailable, match="Wait for the program"):
            waiting.write(INSERT, "a")
    assert database.write(INSERT, "a") == 1


def test_an_exhausted_connection_pool_is_reported(postgresql_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "WAIT_SECONDS", 0.2)
    with closing(PostgresqlStores(postgresql_url, most_connections=1)) as stores:
        database = stores.open("shop", THINGS)
        with database.reader(), pytest.raises(StoreUnavailable, match="all 1 connections were in use"):
            database.rows("SELECT * FROM things")


def test_a_nul_character_is_refused(opened: PostgresqlStores) -> None:
    with pytest.raises(InvalidInput, match="NUL"):
        opened.open("shop", THINGS).write(INSERT, "a\0b")
    with pytest.raises(InvalidInput, match="NUL"):
        opened.open("shop", THINGS).rows("SELECT jsonb_array_elements_text(CAST(? AS jsonb))", r'["a\u0000b"]')


def test_a_prepared_statement_survives_a_migration_by_another_process(
    postgresql_url: str, opened: PostgresqlStores
) -> None:
    database = opened.open("shop", THINGS)
    for _ in range(8):  # until psycopg prepares it
        database.rows("SELECT * FROM things")
    with closing(PostgresqlStores(postgresql_url)) as newer:
        newer.open("shop", (*THINGS, AdditiveMigration("ALTER TABLE things ADD COLUMN size INTEGER"))).write(
            INSERT, "a"
        )
    assert [row["name"] for row in database.rows("SELECT * FROM things")] == ["a"]
    # An additive migration needs nothing of an older Argot, which may start beside it.
    with closing(PostgresqlStores(postgresql_url)) as older:
        assert older.open("shop", THINGS).write(INSERT, "b") == 1
    with closing(PostgresqlStores(postgresql_url)) as newest:
        newest.open("shop", (*THINGS, AdditiveMigration("SELECT 1"), "SELECT 1"))
    with closing(PostgresqlStores(postgresql_url)) as older, pytest.raises(DamagedStore, match="newer Argot"):
        older.open("shop", THINGS)


def test_concurrent_starts_apply_each_migration_once(postgresql_url: str) -> None:
    migrations = (*THINGS, "SELECT pg_sleep(0.2)", "INSERT INTO things (name) VALUES ('once')")
    errors: list[BaseException] = []

    def start() -> None:
        try:
            with closing(PostgresqlStores(postgresql_url)) as stores:
                stores.open("shop", migrations)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


@pytest.fixture
def durable_server() -> Iterator[PostgresqlServer]:
    """Start a PostgreSQL server that flushes its log to the disk."""
    if programs() is None:
        pytest.skip(MISSING)
    with tempfile.TemporaryDirectory(prefix="argot-postgresql-") as folder:
        Path(folder).chmod(0o755)
        with running(Path(folder) / "server", durable=True) as server:
            yield server


def test_acknowledged_writes_survive_server_crashes_under_load(durable_server: PostgresqlServer) -> None:
    with closing(PostgresqlStores(durable_server.url("postgres"))) as stores:
        database, kept = stores.open("shop", THINGS), set[str]()
        done, some = threading.Event(), threading.Semaphore(0)

        def write(writer: int) -> None:
            for number in range(1_000_000):
                if done.is_set():
                    return
                with suppress(StoreUnavailable):
                    database.write(INSERT, f"{writer} {number}")
                    kept.add(f"{writer} {number}")
                    some.release()

        writers = [threading.Thread(target=write, args=(one,)) for one in range(2)]
        for writer in writers:
            writer.start()
        for _ in range(2):
            for _ in range(20):
                assert some.acquire(timeout=300)
            durable_server.stop("immediate")
            durable_server.start()
        done.set()
        for writer in writers:
            writer.join()
        found = {row["name"] for row in database.rows("SELECT name FROM things")}
        # A commit under way at a crash may have been stored although it was not acknowledged.
        assert kept <= found and len(found) - len(kept) <= 4


# -- the words --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("SELECT ?, ?", "SELECT $1, $2"),
        ("SELECT ?2, ?1", "SELECT $2, $1"),
        ("SELECT :a, :b, :a", "SELECT $1, $2, $1"),
        ("SELECT '?:a', \"a?\", x::text -- ?", "SELECT '?:a', \"a?\", x::text -- ?"),
        ("SELECT user, s.user, users, 'user', by_user", 'SELECT "user", s."user", users, \'user\', by_user'),
        ("SELECT CAST(? AS BLOB), blob", "SELECT CAST($1 AS BYTEA), blob"),
        ("SELECT 5 % 3, 'it''s ?'", "SELECT 5 % 3, 'it''s ?'"),
    ],
)
def test_statements_are_translated_to_postgresql(ours: str, theirs: str) -> None:
    assert translate(ours).sql == theirs


def test_column_types_are_translated_to_postgresql() -> None:
    ours = "CREATE TABLE t (n INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT, x REAL DEFAULT 'TEXT') WITHOUT ROWID"
    key = "n BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"
    assert translate(ours).sql.strip() == (
        f"CREATE TABLE t ({key}, text TEXT COLLATE \"C\", x DOUBLE PRECISION DEFAULT 'TEXT')"
    )
