"""Conflicts that a manager has looked at and lets stand: they leave the list until one of their senses says another
thing.

They need no table of their own. A change that lets senses stand side by side has a row in the history for each, which
leaves it as it is; so the history says who, when and why, and what the senses said at that time.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from argot.jargon_db.conflict_rules import SenseWarning, WarningKind
from argot.jargon_db.connections import Connections
from argot.jargon_db.history_entries import may_read_entry
from argot.jargon_db.rows import sense_of
from argot.jargon_db.snapshots import Snapshot, loaded, snapshot_of_sense
from argot.types import Principal

_LET_STAND = """
SELECT history_rows.*, changes.name FROM history_rows JOIN changes ON changes.id = history_rows.change
WHERE history_rows.subject = 'sense' AND changes.kind NOT IN ('roll back', 'import', 'baseline')
  AND EXISTS (SELECT 1 FROM history AS kept WHERE kept.change = changes.id AND kept.before = kept.after)
  AND NOT EXISTS (SELECT 1 FROM changes AS later WHERE later.undoes = changes.id)
ORDER BY history_rows.change DESC, history_rows.id
"""
_NOW = "SELECT * FROM sense_rows WHERE id IN (SELECT value FROM json_each(:numbers))"
_SAID = ("term", "context", "expansion", "description", "notes", "aliases")
"""What a conflict was judged by; whose the sense is, and whether it answers yet, makes it no other."""
_BY_APPROVAL: frozenset[WarningKind] = frozenset(["conflicting_expansion", "duplicate"])
"""What is let stand by approving a second meaning with a reason."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A conflict that is let stand: since which change (of this `kind`), by whom and why."""

    warning: SenseWarning
    change: int
    at: str
    who: str
    why: str
    kind: str = "let stand"

    @property
    def alone(self) -> bool:
        """Whether the change did nothing else, so that it can be taken back by itself."""
        return self.kind == "let stand"


@dataclass(frozen=True, slots=True)
class Decision:
    """One change that let senses stand side by side, and what they said at that time."""

    change: int
    at: str
    who: str
    why: str
    kind: str
    kinds: frozenset[str]
    senses: dict[int, Snapshot] = field(default_factory=dict)

    def covers(self, warning: SenseWarning) -> bool:
        """Whether it accepts this conflict: of its kind, and between senses that it is about."""
        return warning.kind in self.kinds and all(number in self.senses for number in warning.senses)


def decisions_by_sense(
    connections: Connections, principal: Principal, found: Iterable[SenseWarning]
) -> Mapping[int, list[Decision]]:
    """The decisions that still hold, as far as the principal may read them, by each sense they are about."""
    about = {number for one in found for number in one.senses}
    made: dict[int, Decision] = {}
    for row in connections.select(_LET_STAND):
        if row["row"] in about and may_read_entry(principal, row):
            kinds = frozenset([row["name"]]) if row["kind"] == "let stand" else _BY_APPROVAL
            told = (row["change"], row["at"], row["who"], row["why"], row["kind"])
            one = made.setdefault(row["change"], Decision(*told, kinds))
            one.senses[row["row"]] = _said(loaded(row["after"]) or {})
    numbers = json.dumps(sorted({number for one in made.values() for number in one.senses}))
    now = {row["id"]: _said(snapshot_of_sense(sense_of(row))) for row in connections.select(_NOW, numbers=numbers)}
    by_sense: defaultdict[int, list[Decision]] = defaultdict(list)
    for one in made.values():
        for number in _unchanged(one, now):
            by_sense[number].append(one)
    return by_sense


def _unchanged(one: Decision, now: Mapping[int, Snapshot]) -> Iterator[int]:
    """The senses that still say what was judged; the others are taken out of the decision."""
    for number in list(one.senses):
        if now.get(number) == one.senses[number]:
            yield number
        else:
            del one.senses[number]


def _said(kept: Snapshot) -> Snapshot:
    return {name: kept.get(name) for name in _SAID}
