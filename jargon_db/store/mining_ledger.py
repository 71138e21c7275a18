"""A ledger of mined texts, with which mining resumes where it stopped and reads nothing twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from argot.jargon_db.store.connections import Connections

MINER = 1
"""Incremented when mining learns to find more: then everything is read again."""

_READ = "SELECT source FROM mined WHERE reader = ?"
_MARK = "INSERT INTO mined (source, reader) VALUES (?, ?) ON CONFLICT (source) DO UPDATE SET reader = excluded.reader"


class MiningLedger:
    """Remembers which sources were mined. A source is a text that never changes, by any name."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def list_unmined(self, sources: Iterable[str]) -> list[str]:
        """List the sources that were not mined yet, in their order."""
        # All of them at once: there are as many as documents, and single queries would take longer.
        read = {row[0] for row in self._connections.reader().execute(_READ, (MINER,))}
        return [source for source in sources if source not in read]

    def mark_mined(self, sources: Sequence[str]) -> None:
        with self._connections.writing() as connection:
            connection.executemany(_MARK, [(source, MINER) for source in sources])
