"""The one opener of SQLite: what it makes, what it refuses, and what a failed migration leaves behind."""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from repository import ROOT

from argot.errors import ArgotError, DamagedStore, StoreUnavailable
from argot.remedies import UPDATE
from argot.sqlite import (
    PerThread,
    StepNames,
    damage_named,
    open_connection,
    open_database,
    run_script,
    schema_version,
    transaction,
)

THINGS = "CREATE TABLE things (name TEXT NOT NULL); INSERT INTO things VALUES ('first')"
NAMES = StepNames("shop", ("m001_things", "m002_prices"))


def price(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE things ADD COLUMN price INTEGER NOT NULL DEFAULT 1")


def noted(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM _sqlite_migrations ORDER BY id")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "people.db"


# -- migrations -------------------------------------------------------------------------------------------------------


def test_a_new_store_has_seen_every_migration_and_nothing_else_is_left(path: Path) -> None:
    with closing(open_database(path, [THINGS, price])) as connection:
        assert schema_version(connection) == 2
        assert connection.execute("SELECT * FROM things").fetchall() == [("first", 1)]
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_an_older_store_gets_only_what_it_has_not_seen(path: Path) -> None:
    open_database(path, [THINGS]).close()
    for _ in range(2):
        with closing(open_database(path, [THINGS, price])) as connection:
            assert connection.execute("SELECT * FROM things").fetchall() == [("first", 1)]


@pytest.mark.parametrize("names", [None, NAMES])
def test_a_newer_store_is_refused_with_the_remedy_and_left_alone(path: Path, names: StepNames | None) -> None:
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
def test_a_migration_that_fails_leaves_the_old_state(
    path: Path, migration: Callable[[sqlite3.Connection], None], error: type[BaseException]
) -> None:
    open_database(path, [THINGS], NAMES).close()
    with pytest.raises(error):
        open_database(path, [THINGS, migration], NAMES)
    with closing(open_database(path, [THINGS], NAMES)) as connection:
        assert (schema_version(connection), noted(connection)) == (1, ["m001_things"])
        assert connection.execute("SELECT * FROM things").fetchall() == [("first",)]


def test_a_store_that_cannot_be_made_leaves_nothing(path: Path) -> None:
    with pytest.raises(ArgotError):
        open_database(path, [THINGS, "no SQL"])
    assert list(path.parent.iterdir()) == []


def test_a_store_counted_by_names_goes_on_from_there(path: Path) -> None:
    with closing(open_database(path, [THINGS], NAMES)) as connection:
        connection.execute("PRAGMA user_version = 0")  # as Argot 0.3 left it
        connection.execute("INSERT INTO _sqlite_migrations (migration_set, name) VALUES ('another', 'm001')")
    with closing(open_database(path, [THINGS, price, "CREATE TABLE later (x)"], NAMES)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
        assert noted(connection) == ["m001_things", "m001", "m002_prices", "m003"]


def test_several_threads_make_one_store(path: Path) -> None:
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


def test_a_script_is_cut_where_statements_end() -> None:
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


def test_damage_is_named_with_the_mending_command(path: Path) -> None:
    open_database(path, [THINGS]).close()
    path.write_bytes(b"no database, but a text of some length" * 200)
    with pytest.raises(DamagedStore, match=r"people\.db is damaged: .*argot restore --force"):
        open_database(path, [THINGS])


def test_a_refusal_of_the_system_is_no_damage(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StoreUnavailable, match=r"people\.db cannot be used: .*try again"):
        open_database(path, [THINGS])


def test_a_wrong_statement_is_no_damage(path: Path) -> None:
    with closing(open_database(path, [THINGS])) as connection:
        with pytest.raises(sqlite3.OperationalError, match="nowhere"), damage_named(path):
            connection.execute("SELECT * FROM nowhere")
        with pytest.raises(sqlite3.IntegrityError), damage_named(path):
            connection.execute("INSERT INTO things VALUES (NULL)")


# -- connections ------------------------------------------------------------------------------------------------------


def test_every_connection_is_opened_alike(path: Path) -> None:
    open_database(path, [THINGS]).close()
    with closing(open_connection(path, mode="ro")) as reader, closing(open_connection(path)) as writer:
        for pragma, value in {"foreign_keys": 1, "synchronous": 2, "secure_delete": 1}.items():
            found = {one.execute(f"PRAGMA {pragma}").fetchone()[0] for one in (reader, writer)}
            assert found == {value}, pragma
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.execute("DELETE FROM things")


@pytest.mark.parametrize("mode", ["ro", "rw"])
def test_a_file_that_is_not_there_is_not_made_by_the_way(tmp_path: Path, mode: str) -> None:
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        open_connection(tmp_path / "none.db", mode=mode)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_transaction_is_all_or_nothing_and_never_left_open(path: Path) -> None:
    with closing(open_database(path, [THINGS])) as connection:
        with pytest.raises(KeyboardInterrupt), transaction(connection):
            connection.execute("DELETE FROM things")
            raise KeyboardInterrupt
        with pytest.raises(sqlite3.OperationalError, match="no such table"), transaction(connection):
            connection.execute("ROLLBACK")  # as SQLite does by itself on a full disk
            connection.execute("SELECT * FROM nowhere")
        assert not connection.in_transaction
        assert connection.execute("SELECT name FROM things").fetchall() == [("first",)]


def test_each_thread_has_its_own_connection_and_those_of_ended_threads_are_closed(path: Path) -> None:
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


def test_nothing_else_opens_sqlite() -> None:
    folders = ["argot", "corpus", "evaluate", "graph", "jargon_db", "ratings", "service", "tools", "ui"]
    texts = {path: path.read_text("utf-8") for folder in folders for path in (ROOT / folder).rglob("*.py")}
    opening = [str(path.relative_to(ROOT)) for path, text in texts.items() if "sqlite3.connect(" in text]
    # The latter opens no file, but SQLite's tokenizer in memory.
    assert sorted(opening) == ["argot/sqlite.py", "corpus/keyword/word_tokens.py"]
