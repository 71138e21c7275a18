"""Reads from glossary.db the data of the views in `argot.jargon_db.lookup.views`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from argot.jargon_db.lookup.spelling import Spelling
from argot.jargon_db.lookup.views import Guards
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.rows import encode_list, may_read
from argot.jargon_db.store.snapshots import load_snapshot
from argot.jargon_db.store.statements import load_statement
from argot.types import Principal

_STATE = "SELECT (SELECT value FROM meta WHERE name = 'version'), (SELECT coalesce(max(id), 0) FROM changes)"
_GUARDS = (
    "SELECT DISTINCT senses.audience, contexts.audience "
    "FROM senses JOIN contexts ON contexts.id = senses.context WHERE senses.removed = 0"
)
# Cautious rather than exact: a widened audience counts as well.
_HIDDEN_SINCE = """
SELECT 1 FROM history WHERE change > ? AND (
    audience_was IS NOT NULL OR context_was IS NOT NULL OR (subject = 'context' AND before IS NOT NULL)
) LIMIT 1
"""

_CHANGED = "SELECT before, after FROM history WHERE change > ? AND subject = 'sense' LIMIT ?"
_HIGHEST = "SELECT coalesce(max(id), 0) FROM senses"


class StoredTerms:
    """A `TermSource` over one glossary's connections."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def state(self) -> tuple[int, int]:
        # In one statement, so that both numbers are of the same moment.
        version, change = self._connections.reader().execute(_STATE).fetchone()
        return int(version), int(change)

    def highest_sense(self) -> int:
        return int(self._connections.reader().execute(_HIGHEST).fetchone()[0])

    def guards(self) -> Guards:
        return frozenset((row[0], row[1]) for row in self._connections.reader().execute(_GUARDS))

    def readable_guards(self, principal: Principal, guards: Guards) -> Guards:
        return frozenset(guard for guard in guards if may_read(principal, *guard))

    def was_hidden_since(self, change: int) -> bool:
        return self._connections.reader().execute(_HIDDEN_SINCE, (change,)).fetchone() is not None

    def names_changed_since(self, change: int, most: int) -> set[str] | None:
        # One more than allowed shows that there are too many, without counting them all.
        rows = self._connections.reader().execute(_CHANGED, (change, most + 1)).fetchall()
        return None if len(rows) > most else {name for row in rows for name in _list_names(row)}

    def spellings(self, guards: Guards, keys: Iterable[str] | None = None) -> Iterator[Spelling]:
        if keys is None:
            rows = self._connections.stream(load_statement("matchable"))
        else:
            rows = self._connections.stream(load_statement("matchable_of"), keys=encode_list(sorted(keys)))
        return (
            Spelling(row["term"], row["spelling"], row["key"])
            for row in rows
            if (row["audience"], row["context_audience"]) in guards
        )

    def expansions(self, guards: Guards) -> list[tuple[str, str]]:
        rows = self._connections.stream(load_statement("expansions"))
        return [
            (row["spelling"], row["expansion"]) for row in rows if (row["audience"], row["context_audience"]) in guards
        ]


def _list_names(row: tuple[str | None, ...]) -> Iterator[str]:
    for kept in filter(None, map(load_snapshot, row)):
        # Both before and after: former names of a sense have to leave the view.
        yield from (kept["term"], *kept["aliases"])
