"""A corpus of `million_corpora` on PostgreSQL and a Chroma server, for `bench/million.py --servers`.

`argot move` would take hours for a million passages. Instead all rows are copied unchanged, including those of the
keyword index (both engines have the same), and the server gets a copy of Chroma's folder. The additional rows for
phrases on PostgreSQL are left out.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from load_applications import measure_resident, run_chroma_server, run_postgresql
from million_corpora import GENERATION, find_home, say

from argot.corpus.corpus import Corpus
from argot.corpus.index.live_pointer import LIVE, SERVER_ID
from argot.corpus.keyword_tables import RANKED_TABLES
from argot.postgresql.stores import DEFAULT_SCHEMA
from argot.service.moving.moved_stores import CORPUS, list_moved_tables
from argot.service.storage.opened_stores import open_corpus_store, open_stores
from argot.settings import Settings

if TYPE_CHECKING:
    from postgresql_server import PostgresqlServer

OWN_ID = "0123456789abcdef"
ON_SERVER = f"{OWN_ID}s000001"
"""The vectors' generation on the server."""
MEMORY = "1GB"
"""`shared_buffers`: for a million passages PostgreSQL is given more than its default of 128 MB."""


@contextmanager
def open_on_servers(folder: Path, count: int) -> Iterator[Corpus]:
    """Yield the corpus of this many passages, on servers that are stopped afterwards."""
    home = find_home(folder, count)
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="argot-million-")))
        server, store = stack.enter_context(run_postgresql(scratch, MEMORY))
        _copy_vectors(home / "vectors" / GENERATION, scratch / "chroma" / "data")
        chroma, vectors = stack.enter_context(run_chroma_server(scratch))
        settings = Settings(home=scratch / "kb", store=store["ARGOT_STORE"], chroma_url=vectors["ARGOT_CHROMA_URL"])
        stores = open_stores(settings.home, settings)
        stack.callback(stores.close)
        corpus_store = open_corpus_store(settings.home, settings, stores)
        _copy_rows(home / "corpus.db", server)
        began = time.perf_counter()
        corpus = Corpus.open(settings.home, settings, store=corpus_store)
        stack.callback(corpus.close)
        size = int(str(server.execute("SELECT pg_database_size('argot')")[0][0]))
        vector_bytes = _measure_bytes(scratch / "chroma")
        print(
            f"\n{count:,} on servers: {size / 1e6:,.0f} MB in PostgreSQL, {vector_bytes / 1e6:,.0f} MB "
            f"of Chroma, opened in {time.perf_counter() - began:.1f} s",
            flush=True,
        )
        yield corpus
        print(f"Chroma's server took {measure_resident(chroma.pid)[0] / 1e6:,.0f} MB of memory", flush=True)


def _copy_vectors(generation: Path, data: Path) -> None:
    """Copy vectors into a server's folder, as a database with the generation's name."""
    data.parent.mkdir()
    shutil.copytree(generation, data)
    with closing(sqlite3.connect(data / "chroma.sqlite3")) as connection, connection:
        connection.execute("UPDATE databases SET name = ? WHERE name = 'default_database'", (f"argot-{ON_SERVER}",))


def _copy_rows(corpus: Path, server: PostgresqlServer) -> None:
    began = time.perf_counter()
    tables = [table.name for table in list_moved_tables(CORPUS) if table.name != "meta"]
    # An administrator's connection, to which row-level security does not apply: COPY refuses it.
    with (
        closing(sqlite3.connect(corpus)) as rows,
        psycopg.connect(server.url("argot"), options=f"-c search_path={DEFAULT_SCHEMA}") as copied,
    ):
        for table in [*tables, *sorted(RANKED_TABLES)]:
            _copy_table(rows, copied, table)
        for name, (table, column) in {"passages": ("passages", "n"), "audiences": ("audiences", "n")}.items():
            copied.execute(f"SELECT setval(pg_get_serial_sequence('{name}', '{column}'), max({column})) FROM {table}")
        for row in ((LIVE, ON_SERVER), (SERVER_ID, OWN_ID)):
            copied.execute("INSERT INTO meta (key, value) VALUES (%s, %s)", row)
    with psycopg.connect(server.url("argot"), autocommit=True) as kept:
        kept.execute("VACUUM ANALYZE")
    say("rows copied to PostgreSQL", began)


def _copy_table(rows: sqlite3.Connection, copied: psycopg.Connection, table: str) -> None:
    found = rows.execute(f"SELECT * FROM {table}")
    columns = ", ".join(f'"{column}"' for column, *_ in found.description)
    with copied.cursor().copy(f"COPY {table} ({columns}) FROM STDIN") as writer:
        for row in found:
            writer.write_row([ON_SERVER if value == GENERATION else value for value in row])


def _measure_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
