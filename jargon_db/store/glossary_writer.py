"""Every write to contexts and senses: each goes through `Writer`, which records history and increments versions."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from argot.clock import timestamp
from argot.errors import Conflict, InvalidInput, NotAllowed, build_name_refusal
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.store.details import dump_details
from argot.jargon_db.store.inputs import (
    MAX_EXPANSION_CHARS,
    SenseInput,
    is_storable,
    list_given_fields,
    normalise_context,
)
from argot.jargon_db.store.journal import SYSTEM, ChangeKind, Heading, Journal, Place
from argot.jargon_db.store.relation_rights import hide_relations, keep_hidden_relations
from argot.jargon_db.store.rows import Row, may_read, next_number, read_context, read_sense, select, store_audience
from argot.jargon_db.store.search_words import search_row
from argot.jargon_db.store.snapshots import Snapshot, record_context, record_sense, sense_of_snapshot
from argot.jargon_db.store.writing_connection import WritingConnection
from argot.types import Audience, Context, Principal, Sense

Outcome = Literal["added", "updated", "unchanged"]

_NUMBER = "SELECT id FROM senses WHERE term = ? AND context = ? AND expansion = ? AND removed = 0"
_ROW = "SELECT * FROM sense_rows WHERE id = :id"
_ROWS = "SELECT * FROM sense_rows WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(:numbers) AS wanted)"
_ADD = f"""
INSERT INTO senses (id, term, context, expansion, description, notes, owner, status, audience, review_by, details,
    created, updated) VALUES ({next_number("senses")}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
"""  # noqa: S608
_ADD_TERM = f"INSERT INTO terms (id, spelling, key) VALUES ({next_number('terms')}, ?, ?) RETURNING id"  # noqa: S608
_ADD_CONTEXT = f"""
INSERT INTO contexts (id, name, key, description, contact, audience)
VALUES ({next_number("contexts")}, ?, ?, ?, ?, ?) RETURNING id
"""  # noqa: S608
_SET = (
    "UPDATE senses SET term = ?, context = ?, expansion = ?, description = ?, notes = ?, owner = ?, status = ?,"
    " audience = ?, review_by = ?, details = ?, updated = ?, version = version + 1, removed = 0 WHERE id = ?"
)
_REMOVE = "UPDATE senses SET removed = 1, status = 'retired', expansion = ?, version = version + 1 WHERE id = ?"
_OPEN_AGAIN = "UPDATE proposals SET status = 'open' WHERE sense = ? AND status = 'accepted'"
_DECIDED_AGAIN = "UPDATE proposals SET status = 'accepted' WHERE sense = ? AND status = 'open'"
_SEARCHED = ("term", "aliases", "expansion", "description")


@dataclass(slots=True)
class Writer:
    """Writes within one transaction; `finish` must come last in it.

    With a principal, rows that they may not manage are refused; existing rows that they may not read are refused too,
    since naming a hidden context would otherwise reveal or open it.
    """

    connection: WritingConnection
    principal: Principal | None = None
    heading: Heading = field(default_factory=Heading)
    now: str = field(default_factory=partial(timestamp, "seconds"))
    journal: Journal = field(init=False)
    number: int | None = None
    _contexts: dict[str, Context] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.journal = Journal(self.connection, self.heading)

    @classmethod
    def on_behalf(
        cls,
        connection: WritingConnection,
        by: Principal | None,
        kind: ChangeKind,
        *,
        why: str,
        name: str = "",
        undoes: int | None = None,
    ) -> Writer:
        """Return a writer whose change is attributed to this principal, or to the program itself.

        Raises:
            InvalidInput: the reason cannot be stored.
        """
        if not is_storable(why) or len(why) > MAX_EXPANSION_CHARS:
            raise InvalidInput(
                f"The reason {why[:80]!r} cannot be stored. Say it in at most {MAX_EXPANSION_CHARS:,} characters."
            )
        heading = Heading(SYSTEM if by is None else by.name, why.strip(), kind, name, undoes)
        return cls(connection, by, heading)

    def finish(self) -> int | None:
        """End the change; return its number, or None if nothing changed."""
        self.number = self.journal.finish()
        return self.number

    # -- contexts -------------------------------------------------------------------------------------------------

    def put_context(
        self, name: str, description: str | None, contact: str | None, audience: Audience | None
    ) -> tuple[Context, Outcome]:
        """Add the context, or update its given fields; contexts with the same normalised name are the same."""
        found = self.find_context(name)
        values: dict[str, Any] = {"description": description, "contact": contact, "audience": audience}
        new = {key: value for key, value in values.items() if value is not None}
        if found is None:
            return self._add_context(Context(0, name.strip(), **new)), "added"
        wanted = replace(found, **new)
        if wanted == found:
            return found, "unchanged"
        return self.set_context(found, wanted), "updated"

    def find_context(self, name: str) -> Context | None:
        """Return the context with this name, if there is one.

        Raises:
            NotAllowed: the principal may not manage or read it; or there is none, and they do not manage all.
        """
        found = self._context(name)
        # First, and in the same words for both, so that the error does not reveal whether a hidden context exists.
        self.require_managed(found.name if found else name, new=found is None)
        if found is not None:
            self._require_readable(found.audience, build_name_refusal(name.strip()))
        return found

    def ensure_context(self, name: str) -> tuple[Context, Outcome]:
        """Return the context with this name, which is created if missing; cached for the length of the transaction."""
        key = normalise_context(name)
        if key in self._contexts:
            return self._contexts[key], "unchanged"
        self._contexts[key], outcome = self.put_context(name, None, None, None)
        return self._contexts[key], outcome

    def set_context(self, found: Context, target: Context) -> Context:
        """Write description, contact and audience, and increment the version; the name identifies a context, and
        stays.
        """
        sql = "UPDATE contexts SET description = ?, contact = ?, audience = ?, version = version + 1 WHERE id = ?"
        values = (target.description, target.contact, store_audience(target.audience), found.id)
        self.connection.execute(sql, values)
        place = Place("", found.id)
        self.journal.record("context", found.id, (place, record_context(found)), (place, record_context(target)))
        self._contexts.clear()
        return replace(target, version=found.version + 1)

    def remove_context(self, found: Context) -> None:
        """Remove an unused context; its key is freed for a new one of this name."""
        sql = "UPDATE contexts SET removed = 1, key = ? WHERE id = ?"
        self.connection.execute(sql, (_set_aside(found.id), found.id))
        self.journal.record("context", found.id, (Place("", found.id), record_context(found)), None)
        self._contexts.clear()

    def _context(self, name: str) -> Context | None:
        sql = "SELECT * FROM contexts WHERE key = :key AND removed = 0"
        row = next(select(self.connection, sql, {"key": normalise_context(name)}), None)
        return None if row is None else read_context(row)

    def _add_context(self, context: Context) -> Context:
        values = (context.name, normalise_context(context.name), context.description, context.contact)
        number = self.connection.execute(_ADD_CONTEXT, (*values, store_audience(context.audience))).fetchone()[0]
        added = replace(context, id=number)
        self.journal.record("context", number, None, (Place("", number), record_context(added)))
        return added

    # -- senses ---------------------------------------------------------------------------------------------------

    def put_sense(self, sense_input: SenseInput) -> tuple[int, Outcome, Outcome]:
        """Add or update the sense with this (term, context, expansion).

        Return its id, its outcome, and the outcome of its context.
        """
        context, context_outcome = self.ensure_context(sense_input.context)
        term, is_new = self._term(sense_input.term)
        found = None if is_new else self._sense_at(term, context.id, sense_input.expansion)
        if found is None:
            wanted = Sense(0, sense_input.term, context.name, sense_input.expansion, **list_given_fields(sense_input))
            return self._add_sense(wanted, term, context.id), "added", context_outcome
        return found.id, self.update(found, sense_input), context_outcome

    def update(self, found: Sense, sense_input: SenseInput) -> Outcome:
        """Write the given fields of a stored sense, if they differ from the stored ones."""
        self._require_readable(found.audience, _refuse_meaning(sense_input.term, sense_input.context))
        if self.principal is not None:
            sense_input = keep_hidden_relations(self.connection, self.principal, found, sense_input)
        fields_given = list_given_fields(sense_input)
        if all(getattr(found, name) == value for name, value in fields_given.items()):
            return "unchanged"
        self.set_sense(found, replace(found, **fields_given))
        return "updated"

    def find_sense(self, sense_input: SenseInput) -> Sense | None:
        """Return the sense with this term, context and expansion, if there is one.

        Raises:
            NotAllowed: the principal may not manage the context, or not read one of the two.
        """
        context = self.find_context(sense_input.context)
        if context is None:
            return None
        term = self.connection.execute("SELECT id FROM terms WHERE spelling = ?", (sense_input.term,)).fetchone()
        found = None if term is None else self._sense_at(term[0], context.id, sense_input.expansion)
        if found is not None:
            self._require_readable(found.audience, _refuse_meaning(sense_input.term, sense_input.context))
        return found

    def sense(self, number: int) -> Sense | None:
        """Return the sense with this id, whoever may read it; None if there is none or it was removed."""
        row = self.row(number)
        return None if row is None else read_sense(row)

    def show_sense(self, sense: Sense) -> Sense:
        """Return a sense as the principal may see it."""
        return sense if self.principal is None else hide_relations(self.connection, self.principal, [sense])[0]

    def senses(self, numbers: Sequence[int]) -> dict[int, Sense]:
        """Return the existing ones of these senses, by number."""
        rows = select(self.connection, _ROWS, {"numbers": json.dumps(numbers)})
        return {row["id"]: read_sense(row) for row in rows} if numbers else {}

    def row(self, number: int) -> Row | None:
        return next(select(self.connection, _ROW, {"id": number}), None)

    def set_sense(self, found: Sense, target: Sense) -> None:
        """Write all fields of a sense and increment its version.

        Raises:
            Conflict: there is another sense with this term, context and expansion.
        """
        context, _ = self.ensure_context(target.context)
        self.require_managed(found.context)
        term, _ = self._term(target.term)
        self._write(found.id, target, term, context)
        was = (self._place(found), record_sense(found))
        now = (Place(normalise(target.term), context.id), record_sense(replace(target, context=context.name)))
        self.journal.record("sense", found.id, was, now)
        # Writing the full-text index takes long, and many saves touch none of its columns.
        if any(getattr(found, name) != getattr(target, name) for name in _SEARCHED):
            self.journal.forget(found.id)
            self.journal.index(search_row(target.id, target))

    def add_alias(self, found: Sense, alias: str) -> None:
        """Add an alias to a sense, unless it has it already."""
        self.require_managed(found.context)
        if normalise(alias) not in map(normalise, (found.term, *found.aliases)):
            self.set_sense(found, replace(found, aliases=(*found.aliases, alias)))

    def record_unchanged(self, found: Sense) -> None:
        """Record an unchanged sense in the history: one of its conflicts was accepted or reopened."""
        self.require_managed(found.context)
        as_it_is = (self._place(found), record_sense(found))
        self.journal.record("sense", found.id, as_it_is, as_it_is)

    def restore_sense(self, number: int, snapshot: Snapshot) -> None:
        """Restore a removed sense unchanged."""
        wanted = sense_of_snapshot(number, snapshot)
        context, _ = self.ensure_context(wanted.context)
        term, _ = self._term(wanted.term)
        self._write(number, wanted, term, context)
        now = (Place(normalise(wanted.term), context.id), record_sense(replace(wanted, context=context.name)))
        self.journal.record("sense", number, None, now)
        self.journal.index(search_row(wanted.id, wanted))
        # The proposal from which it was made was reopened when the sense was removed.
        self.connection.execute(_DECIDED_AGAIN, (number,))

    def remove_senses(self, found: Sequence[Sense]) -> None:
        """Remove senses for everyone; history keeps them. The proposals from which they were made are open again."""
        for sense in found:
            self.require_managed(sense.context)
            self.journal.record("sense", sense.id, (self._place(sense), record_sense(sense)), None)
            self.journal.forget(sense.id)
        # Rows stay, since history refers to their numbers; the expansion is freed, so that a new sense may have it.
        self.connection.executemany(_REMOVE, [(_set_aside(sense.id), sense.id) for sense in found])
        self.connection.executemany("DELETE FROM aliases WHERE sense = ?", [(sense.id,) for sense in found])
        self.connection.executemany(_OPEN_AGAIN, [(sense.id,) for sense in found])

    def set_aside(self, number: int) -> None:
        """Free a sense's unique (term, context, expansion)."""
        self.connection.execute(_REMOVE, (_set_aside(number), number))

    def _write(self, number: int, target: Sense, term: int, context: Context) -> None:
        other = self._sense_at(term, context.id, target.expansion)
        if other is not None and other.id != number:
            self._require_readable(other.audience, _refuse_meaning(target.term, context.name))
            raise build_duplicate_error(self.show_sense(other))
        self.connection.execute(_SET, (term, context.id, target.expansion, *self._values(target), self.now, number))
        self.connection.execute("DELETE FROM aliases WHERE sense = ?", (number,))
        self._insert_aliases(number, target.aliases)

    def _add_sense(self, target: Sense, term: int, context: int) -> int:
        values = (term, context, target.expansion, *self._values(target), self.now, self.now)
        number: int = self.connection.execute(_ADD, values).fetchone()[0]
        self._insert_aliases(number, target.aliases)
        self.journal.record("sense", number, None, (Place(normalise(target.term), context), record_sense(target)))
        self.journal.index(search_row(number, target))
        return number

    def _values(self, sense: Sense) -> tuple[str | None, ...]:
        audience = store_audience(sense.audience)
        return (
            sense.description,
            sense.notes,
            sense.owner,
            sense.status,
            audience,
            sense.review_by,
            dump_details(sense),
        )

    def _sense_at(self, term: int, context: int, expansion: str) -> Sense | None:
        found = self.connection.execute(_NUMBER, (term, context, expansion)).fetchone()
        return None if found is None else self.sense(found[0])

    def _place(self, sense: Sense) -> Place:
        return Place(normalise(sense.term), self.ensure_context(sense.context)[0].id)

    def _term(self, spelling: str) -> tuple[int, bool]:
        """Return the number of a term, and whether it had to be added."""
        found = self.connection.execute("SELECT id FROM terms WHERE spelling = ?", (spelling,)).fetchone()
        if found is not None:
            return found[0], False
        return self.connection.execute(_ADD_TERM, (spelling, normalise(spelling))).fetchone()[0], True

    def _insert_aliases(self, sense: int, aliases: Sequence[str]) -> None:
        for place, spelling in enumerate(aliases):
            values = (sense, place, spelling, normalise(spelling))
            self.connection.execute("INSERT INTO aliases (sense, place, spelling, key) VALUES (?, ?, ?, ?)", values)

    # -- rights ---------------------------------------------------------------------------------------------------

    def _require_readable(self, audience: Audience, refusal: NotAllowed) -> None:
        # Without a principal the program itself writes, for example for a measurement.
        if self.principal is not None and not may_read(self.principal, store_audience(audience)):
            raise refusal

    def require_managed(self, context: str, *, new: bool = False) -> None:
        """The same words whether a context is hidden, another's or missing: a manager of some learns nothing."""
        by = self.principal
        if by is None or (by.manages_all if new else by.may_manage(context)):
            return
        raise NotAllowed(
            f"{by.name} does not manage a context '{context.strip()}'. Choose one you manage, or ask a manager of all"
            " contexts."
        )

    def require_manager(self, context: str | None = None) -> None:
        """Check that the principal manages this context; or any, if the name is empty or new.

        Raises:
            NotAllowed
        """
        found = self._context(context) if context else None
        if found is not None:
            self.require_managed(found.name)
        elif self.principal is not None and not self.principal.is_manager:
            raise NotAllowed(f"{self.principal.name} manages no context, so this is not theirs to decide.")


def _refuse_meaning(term: str, context: str) -> NotAllowed:
    """Build the error for a sense that is there and hidden; it does not say so, as `build_name_refusal`."""
    return NotAllowed(
        f"'{term}' cannot be given this meaning in '{context}'. Give another one, or ask the person who runs this"
        " machine."
    )


def build_duplicate_error(sense: Sense) -> Conflict:
    return Conflict(
        f"'{sense.term}' already means '{sense.expansion}' in '{sense.context}' (sense {sense.id}). Change that one"
        " instead.",
        current=sense,
    )


def _set_aside(number: int) -> str:
    # A text that nobody can type, and unique.
    return f"\0removed\0{number}\0{secrets.token_hex(8)}"
