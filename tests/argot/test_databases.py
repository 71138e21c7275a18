"""The behaviour that every store relies on, tested on SQLite and on PostgreSQL."""

import threading
from typing import Any

import pytest

from argot.databases import AdditiveMigration, Database, PerEngine, Stores
from argot.errors import DamagedStore
from argot.remedies import UPDATE

THINGS = """
    CREATE TABLE things (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, user TEXT, size REAL, data BLOB, wanted INTEGER DEFAULT 0
    );
    CREATE INDEX things_by_size ON things (size) WHERE size IS NOT NULL; -- a comment; 'INTEGER'
"""
MIGRATIONS = (THINGS,)
INSERT = "INSERT INTO things (name, user, size, data, wanted) VALUES (?, ?, ?, ?, ?)"


@pytest.fixture
def database(stores: Stores) -> Database:
    return stores.open("shop", MIGRATIONS)


def names(database: Database) -> list[str]:
    return [row["name"] for row in database.rows("SELECT name FROM things ORDER BY name")]


# -- values -----------------------------------------------------------------------------------------------------------


def test_a_row_is_read_back_as_it_was_written(database: Database) -> None:
    values = ("Größe?", "anna", 1.5, b"\x00\xff", True)
    assert database.write(INSERT, *values) == 1
    (row,) = database.rows("SELECT name, user, size, data, wanted FROM things WHERE user = ?", "anna")
    assert tuple(row) == ("Größe?", "anna", 1.5, b"\x00\xff", 1)
    assert (row["name"], row[1], len(row)) == ("Größe?", "anna", 5)
    assert dict(row) == dict(zip(("name", "user", "size", "data", "wanted"), values, strict=True))


def test_aggregates_keep_integers_floats_and_nulls(database: Database) -> None:
    for n in range(3):
        database.write(INSERT, f"thing {n}", None, None, None, n)
    (row,) = database.rows("SELECT sum(wanted) AS a, avg(wanted) AS b, count(*) AS c, max(size) AS d FROM things")
    assert tuple(row) == (3, 1.0, 3, None)
    assert [type(value) for value in row] == [int, float, int, type(None)]


def test_texts_are_ordered_by_their_bytes(database: Database) -> None:
    for name in ("b", "A", "ä", "a", "B", "_"):
        database.write(INSERT, name, None, None, None, 0)
    assert names(database) == sorted(("b", "A", "ä", "a", "B", "_"))


def test_statements_take_named_and_numbered_parameters(database: Database) -> None:
    with database.transaction() as connection:
        sql = "INSERT INTO things (name, user) VALUES (:name, :name), ('colon :name ?', ':name')"
        connection.execute(sql, {"name": "x"})
        connection.execute("INSERT INTO things (name, user) VALUES (?2, ?1)", ("by 1", "by 2"))
    assert [tuple(row) for row in database.rows("SELECT name, user FROM things ORDER BY id")] == [
        ("x", "x"), ("colon :name ?", ":name"), ("by 2", "by 1"),
    ]  # fmt: skip


@pytest.mark.parametrize("hostile", ["'; DROP TABLE things; --", "%s %(a)s", "$1", "\\", "?", "\N{SNOWMAN}\n\t"])
def test_a_hostile_value_is_stored_and_not_executed(database: Database, hostile: str) -> None:
    database.write(INSERT, hostile, None, None, None, 0)
    assert names(database) == [hostile]


def test_each_dialect_gives_its_engines_expressions(database: Database) -> None:
    for name in ("a", "b"):
        database.write(INSERT, name, None, None, None, ord(name))
    said = database.dialect
    (row,) = database.rows(
        f"SELECT {said.joined('name')} AS joined, {said.least('3', '7')} AS low"
        f" FROM things WHERE name IN {said.texts} AND wanted IN {said.numbers}",
        '["a", "b", "c"]', "[97, 98]",
    )  # fmt: skip
    assert sorted(row["joined"].split("\x1f")) == ["a", "b"]
    assert row["low"] == 3
    assert "things" in {row["name"] for row in database.rows(said.tables)}


# -- changing ---------------------------------------------------------------------------------------------------------


def test_a_statement_returns_the_number_of_rows_it_changed(database: Database) -> None:
    again = "INSERT INTO things (name) VALUES (?) ON CONFLICT DO NOTHING"
    assert [database.write(again, name) for name in ("a", "a", "b")] == [1, 0, 1]
    assert database.write("UPDATE things SET wanted = 1") == 2
    returned = database.write_returning("DELETE FROM things WHERE name = ? RETURNING name, wanted", "a")
    assert [tuple(row) for row in returned] == [("a", 1)]
    with database.transaction() as connection:
        assert connection.executemany(again, [("b",), ("c",), ("d",)]).rowcount == 2
        connection.executemany(again, [])
        number = connection.execute("INSERT INTO things (name) VALUES ('e') RETURNING id").fetchone()[0]
        assert connection.execute("SELECT name FROM things WHERE id = ?", (number,)).fetchone()[0] == "e"


def test_a_transaction_commits_everything_or_nothing(database: Database) -> None:
    with pytest.raises(KeyError), database.transaction() as connection:
        connection.execute("INSERT INTO things (name) VALUES ('lost')")
        raise KeyError
    assert names(database) == []
    with database.transaction() as connection:
        connection.execute("INSERT INTO things (name) VALUES ('kept')")
        assert [row["name"] for row in connection.execute("SELECT name FROM things")] == ["kept"]
        assert names(database) == []
    assert names(database) == ["kept"]


def test_a_failed_statement_rolls_back_its_transaction(database: Database) -> None:
    with pytest.raises(Exception, match=r"(?i)unique"), database.transaction() as connection:
        connection.execute("INSERT INTO things (name) VALUES ('a')")
        connection.execute("INSERT INTO things (name) VALUES ('a')")
    assert names(database) == []
    assert database.write("INSERT INTO things (name) VALUES ('a')") == 1


def test_a_snapshot_does_not_see_later_writes(database: Database) -> None:
    database.write("INSERT INTO things (name) VALUES ('before')")
    with database.snapshot() as seen:
        assert len(seen.execute("SELECT * FROM things").fetchall()) == 1
        database.write("INSERT INTO things (name) VALUES ('after')")
        assert len(seen.execute("SELECT * FROM things").fetchall()) == 1
    with database.reader() as seen:
        assert len(seen.execute("SELECT * FROM things").fetchall()) == 2


def test_concurrent_transactions_are_serialized(database: Database) -> None:
    """Check that no increment is lost when five threads read a counter and write it back plus one."""
    database.write("INSERT INTO things (name, wanted) VALUES ('counter', 0)")
    errors: list[BaseException] = []

    def count() -> None:
        try:
            for _ in range(10):
                with database.transaction() as connection:
                    (found,) = connection.execute("SELECT wanted FROM things").fetchone()
                    connection.execute("UPDATE things SET wanted = ?", (found + 1,))
        except BaseException as error:
            errors.append(error)

    in_threads(count, 5)
    assert errors == []
    assert database.rows("SELECT wanted FROM things")[0][0] == 50


def in_threads(work: Any, number: int) -> None:
    threads = [threading.Thread(target=work) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# -- migrations -------------------------------------------------------------------------------------------------------

PRICES = PerEngine(
    sqlite="ALTER TABLE things ADD COLUMN price TEXT COLLATE NOCASE",
    postgresql="ALTER TABLE things ADD COLUMN price text",
)


def test_an_older_store_gets_the_missing_migrations_once(stores: Stores) -> None:
    stores.open("shop", (THINGS,)).write("INSERT INTO things (name) VALUES ('old')")
    for _ in range(2):
        opened = stores.open("shop", (THINGS, PRICES))
        assert [tuple(row) for row in opened.rows("SELECT name, price FROM things")] == [("old", None)]


def test_a_store_of_a_newer_argot_is_refused(stores: Stores) -> None:
    stores.open("shop", (THINGS, PRICES)).write("INSERT INTO things (name) VALUES ('kept')")
    with pytest.raises(DamagedStore, match="was written by a newer Argot") as refused:
        stores.open("shop", (THINGS,))
    assert str(refused.value).endswith(UPDATE)
    assert names(stores.open("shop", (THINGS, PRICES))) == ["kept"]


def test_a_failed_migration_leaves_the_old_state(stores: Stores) -> None:
    stores.open("shop", (THINGS,))
    with pytest.raises(Exception, match="nowhere"):
        stores.open("shop", (THINGS, "CREATE TABLE half (x TEXT); INSERT INTO nowhere VALUES (1)"))
    tables = {row["name"] for row in stores.open("shop", (THINGS,)).rows(stores.open("shop", (THINGS,)).dialect.tables)}
    assert "half" not in tables


def test_several_threads_can_create_one_store_at_once(stores: Stores) -> None:
    errors: list[BaseException] = []

    def opened() -> None:
        try:
            stores.open("shop", (THINGS, PRICES, "INSERT INTO things (name) VALUES ('once')"))
        except BaseException as error:
            errors.append(error)

    in_threads(opened, 6)
    assert errors == []
    assert names(stores.open("shop", (THINGS, PRICES, "SELECT 1"))) == ["once"]


def test_each_store_has_its_own_migrations(stores: Stores) -> None:
    stores.open("shop", (THINGS,))
    others = stores.open(
        "depot", ("CREATE TABLE shelves (name TEXT)", AdditiveMigration("CREATE TABLE boxes (name TEXT)"))
    )
    assert others.rows("SELECT * FROM boxes") == []
