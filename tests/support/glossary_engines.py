"""Glossaries on each engine, for the suites that both must pass."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from argot.jargon_db import Glossary
from argot.postgresql.connection import PostgresqlConnection
from argot.postgresql.stores import PostgresqlStores

ENGINES = ("sqlite", "postgresql")
_TABLES = (
    "verified_answers",
    "contexts", "terms", "senses", "aliases", "sense_search", "changes", "history", "accepted_conflicts", "misses",
    "miss_questions", "proposals", "proposal_voices", "digests", "uses", "mined",
)  # fmt: skip


class GlossaryServer:
    """The glossaries of all tests on PostgreSQL: one schema per name, which is emptied instead of created again."""

    def __init__(self, server: Any) -> None:
        self.url = server.url("postgres")
        self._prefix = f"g{secrets.token_hex(6)}"
        self._stores: dict[str, PostgresqlStores] = {}

    def schema(self, name: str) -> str:
        return f"{self._prefix}_{name}"

    def stores(self, name: str) -> PostgresqlStores:
        if name not in self._stores:
            self._stores[name] = PostgresqlStores(self.url, self.schema(name))
        return self._stores[name]

    def empty(self, name: str) -> None:
        Glossary.on(self.stores(name)).close()
        deletes = "".join(f"DELETE FROM {table};" for table in _TABLES)
        with psycopg.connect(self.url, options=f"-c search_path={self.schema(name)}") as connection:
            # Without the triggers that protect the history.
            connection.execute(f"SET session_replication_role = replica; {deletes} UPDATE glossary_meta SET value = 1")  # type: ignore[arg-type]

    def close(self) -> None:
        for stores in self._stores.values():
            stores.close()


class Glossaries:
    """The glossaries of one test, by name, on one engine."""

    def __init__(self, engine: str, folder: Path, server: GlossaryServer | None) -> None:
        self.engine, self.folder, self.server = engine, folder, server
        self._opened: list[Glossary] = []
        self._begun: set[str] = set()

    def open(self, name: str = "glossary") -> Glossary:
        """Open the glossary of this name, again if it is open already; it is empty at first."""
        if name not in self._begun:
            return self.empty(name)
        opened = Glossary.on(self.server.stores(name)) if self.server else Glossary.open(self.folder / f"{name}.db")
        self._opened.append(opened)
        return opened

    def empty(self, name: str = "glossary") -> Glossary:
        """Open the glossary of this name after emptying it."""
        self._begun.add(name)
        if self.server:
            self.server.empty(name)
        else:
            for file in self.folder.glob(f"{name}.db*"):
                file.unlink()
        return self.open(name)

    def indexed(self, glossary: Glossary) -> list[tuple[Any, ...]]:
        """Return the id of each sense in the search index, and the words of its terms and aliases."""
        sql = "SELECT rowid, trim(term || ' ' || aliases) FROM sense_search ORDER BY rowid"
        if self.server:
            words = "SELECT string_agg(lexeme, ' ' ORDER BY lexeme) FROM unnest(words) WHERE 'A' = ANY (weights)"
            sql = f"SELECT sense, ({words}) FROM sense_search ORDER BY sense"
        rows = glossary._connections.reader().execute(sql).fetchall()
        return [(number, " ".join(sorted(set(words.split())))) for number, words in rows]

    def rows(self, glossary: Glossary, table: str) -> int:
        return int(glossary._connections.reader().execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    @contextmanager
    def statements(self, glossary: Glossary) -> Iterator[list[str]]:
        """Collect the statements that readers of this thread execute within the block."""
        said: list[str] = []
        if not self.server:
            reader: Any = glossary._connections.reader()
            reader.set_trace_callback(said.append)
            yield said
            reader.set_trace_callback(None)
            return
        with pytest.MonkeyPatch.context() as patch:
            run = PostgresqlConnection.execute

            def noted(self: Any, sql: str, *args: Any, **kwargs: Any) -> Any:
                said.append(sql)
                return run(self, sql, *args, **kwargs)

            patch.setattr(PostgresqlConnection, "execute", noted)
            yield said

    def close(self) -> None:
        for glossary in self._opened:
            glossary.close()
