"""Stores of a knowledge base, and those of their tables that have to be copied.

A store's tables are read from its migrations, applied to an empty database in memory, so that later additions to a
store are copied without changes here.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from graphlib import TopologicalSorter

from argot.corpus import corpus_schema
from argot.corpus.index.live_pointer import LIVE, SERVER_ID
from argot.corpus.keyword_tables import RANKED_TABLES
from argot.corpus.vector_ids import VECTOR_TABLES
from argot.databases import PerEngine, StoreMigration
from argot.jargon_db.store import schema as glossary_schema
from argot.service.identity import people
from argot.service.threads import thread_store
from argot.sqlite import MigrationNames, create_empty_store
from argot.wings import wing_migrations

_OF_SQLITE = ("sqlite_", "_sqlite_")
_WITH_NUMBERS = re.compile(r"CREATE TABLE (\w+) \([^;]*\browid BIGINT")


@dataclass(frozen=True, slots=True)
class MovedStore:
    """
    Attributes:
        name: in the folder it is the file `<name>.db`.
        own: keys of rows of the table `meta` that each side has for itself.
        generations: the columns that name a generation of the vectors, by table.
        on_postgresql: the tables that have another name there.
        escaped: whether its texts stand there with U+0000 escaped.
    """

    name: str
    migrations: Sequence[StoreMigration]
    names: MigrationNames | None = None
    own: frozenset[str] = frozenset()
    generations: Mapping[str, str] = field(default_factory=dict)
    on_postgresql: Mapping[str, str] = field(default_factory=dict)
    escaped: bool = False

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True, slots=True)
class MovedTable:
    """Its columns in order, and those of its primary key, by which its rows are ordered."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


CORPUS = MovedStore(
    "corpus",
    corpus_schema.MIGRATIONS,
    corpus_schema.NAMES,
    frozenset({LIVE, SERVER_ID}),
    {
        "generations": "name",
        **dict.fromkeys((*VECTOR_TABLES, "vector_deletions"), "generation"),
    },
)
STORES = (
    CORPUS,
    MovedStore(
        "glossary",
        glossary_schema.MIGRATIONS,
        glossary_schema.NAMES,
        # The corpus has its own `meta`, and there all stores are in one schema.
        on_postgresql={"meta": "glossary_meta"},
        escaped=True,
    ),
    MovedStore("people", people.MIGRATIONS),
    MovedStore("threads", thread_store.MIGRATIONS),
    *(MovedStore(name, migrations) for name, migrations in wing_migrations().items()),
)


@cache
def list_moved_tables(store: MovedStore) -> tuple[MovedTable, ...]:
    """Return the tables of a store, referenced ones first. Word indexes are derived, and not included."""
    with closing(create_empty_store(store.migrations, store.names)) as connection:
        numbered = _list_numbered_tables(store)
        found = {
            name: _describe_table(connection, name, numbered=name in numbered) for name in _list_tables(connection)
        }
        needs = {name: _list_parents(connection, name) for name in found}
    return tuple(found[name] for name in TopologicalSorter(needs).static_order())


def _list_tables(connection: sqlite3.Connection) -> list[str]:
    # Only 'table': virtual tables, and those they consist of ('shadow'), are the word indexes.
    rows = connection.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
    return sorted(name for (name,) in rows if not name.startswith(_OF_SQLITE) and name not in RANKED_TABLES)


def _list_numbered_tables(store: MovedStore) -> set[str]:
    """The tables whose rows are ordered by SQLite's hidden number, which on PostgreSQL is a column."""
    scripts = (step.postgresql for step in store.migrations if isinstance(step, PerEngine))
    return {name for script in scripts for name in _WITH_NUMBERS.findall(script)}


def _describe_table(connection: sqlite3.Connection, name: str, *, numbered: bool) -> MovedTable:
    rows = connection.execute("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", (name,)).fetchall()
    key = tuple(column for column, place in sorted(rows, key=lambda row: row[1]) if place)
    if not key:
        raise TypeError(f"The table '{name}' has no primary key to identify its rows.")
    columns = ("rowid",) if numbered else ()
    return MovedTable(name, (*columns, *(column for column, _ in rows)), key)


def _list_parents(connection: sqlite3.Connection, name: str) -> set[str]:
    rows: Iterator[tuple[str]] = connection.execute('SELECT "table" FROM pragma_foreign_key_list(?)', (name,))
    return {parent for (parent,) in rows if parent != name}
