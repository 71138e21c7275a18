"""The columns of imported lists as a person corrected them, by the name of the file."""

from __future__ import annotations

import json
from collections.abc import Mapping

from argot.jargon_db.store.connections import Connections

_READ = "SELECT columns FROM import_columns WHERE name = :name"
_KEEP = """
INSERT INTO import_columns (name, columns) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET columns = excluded.columns
"""


def read_columns(connections: Connections, name: str) -> dict[str, str]:
    """Return the field of each corrected column; empty if nobody corrected a list of this name."""
    row = next(iter(connections.select(_READ, name=name.casefold())), None)
    return {} if row is None else dict(json.loads(row["columns"]))


def keep_columns(connections: Connections, name: str, columns: Mapping[str, str]) -> None:
    with connections.writing() as connection:
        connection.execute(_KEEP, (name.casefold(), json.dumps(dict(columns))))
