"""Conflicts that a manager has looked at and lets stand: they leave the list until one of their senses says another
thing.

They need no table of their own. A change that lets senses stand side by side has a row in the history for each, which
leaves it as it is; so the history says who, when and why, and what the senses said at that time.
"""

from __future__ import annotations

import datetime
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from argot.errors import InvalidInput, NotFound
from argot.jargon_db.conflicts import Conflicts, SenseWarning, WarningKind
from argot.jargon_db.governance import seen_sense
from argot.jargon_db.history import ChangeSet, may_read_entry
from argot.jargon_db.roll_back import RollingBack
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
_NEVER: frozenset[WarningKind] = frozenset(["review_due"])


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
class _Decision:
    change: int
    at: str
    who: str
    why: str
    kind: str
    kinds: frozenset[str]
    senses: dict[int, Snapshot] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Weighed:
    """The conflicts of a glossary: those to look at, and those that are let stand."""

    open: tuple[SenseWarning, ...]
    accepted: tuple[Accepted, ...]


class LettingStand(Conflicts, RollingBack):
    """The part of `Glossary` that tells open conflicts from those that are let stand."""

    def let_stand(self, by: Principal, kind: str, senses: Sequence[tuple[int, int]], why: str = "") -> int:
        """Lets a conflict stand: of this kind, between these senses, each named with the version that was seen.

        Returns the change's number; rolled back, the conflict is to be looked at again.

        Raises:
            NotFound: there is no such open conflict, or not for `by`.
            Conflict: one of the senses was saved in the meantime; nothing was changed.
            NotAllowed: the context of one of them is not `by`'s to manage.
            InvalidInput: it is a review that is due, which a new date settles.
        """
        if kind in _NEVER:
            raise InvalidInput("A review that is due is settled by a new date, or by retiring the sense.")
        numbers = {number for number, _ in senses}
        if not any(one.kind == kind and set(one.senses) == numbers for one in self.conflicts(by)):
            raise NotFound("There is no such conflict any more. Conflicts lists those there are.")
        with self._changing(by, "let stand", why=why, name=kind) as writer:
            for sense_id, version in dict(senses).items():
                writer.let_stand(seen_sense(writer, by, sense_id, version))
            return writer.journal.change

    def take_up(self, by: Principal, change: int, why: str = "") -> ChangeSet:
        """Has what a change let stand looked at again: the change is rolled back.

        Raises:
            NotFound: it lets nothing stand that `by` may know of.
            InvalidInput: it also changed a sense, so that more than this would be taken back.
            NotAllowed: the context of one of its senses is not `by`'s to manage.
        """
        found = next((one for one in self.accepted_conflicts(by) if one.change == change), None)
        if found is None:
            raise NotFound(f"Change {change} lets no conflict stand. Accepted conflicts name the changes that do.")
        if not found.alone:
            raise InvalidInput(
                f"Change {change} also changed a meaning ({found.kind}). Retire one of the meanings, or roll the change"
                " back with all it did."
            )
        return self.roll_back(by, change, why=why)

    def weigh(self, principal: Principal, *, today: str | None = None) -> Weighed:
        """All conflicts the principal may know of; `today` is an ISO date, by which reviews are due."""
        day = today or datetime.datetime.now(datetime.UTC).date().isoformat()
        found = self.found_conflicts(principal, day)
        decisions = self._decisions(principal, found)
        open_: list[SenseWarning] = []
        accepted: list[Accepted] = []
        for one in found:
            by = next((each for each in decisions.get(one.senses[0], ()) if _covers(each, one)), None)
            if by is None:
                open_.append(one)
            else:
                accepted.append(Accepted(one, by.change, by.at, by.who, by.why, by.kind))
        return Weighed(tuple(open_), tuple(sorted(accepted, key=lambda one: -one.change)))

    def conflicts(self, principal: Principal, *, today: str | None = None) -> list[SenseWarning]:
        """What stands against what and is not let stand, and the senses whose review is due: the worst first."""
        return list(self.weigh(principal, today=today).open)

    def accepted_conflicts(self, principal: Principal) -> list[Accepted]:
        """The conflicts that are let stand, the latest first."""
        return list(self.weigh(principal).accepted)

    def _decisions(self, principal: Principal, found: Iterable[SenseWarning]) -> Mapping[int, list[_Decision]]:
        """The decisions that still hold, as far as the principal may read them, by each sense they are about."""
        about = {number for one in found for number in one.senses}
        made: dict[int, _Decision] = {}
        for row in self._select(_LET_STAND):
            if row["row"] in about and may_read_entry(principal, row):
                kinds = frozenset([row["name"]]) if row["kind"] == "let stand" else _BY_APPROVAL
                told = (row["change"], row["at"], row["who"], row["why"], row["kind"])
                one = made.setdefault(row["change"], _Decision(*told, kinds))
                one.senses[row["row"]] = _said(loaded(row["after"]) or {})
        numbers = json.dumps(sorted({number for one in made.values() for number in one.senses}))
        now = {row["id"]: _said(snapshot_of_sense(sense_of(row))) for row in self._select(_NOW, numbers=numbers)}
        by_sense: defaultdict[int, list[_Decision]] = defaultdict(list)
        for one in made.values():
            for number in _unchanged(one, now):
                by_sense[number].append(one)
        return by_sense


def _unchanged(one: _Decision, now: Mapping[int, Snapshot]) -> Iterator[int]:
    """The senses that still say what was judged; the others are taken out of the decision."""
    for number in list(one.senses):
        if now.get(number) == one.senses[number]:
            yield number
        else:
            del one.senses[number]


def _covers(one: _Decision, warning: SenseWarning) -> bool:
    return warning.kind in one.kinds and all(number in one.senses for number in warning.senses)


def _said(kept: Snapshot) -> Snapshot:
    return {name: kept.get(name) for name in _SAID}
