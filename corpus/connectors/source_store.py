"""The sources of a knowledge base and the documents of each at the last sync: two tables of corpus.db.

They are stored beside the documents, so that a rename and its record are one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias, cast

from argot.clock import timestamp
from argot.corpus.database import CorpusDatabase
from argot.corpus.store.row_mapping import dump_audience, load_audience
from argot.corpus.store.upserts import upsert
from argot.databases import Connection
from argot.errors import Conflict, NotFound
from argot.types import EVERYONE, Audience

SourceKind: TypeAlias = Literal["folder", "git", "web", "imap", "confluence", "sharepoint", "loader"]
SyncState: TypeAlias = Literal["new", "syncing", "synced", "held", "failed"]
"""`held`: synced except for deletions that wait for a confirmation."""
Outcome: TypeAlias = Literal["due", "in", "duplicate", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class SyncProblem:
    """A document of a source that could not be added, and the reason."""

    name: str
    uri: str
    detail: str


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A source. Times are in UTC, ISO 8601; `every` is in seconds, 0 if there is no automatic sync.

    `options` depend on the kind; where one is `{"variable": NAME}`, its value is in that environment variable.
    `audience` and `tags` apply to its documents. `failures`: attempts since the last success. `counts` and the first
    `problems` are of the last sync that did not fail; `gone` has the first names of the documents whose removal waits
    for a confirmation; `counts` has the number of all.
    """

    name: str
    kind: SourceKind
    address: str
    options: dict[str, Any]
    audience: Audience = EVERYONE
    tags: tuple[str, ...] = ()
    every: int = 0
    added_at: str = ""
    state: SyncState = "new"
    detail: str = ""
    tried_at: str | None = None
    synced_at: str | None = None
    failures: int = 0
    documents: int = 0
    failed: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    problems: tuple[SyncProblem, ...] = ()
    gone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredItem:
    """A document of a source as it was last synced. `document`: the stored one; of a duplicate, its twin.

    `failures` in a row, the last of them at `tried_at` with the stamp `tried_stamp`.
    """

    uri: str
    stamp: str
    outcome: Outcome
    document: str | None = None
    content_hash: str | None = None
    detail: str = ""
    failures: int = 0
    tried_at: str = ""
    tried_stamp: str = ""

    @property
    def has_document(self) -> bool:
        """True where the item has brought a document of its own."""
        return self.document is not None and self.outcome != "duplicate"


FIRST_RETRY_SECONDS = 60
"""Doubled by each failure."""
DAY_SECONDS = 86_400
_COLUMNS = """s.name, s.kind, s.address, s.options, s.audience, s.tags, s.every, s.added_at, s.state,
    s.detail, s.tried_at, s.synced_at, s.failures,
    (SELECT count(*) FROM source_items AS i WHERE i.source = s.name AND i.document IS NOT NULL
        AND i.outcome != 'duplicate'),
    (SELECT count(*) FROM source_items AS i WHERE i.source = s.name AND i.outcome = 'failed'),
    s.last_sync"""
_ITEM_COLUMNS = "uri, stamp, outcome, document, content_hash, detail, failures, tried_at, tried_stamp"


def compute_retry_seconds(failures: int, longest: int = DAY_SECONDS) -> int:
    """Return the pause after this many failures in a row: two minutes, then four, and so on, up to the maximum."""
    return min(FIRST_RETRY_SECONDS << min(failures, 20), longest)


class SourceStore:
    """Safe to use from several threads."""

    def __init__(self, database: CorpusDatabase) -> None:
        self._database = database

    # -- sources ----------------------------------------------------------------------------------------------------

    def add(self, new: SourceRecord) -> SourceRecord:
        """Store a new source.

        Raises:
            Conflict: there is one of this name.
        """
        values = (
            *(new.name, new.kind, new.address, json.dumps(new.options, ensure_ascii=False)),
            *(dump_audience(new.audience), json.dumps(new.tags, ensure_ascii=False)),
            *(new.every, timestamp()),
        )
        with self._database.writing() as connection:
            if connection.execute("SELECT 1 FROM sources WHERE name = ?", (new.name,)).fetchone():
                raise Conflict(f"There is a source '{new.name}' already. Give this one another name.")
            connection.execute(
                """INSERT INTO sources (name, kind, address, options, audience, tags, every, added_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
                values,
            )
        return self.get_source(new.name)

    def list_sources(self) -> list[SourceRecord]:
        rows = self._connection.execute(f"SELECT {_COLUMNS} FROM sources AS s ORDER BY s.name")  # noqa: S608
        return [_record(row) for row in rows]

    def get_source(self, name: str) -> SourceRecord:
        """
        Raises:
            NotFound
        """
        sql = f"SELECT {_COLUMNS} FROM sources AS s WHERE s.name = ?"  # noqa: S608
        row = self._connection.execute(sql, (name,)).fetchone()
        if row is None:
            raise NotFound(f"There is no source '{name}'. See them all with: argot source list")
        return _record(row)

    def remove(self, name: str) -> None:
        """Remove a source; its documents stay."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM sources WHERE name = ?", (name,))  # its items are deleted too

    def begin(self, name: str) -> None:
        """Begin a sync. It counts as a failure until it ends, so that one that crashes the process is not repeated at
        once.
        """
        with self._database.writing() as connection:
            connection.execute(
                "UPDATE sources SET state = 'syncing', tried_at = ?, failures = failures + 1 WHERE name = ?",
                (timestamp(), name),
            )

    def finish(  # noqa: PLR0917
        self,
        name: str,
        state: SyncState,
        detail: str,
        mark: str = "",
        counts: Mapping[str, int] | None = None,
        problems: Sequence[SyncProblem] = (),
        gone: Sequence[str] = (),
    ) -> None:
        with self._database.writing() as connection:
            if state == "failed":
                connection.execute("UPDATE sources SET state = ?, detail = ? WHERE name = ?", (state, detail, name))
                return
            some = {kind: number for kind, number in (counts or {}).items() if number}
            summary = {"counts": some, "problems": [asdict(one) for one in problems], "gone": list(gone)}
            connection.execute(
                """UPDATE sources SET state = ?, detail = ?, mark = ?, synced_at = ?, failures = 0, last_sync = ?
                WHERE name = ?""",
                (state, detail, mark, timestamp(), json.dumps(summary, ensure_ascii=False), name),
            )

    def mark(self, name: str) -> str:
        row = self._connection.execute("SELECT mark FROM sources WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else ""

    # -- what they hold ---------------------------------------------------------------------------------------------

    def load_items(self, name: str) -> dict[str, StoredItem]:
        rows = self._connection.execute(
            f"SELECT {_ITEM_COLUMNS} FROM source_items WHERE source = ?",  # noqa: S608
            (name,),
        )
        return {row[0]: StoredItem(*row) for row in rows}

    def reserve_items(self, name: str, uris: Iterable[str]) -> None:
        """Save the documents that will be read, so that their source is known even after a kill."""
        with self._database.writing() as connection:
            connection.executemany(
                "INSERT INTO source_items (source, uri) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [(name, uri) for uri in uris],
            )

    def save_items(self, name: str, items: Sequence[StoredItem]) -> None:
        with self._database.writing() as connection:
            connection.executemany(
                upsert("source_items", ("source", *_ITEM_COLUMNS.split(", ")), ("source", "uri")),
                [(name, *_make_item_row(one)) for one in items],
            )

    def forget(self, name: str, uri: str) -> None:
        with self._database.writing() as connection:
            connection.execute("DELETE FROM source_items WHERE source = ? AND uri = ?", (name, uri))

    def is_held_elsewhere(self, name: str, uri: str) -> bool:
        """Return True if another source contains this document as well."""
        sql = "SELECT 1 FROM source_items WHERE uri = ? AND source != ? AND document IS NOT NULL LIMIT 1"
        return self._connection.execute(sql, (uri, name)).fetchone() is not None

    def rename(self, connection: Connection, name: str, old: str, new: str) -> None:
        """Rename an item within the caller's transaction. The item is due: the new file was read, but not saved."""
        connection.execute("DELETE FROM source_items WHERE source = ? AND uri = ?", (name, new))
        connection.execute("UPDATE source_items SET uri = ?, stamp = '' WHERE source = ? AND uri = ?", (new, name, old))

    @property
    def _connection(self) -> Connection:
        return self._database.connection()


def _make_item_row(item: StoredItem) -> tuple[Any, ...]:
    columns = (item.uri, item.stamp, item.outcome, item.document, item.content_hash, item.detail)
    return *columns, item.failures, item.tried_at, item.tried_stamp


def _record(row: tuple[Any, ...]) -> SourceRecord:
    name, kind, address, options, audience, tags, *rest, last_sync = row
    summary = json.loads(last_sync)
    rest += [summary.get("counts", {}), tuple(SyncProblem(**one) for one in summary.get("problems", ()))]
    rest += [tuple(summary.get("gone", ()))]
    return SourceRecord(
        name,
        cast(SourceKind, kind),
        address,
        json.loads(options),
        load_audience(audience),
        tuple(json.loads(tags)),
        *rest,
    )
