"""The only opener of SQLite: what it creates, what it refuses, and what a failed migration leaves behind."""

import os
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from pathlib import Path

import pytest
from repository import ROOT

from argot.errors import ArgotError, DamagedStore, StoreUnavailable
from argot.remedies import UPDATE
from argot.sqlite import (
    MigrationNames,
    PerThread,
    convert_sqlite_errors,
    open_connection,
    open_database,
    read_schema_version,
    run_script,
    transaction,
)
from argot.sqlite_database import SqliteDatabase

THINGS = "CREATE TABLE things (name TEXT NOT NULL); INSERT INTO things VALUES ('first')"
NAMES = MigrationNames("shop", ("m001_things", "m002_prices"))


def price(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE things ADD COLUMN price INTEGER NOT NULL DEFAULT 1")


def noted(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM _sqlite_migrations ORDER BY id")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "people.db"


# -- migrations -------------------------------------------------------------------------------------------------------


def test_a_new_store_has_every_migration_and_leaves_no_other_file(path: Path) -> None:
    with closing(open_database(path, [THINGS, price])) as connection:
        assert read_schema_version(connection) == 2
        assert connection.execute("SELECT * FROM things").fetchall() == [("first", 1)]
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_an_older_store_gets_only_the_missing_migrations(path: Path) -> None:
    open_database(path, [THINGS]).close()
    for _ in range(2):
        with closing(open_database(path, [THINGS, price])) as connection:
            assert connection.execute("SELECT * FROM things").fetchall() == [("first", 1)]


@pytest.mark.parametrize("names", [None, NAMES])
def test_a_store_of_a_newer_argot_is_refused_and_left_unchanged(path: Path, names: MigrationNames | None) -> None:
    open_database(path, [THINGS, price, "CREATE TABLE later (x)"], names).close()
    before = path.read_bytes()
    with pytest.raises(DamagedStore) as refused:
        open_database(path, [THINGS, price], names)
    assert str(refused.value) == f"{path} was written by a newer Argot. {UPDATE}"
    assert path.read_bytes() == before


def wrong_script(connection: sqlite3.Connection) -> None:
    run_script(connection, "ALTER TABLE things ADD COLUMN price; INSERT INTO nowhere VALUES (1)")


def interrupted(connection: sqlite3.Connection) -> None:
    price(connection)
    raise KeyboardInterrupt


@pytest.mark.parametrize(("migration", "error"), [(wrong_script, ArgotError), (interrupted, KeyboardInterrupt)])
def test_a_failed_migration_leaves_the_old_state(
    path: Path, migration: Callable[[sqlite3.Connection], None], error: type[BaseException]
) -> None:
    open_database(path, [THINGS], NAMES).close()
    with pytest.raises(error):
        open_database(path, [THINGS, migration], NAMES)
    with closing(open_database(path, [THINGS], NAMES)) as connection:
        assert (read_schema_version(connection), noted(connection)) == (1, ["m001_things"])
        assert connection.execute("SELECT * FROM things").fetchall() == [("first",)]


def test_a_store_that_cannot_be_created_leaves_no_file(path: Path) -> None:
    with pytest.raises(ArgotError):
        open_database(path, [THINGS, "no SQL"])
    assert list(path.parent.iterdir()) == []


def test_a_store_of_argot_0_3_continues_after_its_named_migrations(path: Path) -> None:
    with closing(open_database(path, [THINGS], NAMES)) as connection:
        connection.execute("PRAGMA user_version = 0")  # as Argot 0.3 left it
        connection.execute("INSERT INTO _sqlite_migrations (migration_set, name) VALUES ('another', 'm001')")
    with closing(open_database(path, [THINGS, price, "CREATE TABLE later (x)"], NAMES)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
        assert noted(connection) == ["m001_things", "m001", "m002_prices", "m003"]


def test_several_threads_can_create_one_store_at_once(path: Path) -> None:
    errors: list[BaseException] = []
    together = threading.Barrier(4)

    def opened() -> None:
        together.wait()
        try:
            open_database(path, [THINGS, price], NAMES).close()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=opened) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with closing(open_database(path, [THINGS, price], NAMES)) as connection:
        assert connection.execute("SELECT count(*) FROM things").fetchone() == (1,)


def test_a_script_is_split_at_the_ends_of_statements() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        script = """
            CREATE TABLE a (x); -- one; two
            CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET x = x || ';'; SELECT 1; END;
            INSERT INTO a VALUES ('a;b');
            -- the end
        """
        run_script(connection, script)
        assert connection.execute("SELECT x FROM a").fetchall() == [("a;b;",)]


# -- damage -----------------------------------------------------------------------------------------------------------


def test_a_damaged_store_is_reported_with_the_repair_command(path: Path) -> None:
    open_database(path, [THINGS]).close()
    path.write_bytes(b"no database, but a text of some length" * 200)
    with pytest.raises(DamagedStore, match=r"people\.db is damaged: .*argot restore --force"):
        open_database(path, [THINGS])


def test_an_operating_system_error_is_not_reported_as_damage(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StoreUnavailable, match=r"people\.db cannot be used: .*try again"):
        open_database(path, [THINGS])


def test_a_wrong_statement_is_not_reported_as_damage(path: Path) -> None:
    with closing(open_database(path, [THINGS])) as connection:
        with pytest.raises(sqlite3.OperationalError, match="nowhere"), convert_sqlite_errors(path):
            connection.execute("SELECT * FROM nowhere")
        with pytest.raises(sqlite3.IntegrityError), convert_sqlite_errors(path):
            connection.execute("INSERT INTO things VALUES (NULL)")


# -- connections ------------------------------------------------------------------------------------------------------


def test_every_connection_is_opened_with_the_same_pragmas(path: Path) -> None:
    open_database(path, [THINGS]).close()
    with closing(open_connection(path, mode="ro")) as reader, closing(open_connection(path)) as writer:
        for pragma, value in {"foreign_keys": 1, "synchronous": 2, "secure_delete": 1}.items():
            found = {one.execute(f"PRAGMA {pragma}").fetchone()[0] for one in (reader, writer)}
            assert found == {value}, pragma
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.execute("DELETE FROM things")


@pytest.mark.parametrize("mode", ["ro", "rw"])
def test_opening_a_connection_does_not_create_a_missing_file(tmp_path: Path, mode: str) -> None:
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        open_connection(tmp_path / "none.db", mode=mode)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_failed_transaction_is_rolled_back_and_closed(path: Path) -> None:
    with closing(open_database(path, [THINGS])) as connection:
        with pytest.raises(KeyboardInterrupt), transaction(connection):
            connection.execute("DELETE FROM things")
            raise KeyboardInterrupt
        with pytest.raises(sqlite3.OperationalError, match="no such table"), transaction(connection):
            connection.execute("ROLLBACK")  # as SQLite does by itself on a full disk
            connection.execute("SELECT * FROM nowhere")
        assert not connection.in_transaction
        assert connection.execute("SELECT name FROM things").fetchall() == [("first",)]


def is_open(path: Path) -> bool:
    """Return whether this process has the file open."""
    return any(os.path.realpath(entry) == str(path) for entry in Path("/proc/self/fd").iterdir())


def test_each_thread_has_its_own_connection_closed_when_it_ends(path: Path) -> None:
    open_database(path, [THINGS]).close()
    connections = PerThread(lambda: open_connection(path))
    others: list[sqlite3.Connection] = []
    for _ in range(2):
        thread = threading.Thread(target=lambda: others.append(connections.get()))
        thread.start()
        thread.join()
    mine = connections.get()
    assert mine is connections.get()
    assert len({id(one) for one in (mine, *others)}) == 3
    for closed in others:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            closed.execute("SELECT 1")
    connections.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        mine.execute("SELECT 1")


def test_a_connection_of_a_thread_that_waits_is_closed(path: Path) -> None:
    open_database(path, [THINGS]).close()
    connections = PerThread(lambda: open_connection(path))
    opened, may_end = threading.Event(), threading.Event()

    def open_and_wait() -> None:
        assert connections.get().execute("SELECT name FROM things").fetchall()
        opened.set()
        assert may_end.wait(timeout=30)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(open_and_wait)
        assert opened.wait(timeout=30)
        assert is_open(path)
        connections.close()
        assert not is_open(path)
        may_end.set()
        waiting.result()


def test_connections_closed_meanwhile_let_a_statement_of_another_thread_end(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("argot.sqlite.CLOSE_SECONDS", 0.05)
    with closing(open_database(path, [THINGS])) as connection:
        connection.executemany("INSERT INTO things VALUES (?)", [(str(n),) for n in range(9)])
    connections = PerThread(lambda: open_connection(path))
    began, closed = threading.Event(), threading.Event()

    def read() -> list[str]:
        rows = connections.get().execute("SELECT name FROM things")
        names = [next(rows)[0]]
        began.set()
        assert closed.wait(timeout=30)
        return names + [name for (name,) in rows]

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        assert began.wait(timeout=30)
        connections.close()
        closed.set()
        assert len(reading.result()) == 10


def test_a_database_is_closed_after_the_transaction_of_another_thread(path: Path) -> None:
    database = SqliteDatabase(path, [THINGS])
    began, may_end = threading.Event(), threading.Event()

    def write() -> None:
        with database.transaction() as connection:
            began.set()
            assert may_end.wait(timeout=30)
            connection.execute("INSERT INTO things VALUES ('last')")

    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(write)
        assert began.wait(timeout=30)
        closing_it = pool.submit(database.close)
        assert not wait([closing_it], timeout=0.1).done
        may_end.set()
        writing.result()
        closing_it.result()
    with closing(open_connection(path)) as connection:
        assert connection.execute("SELECT name FROM things").fetchall() == [("first",), ("last",)]


def test_no_other_module_opens_sqlite() -> None:
    folders = ["argot", "corpus", "evaluate", "graph", "jargon_db", "ratings", "service", "slack", "tools", "ui"]
    texts = {path: path.read_text("utf-8") for folder in folders for path in (ROOT / folder).rglob("*.py")}
    opening = [str(path.relative_to(ROOT)) for path, text in texts.items() if "sqlite3.connect(" in text]
    # The latter opens no file but SQLite's tokenizer, in memory.
    assert sorted(opening) == ["argot/sqlite.py", "corpus/keyword/word_tokens.py"]
