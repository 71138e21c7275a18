"""Conflicts that a manager has accepted: they leave the list until one of their senses changes.

The table `accepted_conflicts` has a row for each sense of each conflict, with the sense's fields at that time. The
history of that change records who accepted it, when and why: people who may not read those entries do not see that it
was accepted.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from argot.jargon_db.store.conflict_rules import SenseWarning, WarningKind
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.glossary_writer import Writer
from argot.jargon_db.store.history_entries import may_read_entry
from argot.jargon_db.store.rows import read_sense
from argot.jargon_db.store.snapshots import Snapshot, dump_snapshot, load_snapshot, record_sense
from argot.types import Principal, Sense

_ADD = """
INSERT INTO accepted_conflicts (change, kind, sense, said) VALUES (?, ?, ?, ?)
ON CONFLICT (change, kind, sense) DO UPDATE SET said = excluded.said
"""
_OF_CHANGE = "SELECT DISTINCT sense FROM accepted_conflicts WHERE change = ? ORDER BY sense"
_WITHDRAW = "DELETE FROM accepted_conflicts WHERE change = ?"
_ALL = """
SELECT accepted_conflicts.kind AS accepted, accepted_conflicts.sense, accepted_conflicts.said, history_rows.*
FROM accepted_conflicts JOIN history_rows ON history_rows.change = accepted_conflicts.change
     AND history_rows.subject = 'sense' AND history_rows.row = accepted_conflicts.sense
ORDER BY accepted_conflicts.change DESC
"""
_NOW = "SELECT * FROM sense_rows WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(:numbers) AS wanted)"
_JUDGED_FIELDS = ("term", "context", "expansion", "description", "notes", "aliases")
"""Fields that decide a conflict; owner and approval do not affect it."""
ACCEPTED_KIND: Final = "let stand"
"""The kind of the change that accepts a conflict, as glossaries have stored it since 0.3."""
BY_APPROVAL: tuple[WarningKind, ...] = ("conflicting_expansion", "duplicate")
"""The kind of conflict that is accepted by approving a second meaning with a reason."""


@dataclass(frozen=True, slots=True)
class AcceptedConflict:
    """A conflict that was accepted: in which change (of this `kind`), by whom and why."""

    warning: SenseWarning
    change: int
    at: str
    who: str
    why: str
    kind: str = ACCEPTED_KIND

    @property
    def alone(self) -> bool:
        """True if the change did nothing else, so that it can be rolled back by itself."""
        return self.kind == ACCEPTED_KIND


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The conflicts that one change accepted: those of the kind `accepted` between any of the senses that are still
    unchanged.
    """

    accepted: str
    change: int
    at: str
    who: str
    why: str
    kind: str
    senses: set[int] = field(default_factory=set)

    def covers(self, warning: SenseWarning) -> bool:
        return warning.kind == self.accepted and self.senses.issuperset(warning.senses)


def record_acceptance(writer: Writer, kinds: Iterable[str], senses: Sequence[Sense]) -> None:
    """Accept, within the writer's change, conflicts of these kinds between these senses in their present state."""
    rows = [
        (writer.journal.change, kind, sense.id, dump_snapshot(_select_judged_fields(sense)))
        for kind in kinds
        for sense in senses
    ]
    writer.connection.executemany(_ADD, rows)


def withdraw(writer: Writer, change: int) -> list[int]:
    """Reopen the conflicts that a change accepted; return the numbers of the senses concerned."""
    senses = [row[0] for row in writer.connection.execute(_OF_CHANGE, (change,))]
    writer.connection.execute(_WITHDRAW, (change,))
    return senses


def find_acceptances(
    connections: Connections, principal: Principal, found: Iterable[SenseWarning]
) -> Mapping[int, list[Acceptance]]:
    """Return the acceptances about the senses of these conflicts that the principal may read, the latest first."""
    about = {number for one in found for number in one.senses}
    rows = [row for row in connections.select(_ALL) if row["sense"] in about and may_read_entry(principal, row)]
    numbers = json.dumps(sorted({row["sense"] for row in rows}))
    now = {row["id"]: _select_judged_fields(read_sense(row)) for row in connections.select(_NOW, numbers=numbers)}
    made: dict[tuple[int, str], Acceptance] = {}
    by_sense: defaultdict[int, list[Acceptance]] = defaultdict(list)
    for row in rows:
        # A sense that changed is excluded; once it has the same content again (an edit rolled back), it is included
        # again.
        if load_snapshot(row["said"]) != now.get(row["sense"]):
            continue
        columns = (row["accepted"], row["change"], row["at"], row["who"], row["why"], row["kind"])
        one = made.setdefault((row["change"], row["accepted"]), Acceptance(*columns))
        # A sense may have several entries in the history of one change.
        if row["sense"] not in one.senses:
            one.senses.add(row["sense"])
            by_sense[row["sense"]].append(one)
    return by_sense


def _select_judged_fields(sense: Sense) -> Snapshot:
    kept = record_sense(sense)
    return {name: kept[name] for name in _JUDGED_FIELDS}
