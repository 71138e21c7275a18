"""The conflicts of a glossary: warnings before a sense is saved, all open conflicts, and those that were accepted.

Only senses that the principal may read are examined, so that a warning never reveals a hidden one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

from argot.clock import utc_now
from argot.errors import InvalidInput, NotFound
from argot.jargon_db.lookup.views import Guards, Views
from argot.jargon_db.store.accepted_conflicts import (
    ACCEPTED_KIND,
    AcceptedConflict,
    find_acceptances,
    record_acceptance,
)
from argot.jargon_db.store.conflict_rules import (
    ConflictEntry,
    SenseWarning,
    WarningKind,
    build_entry,
    find_conflicts_among,
    find_conflicts_of,
)
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.history import History
from argot.jargon_db.store.history_entries import ChangeSet
from argot.jargon_db.store.inputs import SenseInput, clean_aliases
from argot.jargon_db.store.rows import (
    encode_keys,
    list_managed_contexts,
    may_read,
    may_read_status,
    read_sense,
    readable,
)
from argot.jargon_db.store.sense_store import get_seen_sense
from argot.types import Principal, Sense

_LIVE = """
SELECT senses.id, terms.spelling, terms.key, contexts.name, contexts.key, senses.expansion, senses.owner,
       senses.review_by, senses.audience, contexts.audience, senses.status
FROM senses JOIN terms ON terms.id = senses.term JOIN contexts ON contexts.id = senses.context
WHERE senses.removed = 0 AND senses.status <> 'retired' ORDER BY terms.key, contexts.key, senses.id
"""
_ALIASES = "SELECT sense, spelling, key FROM aliases ORDER BY sense, place"
_RELATED = """
SELECT * FROM sense_rows
WHERE status <> 'retired' AND id IN (
    SELECT senses.id FROM json_each(:keys) AS wanted JOIN terms ON terms.key = json_extract(wanted.value, '$[2]')
        JOIN senses ON senses.term = terms.id
    UNION SELECT aliases.sense FROM json_each(:keys) AS wanted
        JOIN aliases ON aliases.key = json_extract(wanted.value, '$[2]')
) ORDER BY key, context_key, id
"""
_NEVER_ACCEPTED: frozenset[WarningKind] = frozenset(["review_due"])


@dataclass(frozen=True, slots=True)
class FoundConflicts:
    """The conflicts of a glossary: open ones, and those that were accepted."""

    open: tuple[SenseWarning, ...]
    accepted: tuple[AcceptedConflict, ...]


class Conflicts:
    """Warns of conflicts, and separates open ones from those that were accepted."""

    def __init__(self, connections: Connections, history: History, views: Views) -> None:
        self._connections = connections
        self._history = history
        self._views = views
        self._kept: tuple[tuple[int, Guards, str, str], FoundConflicts] | None = None

    def warnings(
        self, principal: Principal, sense_input: SenseInput, sense_id: int | None = None
    ) -> list[SenseWarning]:
        """Return the warnings about saving this, as a new sense or in place of `sense_id`. It may be incomplete."""
        one = build_entry(_build_sense(sense_input, sense_id or 0))
        keys = [key for key in dict.fromkeys((one.key, *(key for _, key in one.aliases))) if key]
        rows = self._connections.select(_RELATED, keys=encode_keys([(0, 0, key) for key in keys]))
        others = [build_entry(read_sense(row)) for row in readable(rows, principal) if row["id"] != one.id]
        return [_drop_unsaved(warning) for warning in find_conflicts_of(one, others)]

    def find(self, principal: Principal, *, today: str | None = None) -> FoundConflicts:
        """Return all conflicts over every draft and approved sense, and the senses whose review is due: the worst
        first.

        Cached until the glossary or the day changes: in a large glossary the search takes seconds.

        Args:
            today: an ISO date, by which reviews are due.
        """
        day = today or utc_now().date().isoformat()
        own = "" if principal.manages_all else f"{principal.name} {list_managed_contexts(principal)}"
        read_key = (*self._views.cache_key(principal), own, day)
        kept = self._kept
        if kept is None or kept[0] != read_key:
            kept = self._kept = (read_key, self._find(principal, day))
        return kept[1]

    def open(self, principal: Principal, *, today: str | None = None) -> list[SenseWarning]:
        """Return the conflicts that nobody accepted, and the senses whose review is due: the worst first."""
        return list(self.find(principal, today=today).open)

    def list_accepted(self, principal: Principal) -> list[AcceptedConflict]:
        """Return the conflicts that were accepted, the latest first."""
        return list(self.find(principal).accepted)

    def accept(self, by: Principal, kind: str, senses: Sequence[tuple[int, int]], why: str = "") -> int:
        """Accept a conflict of this kind between these senses, each named with the version that was seen.

        Return the change's number; rolling it back reopens the conflict.

        Raises:
            NotFound: there is no such open conflict, or not for `by`.
            Conflict: one of the senses was saved in the meantime; nothing was changed.
            NotAllowed: `by` may not manage the context of one of them.
            InvalidInput: it is a review that is due, which a new date settles.
        """
        if kind in _NEVER_ACCEPTED:
            raise InvalidInput("A review that is due is settled by a new date, or by retiring the sense.")
        numbers = {number for number, _ in senses}
        # Searched again, not trusted: the page on which it was clicked may be old.
        if not any(one.kind == kind and set(one.senses) == numbers for one in self.open(by)):
            raise NotFound("There is no such conflict any more. Conflicts lists those there are.")
        with self._connections.changing(by, ACCEPTED_KIND, why=why, name=kind) as writer:
            seen = [get_seen_sense(writer, by, sense_id, version) for sense_id, version in dict(senses).items()]
            for sense in seen:
                writer.record_unchanged(sense)
            record_acceptance(writer, [kind], seen)
            return writer.journal.change

    def reopen(self, by: Principal, change: int, why: str = "") -> ChangeSet:
        """Reopen the conflicts that a change accepted, by rolling the change back.

        Raises:
            NotFound: it accepted nothing that `by` may know of.
            InvalidInput: it also changed a sense, so that more than this would be undone.
            NotAllowed: `by` may not manage the context of one of its senses.
        """
        found = next((one for one in self.list_accepted(by) if one.change == change), None)
        if found is None:
            raise NotFound(f"Change {change} accepted no conflict. Accepted conflicts name the changes that did.")
        if not found.alone:
            raise InvalidInput(
                f"Change {change} also changed a meaning ({found.kind}). Retire one of the meanings, or roll the change"
                " back with all it did."
            )
        return self._history.roll_back(by, change, why=why)

    def _find(self, principal: Principal, day: str) -> FoundConflicts:
        found = find_conflicts_among(self._live(principal), day)
        acceptances = find_acceptances(self._connections, principal, found)
        open_: list[SenseWarning] = []
        accepted: list[AcceptedConflict] = []
        for one in found:
            # One sense suffices: an acceptance that covers the conflict includes all of its senses.
            by = next((each for each in acceptances.get(one.senses[0], ()) if each.covers(one)), None)
            if by is None:
                open_.append(one)
            else:
                accepted.append(AcceptedConflict(one, by.change, by.at, by.who, by.why, by.kind))
        return FoundConflicts(tuple(open_), tuple(sorted(accepted, key=lambda one: -one.change)))

    def _live(self, principal: Principal) -> list[ConflictEntry]:
        reader = self._connections.reader()
        aliases: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
        for sense, spelling, key in reader.execute(_ALIASES):
            aliases[sense].append((spelling, key))
        # A large glossary has many senses and few different audiences.
        passes = cache(partial(may_read, principal))
        return [
            ConflictEntry._make((*row[:8], aliases.get(row[0], ())))
            for row in reader.execute(_LIVE)
            if passes(*row[8:10]) and may_read_status(principal, row[10], row[3], row[6])
        ]


def _build_sense(sense_input: SenseInput, number: int) -> Sense:
    return Sense(
        number,
        sense_input.term.strip(),
        sense_input.context.strip(),
        sense_input.expansion.strip(),
        aliases=clean_aliases(sense_input.aliases or ()),
    )


def _drop_unsaved(warning: SenseWarning) -> SenseWarning:
    # An unsaved sense has the number 0, and no page to link to.
    return SenseWarning(warning.kind, warning.message, tuple(one for one in warning.senses if one))
