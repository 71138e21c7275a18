"""The history: who changed what, when and why, limited to what the principal may know, and rolling back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from argot.errors import Conflict, InvalidInput
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.history_entries import GUARDS, ChangeSet, HistoryEntry, build_entry, may_read_entry
from argot.jargon_db.store.relation_rights import hide_recorded_relations
from argot.jargon_db.store.rollback import plan_change, plan_term, reopen_conflicts, take
from argot.jargon_db.store.rows import Row
from argot.types import Principal

_ALL = "SELECT * FROM history_rows ORDER BY id DESC"
_OF_ROW = "SELECT * FROM history_rows WHERE subject = :subject AND row = :row ORDER BY id DESC"
_OF_CHANGE = "SELECT * FROM history_rows WHERE change = :change ORDER BY id"
_OF_TERM = """
SELECT * FROM history_rows
WHERE subject = 'sense' AND row IN (
    SELECT row FROM history WHERE subject = 'sense' AND key = :key
    UNION SELECT row FROM history WHERE subject = 'sense' AND key_was = :key
) ORDER BY id DESC
"""
_CHANGES = """
SELECT changes.*, (SELECT max(later.id) FROM changes AS later WHERE later.undoes = changes.id) AS undone_by
FROM changes WHERE id < :below ORDER BY id DESC LIMIT :most
"""
_READABLE_ROWS = f"""
SELECT count(*) AS rows, {", ".join(GUARDS)} FROM history_rows WHERE change = :change GROUP BY {", ".join(GUARDS)}
"""  # noqa: S608
_MAX_NAMES = 3
"""Number of terms named with a change."""
_PAGE_ROWS = 200
"""Number of changes that are read at a time."""
_BEYOND = 2**62
"""Greater than the number of any change."""


class History:
    """Every change to one glossary: who, when, why, and each row before and after."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def entries(
        self,
        principal: Principal,
        *,
        term: str | None = None,
        sense_id: int | None = None,
        context_id: int | None = None,
        change: int | None = None,
        limit: int | None = 200,
    ) -> list[HistoryEntry]:
        """Return the history, newest first: of every sense that ever had this term, of one sense, of one context, of
        one change, or of all.

        An entry is for people who may read the sense and its context, by their present audiences and by those at that
        time.
        """
        found: list[HistoryEntry] = []
        for row in self._read_rows(term, sense_id, context_id, change):
            # Rows are read one by one, so that a long history is not read to its end.
            if limit is not None and len(found) >= limit:
                break
            if may_read_entry(principal, row):
                found.append(build_entry(row))
        return self._hide_relations(principal, found)

    def _hide_relations(self, principal: Principal, entries: list[HistoryEntry]) -> list[HistoryEntry]:
        snapshots = [kept for one in entries for kept in (one.before, one.after)]
        shown = iter(hide_recorded_relations(self._connections.reader(), principal, snapshots))
        return [replace(one, before=next(shown), after=next(shown)) for one in entries]

    def changes(self, principal: Principal, limit: int = 50) -> list[ChangeSet]:
        """Return the changes of which the principal may read at least one row, newest first."""
        found: list[ChangeSet] = []
        for row in self._read_newest_changes():
            if len(found) >= limit:
                break
            # Counting checks the guards of each change; a principal who sees all needs none.
            rows = row["rows"] if principal.sees_all else self._count_readable(principal, row["id"])
            if rows:
                found.append(ChangeSet(**{**row, "rows": rows}, about=self._name_subjects(principal, row["id"])))
        return found

    def roll_back(
        self,
        by: Principal,
        change: int | None = None,
        *,
        term: str | None = None,
        moment: str | int | None = None,
        why: str = "",
        force: bool = False,
    ) -> ChangeSet:
        """Undo a change (such as an import); or restore every sense of a term as of a moment.

        The moment is a date or time in ISO form (UTC unless stated otherwise), or a change, which means directly after
        it. With `force`, later changes are overwritten; history keeps them, so that this can be undone too.

        Raises:
            NotFound: there is no such change or term, or not for `by`.
            NotAllowed: `by` may not read or manage one of its rows.
            Conflict: a row was changed since, or its place is taken; the message names them. Nothing was changed.
            InvalidInput: it is neither a change, nor a term with a moment.
        """
        if change is not None and term is None:
            steps, reason = partial(plan_change, change=change, force=force), f"Change {change} rolled back."
        elif term is not None and moment is not None and change is None:
            when = f"after change {moment}" if isinstance(moment, int) else f"at {moment}"
            steps, reason = partial(plan_term, term=term, moment=moment), f"'{term}' as it was {when}."
        else:
            raise InvalidInput("Say which change to roll back, or a term and the moment to take it back to.")
        with self._connections.changing(by, "roll back", why=why or reason, undoes=change) as writer:
            found = steps(writer, by)
            take(writer, found)
            if change is not None:
                reopen_conflicts(writer, change, found)
            # Raised within the change, which is thereby undone completely.
            if not writer.journal.rows:
                raise Conflict("There is nothing to roll back: everything is as it was then.")
        return next(one for one in self.changes(by) if one.id == writer.number)

    def _read_newest_changes(self) -> Iterator[Row]:
        below = _BEYOND
        while page := list(self._connections.select(_CHANGES, below=below, most=_PAGE_ROWS)):
            yield from page
            below = page[-1]["id"]

    def _name_subjects(self, principal: Principal, change: int) -> tuple[str, ...]:
        names: dict[str, None] = {}
        for row in self._connections.stream(_OF_CHANGE, change=change):
            if len(names) >= _MAX_NAMES:
                break
            if may_read_entry(principal, row):
                entry = build_entry(row)
                names[entry.term or entry.context] = None
        return tuple(names)

    def _read_rows(
        self, term: str | None, sense_id: int | None, context_id: int | None, change: int | None
    ) -> Iterator[Row]:
        if change is not None:
            return self._connections.stream(_OF_CHANGE, change=change)
        if sense_id is not None:
            return self._connections.stream(_OF_ROW, subject="sense", row=sense_id)
        if context_id is not None:
            return self._connections.stream(_OF_ROW, subject="context", row=context_id)
        return (
            self._connections.stream(_ALL) if term is None else self._connections.stream(_OF_TERM, key=normalise(term))
        )

    def _count_readable(self, principal: Principal, change: int) -> int:
        groups = self._connections.select(_READABLE_ROWS, change=change)
        return sum(row["rows"] for row in groups if may_read_entry(principal, row))
