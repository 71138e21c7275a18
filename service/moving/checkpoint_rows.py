"""LangGraph's checkpoints as rows that are the same on both engines.

Its savers store them in tables of their own. SQLite's has a checkpoint in one value; PostgreSQL's has its large parts
in a second table, one row for each version of a channel. A checkpoint is therefore split into texts and bytes, and
reassembled as the other saver would have written it. Pending writes of a thread have the same columns in both.
"""

# ruff: noqa: S608  only names of our own tables and columns are put into SQL
from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from argot.databases import Connection, replace_nul
from argot.service.moving.moved_rows import Row, convert_row, fetch_rows
from argot.service.threads.thread_database import make_checkpoint_serializer

_KEY = "thread_id, checkpoint_ns, checkpoint_id"
_JOIN = "join:"
"""Name prefix of LangGraph's channels where branches join."""
_HEAD = 6
"""Values of a row before those of its channels."""
_BLOBS = """
    SELECT b.channel, b.type, b.blob FROM checkpoint_blobs AS b
    JOIN jsonb_each_text(CAST(? AS jsonb) -> 'channel_versions') AS v ON b.channel = v.key AND b.version = v.value
    WHERE b.thread_id = ? AND b.checkpoint_ns = ? AND b.type != 'empty'
"""


class CheckpointRows:
    """A row: thread, namespace, id, parent, everything but the values as JSON, metadata as JSON, and for each channel
    with a value, in the order of their names, its name, type and bytes.
    """

    name = "checkpoints"

    def __init__(self) -> None:
        self._serde = make_checkpoint_serializer()

    def count(self, connection: Connection) -> int:
        return int(connection.execute("SELECT count(*) FROM checkpoints").fetchone()[0])

    def read(self, connection: Connection) -> Iterator[Row]:
        if isinstance(connection, sqlite3.Connection):
            sql = f"SELECT {_KEY}, parent_checkpoint_id, type, checkpoint, metadata FROM checkpoints ORDER BY {_KEY}"
            for *place, kind, data, metadata in fetch_rows(connection, sql):
                checkpoint = self._serde.loads_typed((kind, data))
                values = {
                    name: self._serde.dumps_typed(_make_storable(value))
                    for name, value in _take_values(checkpoint).items()
                }
                yield _make_row(place, checkpoint, json.loads(metadata) if metadata else {}, values)
            return
        columns = "parent_checkpoint_id, CAST(checkpoint AS text), CAST(metadata AS text)"
        for *place, text, metadata in fetch_rows(
            connection, f"SELECT {_KEY}, {columns} FROM checkpoints ORDER BY {_KEY}"
        ):
            checkpoint = json.loads(text)
            values = {name: self._serde.dumps_typed(value) for name, value in _take_values(checkpoint).items()}
            found = connection.execute(_BLOBS, (text, place[0], place[1])).fetchall()
            values |= {channel: (kind, bytes(data)) for channel, kind, data in found}
            yield _make_row(place, checkpoint, json.loads(metadata), values)

    def normalize_row(self, row: Row) -> Row:
        """Sort the sets in a row: a channel where branches of the graph join contains the arrived ones, in an order
        that differs from process to process.
        """
        channels = (
            (name, *(self._sort_set(kind, data) if name.startswith(_JOIN) else (kind, data)))
            for name, kind, data in _read_channels(row)
        )
        return (*row[:_HEAD], *(part for channel in channels for part in channel))

    def _sort_set(self, kind: str, data: bytes) -> tuple[str, bytes]:
        value = self._serde.loads_typed((kind, data))
        return self._serde.dumps_typed(sorted(value)) if isinstance(value, set) else (kind, data)

    def insert(self, connection: Connection, rows: Sequence[Row]) -> None:
        for row in rows:
            checkpoint = json.loads(row[4])
            typed = {name: (kind, data) for name, kind, data in _read_channels(row)}
            values = {name: self._serde.loads_typed(value) for name, value in typed.items()}
            if isinstance(connection, sqlite3.Connection):
                kind, data = self._serde.dumps_typed({**checkpoint, "channel_values": values})
                sql = f"INSERT INTO checkpoints ({_KEY}, parent_checkpoint_id, type, checkpoint, metadata)"
                connection.execute(f"{sql} VALUES (?, ?, ?, ?, ?, ?, ?)", (*row[:4], kind, data, row[5].encode()))
            else:
                _insert_apart(connection, row, checkpoint, values, typed)


def _make_storable(value: Any) -> Any:
    """Remove U+0000 from a text beside a checkpoint, which is JSON on PostgreSQL and cannot contain it. Other values
    contain it in bytes.
    """
    return replace_nul(value) if isinstance(value, str) else value


def _take_values(checkpoint: dict[str, Any]) -> dict[str, Any]:
    """Remove the values of the channels from the checkpoint and return them."""
    return checkpoint.pop("channel_values", None) or {}


def _make_row(place: Sequence[Any], checkpoint: Any, metadata: Any, values: dict[str, tuple[str, bytes]]) -> Row:
    channels = (part for name in sorted(values) for part in (name, *values[name]))
    return (*place, _dump_json(checkpoint), _dump_json(metadata), *channels)


def _read_channels(row: Row) -> Iterator[tuple[str, str, bytes]]:
    for start in range(_HEAD, len(row), 3):
        yield row[start], row[start + 1], row[start + 2]


def _dump_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _insert_apart(
    connection: Connection,
    row: Row,
    checkpoint: dict[str, Any],
    values: dict[str, Any],
    typed: dict[str, tuple[str, bytes]],
) -> None:
    """Insert values apart from their checkpoint as LangGraph's saver does: single numbers and texts stay in it."""
    versions = checkpoint.get("channel_versions", {})
    beside = [name for name, value in values.items() if not (value is None or isinstance(value, str | int | float))]
    connection.executemany(
        "INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(row[0], row[1], name, str(versions[name]), *typed[name]) for name in beside],
    )
    inline = {name: value for name, value in values.items() if name not in beside}
    connection.execute(
        f"INSERT INTO checkpoints ({_KEY}, parent_checkpoint_id, checkpoint, metadata)"
        " VALUES (?, ?, ?, ?, CAST(? AS jsonb), CAST(? AS jsonb))",
        (*row[:4], _dump_json({**checkpoint, "channel_values": inline}), row[5]),
    )


class WaitingRows:
    """Pending writes of threads: the tables `writes` and `checkpoint_writes`."""

    name = "checkpoint writes"

    def count(self, connection: Connection) -> int:
        return int(connection.execute(f"SELECT count(*) FROM {_describe_table(connection)[0]}").fetchone()[0])

    def read(self, connection: Connection) -> Iterator[Row]:
        table, columns = _describe_table(connection)
        sql = f"SELECT {columns} FROM {table} ORDER BY {_KEY}, task_id, idx"
        return map(convert_row, fetch_rows(connection, sql))

    def insert(self, connection: Connection, rows: Sequence[Row]) -> None:
        table, columns = _describe_table(connection)
        connection.executemany(f"INSERT INTO {table} ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def normalize_row(self, row: Row) -> Row:
        return row


def _describe_table(connection: Connection) -> tuple[str, str]:
    """Return its name, and its columns in Argot's order."""
    columns = f"{_KEY}, task_id, idx, task_path, channel, type"
    if isinstance(connection, sqlite3.Connection):
        return "writes", f"{columns}, value"
    return "checkpoint_writes", f"{columns}, blob"
