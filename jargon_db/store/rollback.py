"""Rolls changes back: one change with all its rows, or one term to an earlier state.

The steps are planned first, and then executed together, in a separate change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from argot.errors import Conflict, InvalidInput, NotAllowed, NotFound
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.store.accepted_conflicts import withdraw
from argot.jargon_db.store.glossary_writer import Writer
from argot.jargon_db.store.history_entries import may_read_entry
from argot.jargon_db.store.rows import Row, read_context, read_sense, select
from argot.jargon_db.store.snapshots import Snapshot, load_snapshot, record_context, record_sense, sense_of_snapshot
from argot.types import Principal, Sense

_MAX_NAMED = 5
_ENTRIES = "SELECT * FROM history_rows WHERE change = :change ORDER BY id DESC"
_LATER = """
SELECT * FROM history_rows WHERE subject = :subject AND row = :row AND change > :change
  AND (before = after) IS NOT TRUE ORDER BY id DESC
"""
_NOW = """
SELECT * FROM sense_rows WHERE id IN (SELECT row FROM history WHERE subject = 'sense' AND change = :change)
"""
_STATES = """
SELECT * FROM history_rows WHERE subject = 'sense' AND row IN (
    SELECT row FROM history WHERE subject = 'sense' AND key = :key
    UNION SELECT row FROM history WHERE subject = 'sense' AND key_was = :key
) ORDER BY id
"""


@dataclass(frozen=True, slots=True)
class RollbackStep:
    """One row to be set from its stored value to an earlier one. None: absent. `found` is the stored sense."""

    subject: Literal["sense", "context"]
    row: int
    now: Snapshot | None
    then: Snapshot | None
    found: Sense | None = None


def plan_change(writer: Writer, by: Principal, *, change: int, force: bool) -> list[RollbackStep]:
    """Plan the steps that roll back all rows of a change.

    Raises:
        NotFound: there is no such change, or not for `by`.
        NotAllowed: `by` may not read one of its rows.
        Conflict: a row was changed since, and `force` is off.
    """
    rows = list(select(writer.connection, _ENTRIES, {"change": change}))
    readable = [row for row in rows if may_read_entry(by, row)]
    if not readable:
        raise NotFound(f"There is no change {change}. The history shows those there are.")
    # All or nothing: half of a change rolled back would be a state that never existed.
    if len(readable) < len(rows):
        raise NotAllowed(f"Change {change} cannot be rolled back by {by.name}: only who may change all of it can.")
    senses = {row["id"]: read_sense(row) for row in select(writer.connection, _NOW, {"change": change})}
    first: dict[tuple[str, int], RollbackStep] = {}
    blocked: list[Row] = []
    for row in rows:
        if row["before"] == row["after"]:
            continue  # only a conflict was accepted: there is nothing to restore
        # Newest entry first: for a row that the change touched twice, `then` is what the oldest entry found.
        known = first.get((row["subject"], row["row"]))
        found = senses.get(row["row"]) if row["subject"] == "sense" else None
        now = known.now if known else _read_stored(writer, row, found)
        if known is None and now != load_snapshot(row["after"]):
            blocked.append(row)
        first[row["subject"], row["row"]] = RollbackStep(
            row["subject"], row["row"], now, load_snapshot(row["before"]), found
        )
    if blocked and not force:
        raise _build_conflict(writer, by, change, blocked)
    return list(first.values())


def plan_term(writer: Writer, by: Principal, *, term: str, moment: str | int) -> list[RollbackStep]:
    """Plan the steps that restore every sense of a term as of a moment, or right after a change.

    Raises:
        NotFound: the term has no history, or none for `by`.
        InvalidInput: the moment is invalid.
    """
    last = _find_last_change(writer, moment)
    then: dict[int, Snapshot | None] = {}
    latest: dict[int, Row] = {}
    for row in select(writer.connection, _STATES, {"key": normalise(term)}):
        if not may_read_entry(by, row):
            continue
        # Rows are sorted oldest first, so that the last one of each is kept.
        latest[row["row"]] = row
        # Senses made after the moment have no `then`, and are removed.
        if row["change"] <= last:
            then[row["row"]] = load_snapshot(row["after"])
    if not latest:
        raise NotFound(f"There is no history of '{term}'.")
    found = {number: writer.sense(number) for number in latest}
    return [
        RollbackStep("sense", number, _read_stored(writer, row, found[number]), then.get(number), found[number])
        for number, row in latest.items()
    ]


def _read_stored(writer: Writer, row: Row, sense: Sense | None) -> Snapshot | None:
    if row["subject"] == "sense":
        return None if sense is None else record_sense(sense)
    sql = "SELECT * FROM contexts WHERE id = :id AND removed = 0"
    found = next(select(writer.connection, sql, {"id": row["row"]}), None)
    return None if found is None else record_context(read_context(found))


def _find_last_change(writer: Writer, moment: str | int) -> int:
    """Return the number of the last change up to a moment."""
    if isinstance(moment, int):
        return moment
    try:
        given_time = datetime.fromisoformat(moment)
    except ValueError:
        raise InvalidInput(f"{moment!r} is no moment; write it like 2027-01-31 or 2027-01-31T12:00:00.") from None
    # Compared as text with what is stored: UTC, in milliseconds.
    at = (
        (given_time if given_time.tzinfo else given_time.replace(tzinfo=UTC))
        .astimezone(UTC)
        .isoformat(timespec="milliseconds")
    )
    # By number: numbers increase even when a clock is set back.
    row = writer.connection.execute("SELECT coalesce(max(id), 0) FROM changes WHERE at <= ?", (at,)).fetchone()
    return int(row[0])


def _build_conflict(writer: Writer, by: Principal, change: int, blocked: Sequence[Row]) -> Conflict:
    named: list[str] = []
    later: set[int] = set()
    for row in blocked:
        values = {"subject": row["subject"], "row": row["row"], "change": change}
        entry = next((one for one in select(writer.connection, _LATER, values) if may_read_entry(by, one)), None)
        if entry is not None:
            later.add(entry["change"])
            named.append(f"{_name_entry(entry)} by {entry['who']} (change {entry['change']}, {entry['at'][:10]})")
    shown = "; ".join(named[:_MAX_NAMED]) + (f"; and {len(named) - _MAX_NAMED} more" if len(named) > _MAX_NAMED else "")
    return Conflict(
        f"Change {change} was not rolled back, for it was built on since: {shown or 'its rows were changed'}. Roll"
        " those back first, or overwrite them by force.",
        changes=tuple(sorted(later, reverse=True)),
    )


def _name_entry(entry: Row) -> str:
    snapshot = load_snapshot(entry["after"]) or load_snapshot(entry["before"]) or {}
    return (
        f"'{snapshot['term']}' in '{snapshot['context']}'"
        if "term" in snapshot
        else f"the context '{snapshot['context']}'"
    )


def take(writer: Writer, steps: Iterable[RollbackStep]) -> None:
    """Execute the steps that change anything.

    Contexts are created before the senses that need them, and removed after those that leave them.

    All senses are freed first, because one may take the place of another.
    """
    needed = [step for step in steps if step.now != step.then]
    contexts = [step for step in needed if step.subject == "context"]
    senses = [step for step in needed if step.subject == "sense"]
    for step in contexts:
        if step.then is not None:
            snapshot = step.then
            audience = frozenset(snapshot["audience"])
            writer.put_context(snapshot["context"], snapshot["description"], snapshot["contact"], audience)
    moving = [(step, step.found) for step in senses if step.then is not None]
    # Before any sense is set: a removed one may hold the place of a restored one.
    writer.remove_senses([step.found for step in senses if step.then is None and step.found is not None])
    _make_room(writer, [found for step, found in moving if found is not None and _is_moving(step)])
    for step, found in moving:
        assert step.then is not None
        if found is None:
            writer.restore_sense(step.row, step.then)
        else:
            writer.set_sense(found, sense_of_snapshot(step.row, step.then))
    _remove_contexts(writer, (step for step in contexts if step.then is None))


def reopen_conflicts(writer: Writer, change: int, steps: Iterable[RollbackStep]) -> None:
    """Reopen the conflicts that the change accepted. Senses without a step of their own are recorded unchanged in the
    history, so that each has an entry.
    """
    entered = {step.row for step in steps if step.subject == "sense"}
    numbers = [number for number in withdraw(writer, change) if number not in entered]
    for sense in writer.senses(numbers).values():
        writer.record_unchanged(sense)


def _is_moving(step: RollbackStep) -> bool:
    return any((step.now or {}).get(name) != (step.then or {}).get(name) for name in ("term", "context", "expansion"))


def _make_room(writer: Writer, senses: Iterable[Sense]) -> None:
    for sense in senses:
        writer.require_managed(sense.context)
        writer.set_aside(sense.id)


def _remove_contexts(writer: Writer, steps: Iterable[RollbackStep]) -> None:
    for step in steps:
        found = next(select(writer.connection, "SELECT * FROM contexts WHERE id = :id", {"id": step.row}))
        writer.require_managed(found["name"], new=True)
        used = "SELECT 1 FROM senses WHERE context = ? AND removed = 0 LIMIT 1"
        # A context to which others have added senses meanwhile stays.
        if not found["removed"] and writer.connection.execute(used, (step.row,)).fetchone() is None:
            writer.remove_context(read_context(found))
