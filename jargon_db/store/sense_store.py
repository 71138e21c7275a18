"""Senses: adding, reading, changing and retiring them, with drafts, approval, and saves that lose nothing of one
another.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from operator import itemgetter
from typing import Any, Unpack

from argot.errors import Conflict, InvalidInput, NotFound
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.store.accepted_conflicts import BY_APPROVAL, record_acceptance
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.glossary_writer import Writer, build_duplicate_error
from argot.jargon_db.store.inputs import (
    STATUSES,
    ExtraFields,
    SenseFields,
    SenseInput,
    check_input,
    list_given_fields,
    normalise_context,
    set_fields,
)
from argot.jargon_db.store.journal import ChangeKind
from argot.jargon_db.store.relation_rights import hide_relations, keep_hidden_relations
from argot.jargon_db.store.rows import Row, list_managed_contexts, read_sense, readable, select
from argot.jargon_db.store.statements import load_statement
from argot.types import Principal, Sense, SenseStatus

_ONE = "SELECT * FROM sense_rows WHERE id = :id"
_APPROVED = """
SELECT * FROM sense_rows WHERE key = :key AND context_key = :context AND status = 'approved' AND id <> :id ORDER BY id
"""


class AddedFields(ExtraFields, total=False):
    status: SenseStatus


class Senses:
    """The senses of one glossary.

    People may read a sense if they may read both its own audience and that of its context, and it is approved, theirs,
    or in a context that they manage; for everyone else it does not exist, in any way. A person who changes one, `by`,
    must also manage its context.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def get(self, principal: Principal, sense_id: int) -> Sense:
        """Return one sense by its id.

        Raises:
            NotFound: there is none, or not for this principal.
        """
        rows = self._connections.select(_ONE, id=sense_id)
        for sense in hide_relations(self._connections.reader(), principal, map(read_sense, readable(rows, principal))):
            return sense
        raise build_not_found(sense_id)

    def find(
        self,
        principal: Principal,
        *,
        query: str | None = None,
        context: str | None = None,
        status: SenseStatus | None = None,
        limit: int | None = None,
        start: int = 0,
    ) -> list[Sense]:
        """Return the senses the principal may read, by term, without the first `start`; `query` is text within term,
        alias or expansion: first those that it names, then those whose names begin with it.
        """
        values = {"context_key": None if context is None else normalise_context(context), "status": status}
        wanted = normalise(query or "")
        # A later page without a search: SQL skips the rows; otherwise senses would be built from them first.
        if start and limit is not None and not wanted:
            return self._page(principal, {**values, "limit": limit, "start": start})
        rows = readable(self._connections.stream(load_statement("senses"), **values), principal)
        # Compared by key, so that "write amplification" finds "Write-Amplification"; SQL cannot fold like that.
        alike: Iterable[Sense] = map(read_sense, rows)
        if wanted:
            ranked = ((_rank_match(sense, wanted), sense) for sense in alike)
            best = sorted((one for one in ranked if one[0] is not None), key=itemgetter(0))
            alike = (sense for _, sense in best)
        found = islice(alike, start, None if limit is None else start + limit)
        return hide_relations(self._connections.reader(), principal, found)

    def _page(self, principal: Principal, values: dict[str, Any]) -> list[Sense]:
        values["audiences"] = self._connections.passable_audiences(principal)
        values |= {"managed": list_managed_contexts(principal), "person": principal.name}
        rows = self._connections.select(load_statement("senses_page"), **values)
        return hide_relations(self._connections.reader(), principal, map(read_sense, readable(rows, principal)))

    def add(
        self,
        term: str,
        context: str,
        expansion: str,
        description: str = "",
        *,
        by: Principal | None = None,
        why: str = "",
        **fields: Unpack[AddedFields],
    ) -> Sense:
        """Add a sense, or replace the fields of the one with this term, context and expansion.

        Without an audience a known sense keeps its own, and a new one is for everyone.

        Raises:
            InvalidInput: a field is empty or too long.
            NotAllowed: the sense or its context exists and `by` may not read it, or not manage the context.
        """
        if (status := fields.get("status", "approved")) not in STATUSES:
            raise InvalidInput(f"Unknown status '{status}'. Statuses: {', '.join(STATUSES)}.")
        basic = SenseInput(term, context, expansion, description, "", (), "", status)
        sense_input = check_input(set_fields(basic, fields))
        with self._connections.changing(by, "edit", why=why) as writer:
            number, _, _ = writer.put_sense(sense_input)
            added = writer.sense(number)
            assert added is not None
            return writer.show_sense(added)

    def draft(
        self,
        by: Principal,
        term: str,
        context: str,
        expansion: str,
        description: str = "",
        *,
        why: str = "",
        **fields: Unpack[ExtraFields],
    ) -> Sense:
        """Add a new sense that answers no questions until it is approved; its owner is `by` unless another is named.

        Raises:
            InvalidInput: a field is empty or too long.
            Conflict: there is such a sense already; `current` is it.
            NotAllowed: `by` may not manage the context, or the sense exists and they may not read it.
        """
        sense_input = set_fields(SenseInput(term, context, expansion, description, "", (), by.name, "draft"), fields)
        with self._connections.changing(by, "draft", why=why) as writer:
            return add_new(writer, sense_input)

    def save(
        self, by: Principal, sense_id: int, *, version: int, why: str = "", **fields: Unpack[SenseFields]
    ) -> Sense:
        """Change the given fields of the sense, if it is still in the version that was seen.

        Its status is unchanged. An empty `review_by` removes the review date.

        Raises:
            Conflict: somebody saved it in the meantime; nothing was changed, and `current` is the stored sense.
            NotFound: there is no such sense, or not for `by`.
            NotAllowed: `by` may not manage its context, or the new one.
            InvalidInput: a field is empty or too long.
        """
        with self._connections.changing(by, "edit", why=why) as writer:
            found = get_seen_sense(writer, by, sense_id, version)
            kept = SenseInput(found.term, found.context, found.expansion, found.description)
            sense_input = check_input(set_fields(kept, fields))
            sense_input = keep_hidden_relations(writer.connection, by, found, sense_input)
            return _write(writer, found, _merge(found, sense_input))

    def approve(self, by: Principal, sense_id: int, version: int, why: str = "") -> Sense:
        """Approve a sense: from now on it answers questions.

        Raises:
            Conflict: somebody saved it in the meantime; or its term has another approved meaning in this context
                (`current`), and no reason for both was given.
            NotFound, NotAllowed: as for `save`.
        """
        return self._set_status(by, sense_id, version, "approved", kind="approve", why=why)

    def retire(self, by: Principal, sense_id: int, version: int, why: str = "") -> Sense:
        """Retire a sense, so that it answers no questions; it can still be read, and approved again.

        Raises:
            Conflict: somebody saved it in the meantime.
            NotFound, NotAllowed: as for `save`.
        """
        return self._set_status(by, sense_id, version, "retired", kind="retire", why=why)

    def _set_status(
        self, by: Principal, sense_id: int, version: int, status: SenseStatus, *, kind: ChangeKind, why: str
    ) -> Sense:
        with self._connections.changing(by, kind, why=why) as writer:
            found = get_seen_sense(writer, by, sense_id, version)
            wanted = replace(found, status=status)
            # An approved sense that is approved again needs no reason and makes no change.
            if wanted != found:
                require_reason(writer, wanted)
            return _write(writer, found, wanted)


def get_readable_row(writer: Writer, principal: Principal | None, sense_id: int) -> Row:
    """Return a sense's row as of this transaction.

    Raises:
        NotFound: there is none, or not for this principal.
    """
    row = writer.row(sense_id)
    if row is None or (principal is not None and not any(readable([row], principal))):
        raise build_not_found(sense_id)
    return row


def build_not_found(sense_id: int) -> NotFound:
    return NotFound(f"There is no sense {sense_id}. The list of terms shows those there are, with their numbers.")


def get_seen_sense(writer: Writer, by: Principal, sense_id: int, version: int) -> Sense:
    """Return the stored sense, if it is unchanged since it was seen.

    Raises:
        Conflict: somebody saved it since; `current` is the stored sense.
        NotFound: there is no such sense, or not for `by`.
    """
    found = read_sense(get_readable_row(writer, by, sense_id))
    if found.version != version:
        raise Conflict(
            f"'{found.term}' in '{found.context}' was saved by somebody else since you opened it (you saw version"
            f" {version}, it is at {found.version}). Nothing of yours was stored: compare, and save again.",
            current=writer.show_sense(found),
        )
    return found


def add_new(writer: Writer, sense_input: SenseInput) -> Sense:
    """Add a new sense, within the writer's change.

    Raises:
        Conflict: it exists; `current` is the stored one.
        NotAllowed: it exists, and the principal may not read it.
    """
    sense_input = check_input(sense_input)
    if (found := writer.find_sense(sense_input)) is not None:
        raise build_duplicate_error(writer.show_sense(found))
    number, _, _ = writer.put_sense(sense_input)
    added = writer.sense(number)
    assert added is not None
    require_reason(writer, added)
    return writer.show_sense(added)


def require_reason(writer: Writer, sense: Sense) -> None:
    """Require a reason for a second meaning of a term in one context, which must not be an oversight. With a reason,
    the conflict is accepted.

    Raises:
        Conflict: there is a second meaning, and the change has no reason.
    """
    if sense.status != "approved":
        return
    values = {"key": normalise(sense.term), "context": normalise_context(sense.context), "id": sense.id}
    rows = select(writer.connection, _APPROVED, values)
    others = [read_sense(row) for row in (rows if writer.principal is None else readable(rows, writer.principal))]
    # Only senses they may read: the message would reveal the others.
    if others and not writer.heading.why:
        raise Conflict(
            f"'{sense.term}' means '{others[0].expansion}' in '{sense.context}' already. Retire that one, or give a"
            " reason why it has both meanings there.",
            current=writer.show_sense(others[0]),
        )
    if others:
        # Recorded unchanged, so that the history of each of them shows that the conflict was accepted.
        for other in others:
            writer.record_unchanged(other)
        record_acceptance(writer, BY_APPROVAL, [*others, sense])


def _merge(found: Sense, sense_input: SenseInput) -> Sense:
    # The same context in different case is no move: the stored spelling stays.
    same = normalise_context(sense_input.context) == normalise_context(found.context)
    context = found.context if same else sense_input.context
    return replace(
        found, term=sense_input.term, context=context, expansion=sense_input.expansion, **list_given_fields(sense_input)
    )


def _write(writer: Writer, found: Sense, target: Sense) -> Sense:
    if target == found:
        # Nothing to write, but a person who may not change it should still get the error.
        writer.require_managed(found.context)
        return writer.show_sense(found)
    writer.set_sense(found, target)
    saved = writer.sense(found.id)
    assert saved is not None
    return writer.show_sense(saved)


def _rank_match(sense: Sense, wanted: str) -> int | None:
    """Return 0 if a name of the sense is the wanted key, 1 if one begins with it, 2 if it stands elsewhere in a name or
    in the expansion, None if nowhere.
    """
    names = [normalise(text) for text in (sense.term, *sense.aliases)]
    if wanted in names:
        return 0
    if any(name.startswith(wanted) for name in names):
        return 1
    return 2 if any(wanted in text for text in (*names, normalise(sense.expansion))) else None
