"""The list of terms from A to Z: approved meanings only, page by page, for people who read the glossary."""

from __future__ import annotations

from collections.abc import Sequence

from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.inputs import normalise_context
from argot.jargon_db.store.relation_rights import hide_relations
from argot.jargon_db.store.rows import encode_list, read_sense, readable
from argot.jargon_db.store.statements import load_statement
from argot.types import Principal, Sense

# The highest character: every key sorts before it.
_LAST = "\U0010ffff"
DIGITS = "#"
"""The initial of terms that begin with a digit or a sign."""
OTHERS = "…"
"""The initial of terms that begin with a letter after z, such as ß or Σ."""
LETTERS = tuple(map(chr, range(ord("a"), ord("z") + 1)))
INITIALS = (DIGITS, *LETTERS, OTHERS)


class TermList:
    """The terms of one glossary in the order of their keys."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def page(
        self, principal: Principal, *, initial: str = "", after: str = "", context: str | None = None, limit: int = 50
    ) -> tuple[list[Sense], str]:
        """Return the senses of the next `limit` terms, by term, and the key from which on the next page begins; empty
        if there is none.

        Args:
            initial: only terms of this one of `INITIALS`; empty: all.
            after: the key that the page before this one returned.
        """
        first, end = _get_range(initial)
        keys = self._list_keys(principal, max(first, after), end, context, limit + 1)
        return self._list_senses(principal, keys[:limit], context), keys[limit] if len(keys) > limit else ""

    def initials(self, principal: Principal, context: str | None = None) -> list[str]:
        """Return those of `INITIALS` of which there are terms that the principal may read."""
        if context is None:
            return [one for one in INITIALS if self._list_keys(principal, *_get_range(one), None, 1)]
        # In one statement: each initial would read all senses of the context again.
        values = {"audiences": self._connections.passable_audiences(principal)}
        statement = load_statement("term_initials_of_context")
        rows = self._connections.select(statement, **values, context_key=normalise_context(context))
        found = {_get_initial(row["initial"]) for row in rows}
        return [one for one in INITIALS if one in found]

    def _list_keys(self, principal: Principal, first: str, end: str, context: str | None, limit: int) -> list[str]:
        values = {"audiences": self._connections.passable_audiences(principal), "first": first, "end": end}
        if context is None:
            rows = self._connections.select(load_statement("term_keys"), **values, limit=limit)
        else:
            key = normalise_context(context)
            statement = load_statement("term_keys_of_context")
            rows = self._connections.select(statement, **values, context_key=key, limit=limit)
        return [row["key"] for row in rows]

    def _list_senses(self, principal: Principal, keys: Sequence[str], context: str | None) -> list[Sense]:
        values = {"keys": encode_list(keys), "context_key": None if context is None else normalise_context(context)}
        rows = self._connections.select(load_statement("senses_by_keys"), **values)
        return hide_relations(self._connections.reader(), principal, map(read_sense, readable(rows, principal)))


def _get_range(initial: str) -> tuple[str, str]:
    """Return the first key of an initial, and the first one behind it."""
    if not initial:
        return "", _LAST
    if initial == DIGITS:
        return "", "a"
    return ("{", _LAST) if initial == OTHERS else (initial, chr(ord(initial) + 1))


def _get_initial(first: str) -> str:
    return first if first in LETTERS else DIGITS if first < "a" else OTHERS
