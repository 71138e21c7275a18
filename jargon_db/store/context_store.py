"""Contexts: the teams, products and fields in which terms have their meaning, and saving one without losing other
edits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from argot.errors import Conflict, InvalidInput, NotFound
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.glossary_writer import Writer
from argot.jargon_db.store.inputs import is_context_name, is_storable
from argot.jargon_db.store.rows import may_read, read_context, select
from argot.types import Audience, Context, Principal

_ALL = "SELECT * FROM contexts WHERE removed = 0 ORDER BY key"
_ONE = "SELECT * FROM contexts WHERE removed = 0 AND id = :id"


class Contexts:
    """The contexts of one glossary."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def all(self, principal: Principal) -> list[Context]:
        """Return the contexts the principal may know, by name."""
        return [read_context(row) for row in self._connections.select(_ALL) if may_read(principal, row["audience"])]

    def get(self, principal: Principal, context_id: int) -> Context:
        """Return one context by its id.

        Raises:
            NotFound: there is none, or not for this principal.
        """
        for row in self._connections.select(_ONE, id=context_id):
            if may_read(principal, row["audience"]):
                return read_context(row)
        raise _build_not_found(context_id)

    def add(
        self,
        name: str,
        description: str = "",
        contact: str = "",
        audience: Audience | None = None,
        *,
        new: bool = False,
        by: Principal | None = None,
        why: str = "",
    ) -> Context:
        """Add a context, or update one: a missing (or empty) argument changes nothing. `new`: only add.

        Raises:
            InvalidInput: the name is empty or too long.
            NotAllowed: it exists, and `by` may not read or manage it; or it is missing, and `by` does not manage all.
            Conflict: it exists, and a `new` one is wanted; `current` is it.
        """
        if not is_context_name(name):
            raise InvalidInput(f"{name!r} cannot name a context; give the name of a team, product or field.")
        _require_storable(name, description, contact)
        with self._connections.changing(by, "context", why=why) as writer:
            # Within the transaction: if two people add the same name at once, only one may succeed.
            found = writer.find_context(name) if new else None
            if found is not None:
                raise Conflict(f"There is a context '{found.name}' already. Change that one instead.", current=found)
            # An empty text counts as missing; `save` can clear one.
            return writer.put_context(name, description or None, contact or None, audience)[0]

    def save(
        self,
        by: Principal,
        context_id: int,
        *,
        version: int,
        description: str | None = None,
        contact: str | None = None,
        audience: Audience | None = None,
        why: str = "",
    ) -> Context:
        """Change the given fields of the context, also to empty ones, if it is still in the version that was seen.

        Raises:
            Conflict: somebody saved it in the meantime; nothing was changed, and `current` is the stored context.
            NotFound: there is no such context, or not for `by`.
            NotAllowed: `by` may not manage it.
            InvalidInput: a text cannot be stored.
        """
        _require_storable(description or "", contact or "")
        with self._connections.changing(by, "context", why=why) as writer:
            found = _read_seen(writer, by, context_id, version)
            values: dict[str, Any] = {"description": description, "contact": contact, "audience": audience}
            wanted = replace(found, **{name: value for name, value in values.items() if value is not None})
            return found if wanted == found else writer.set_context(found, wanted)


def _read_seen(writer: Writer, by: Principal, context_id: int, version: int) -> Context:
    """Return the stored context, if it is still the version that was seen."""
    rows = select(writer.connection, _ONE, {"id": context_id})
    found = next((read_context(row) for row in rows if may_read(by, row["audience"])), None)
    if found is None:
        raise _build_not_found(context_id)
    # Before the version: a person who may not change it need not learn that somebody else did.
    writer.require_managed(found.name)
    if found.version != version:
        raise Conflict(
            f"The context '{found.name}' was saved by somebody else since you opened it (you saw version {version}, it"
            f" is at {found.version}). Nothing of yours was stored: compare, and save again.",
            current=found,
        )
    return found


def _build_not_found(context_id: int) -> NotFound:
    return NotFound(f"There is no context {context_id}. The list of contexts shows those there are.")


def _require_storable(*texts: str) -> None:
    if not all(map(is_storable, texts)):
        raise InvalidInput(
            "A text of the context holds half of a surrogate pair, which is no character; type it again."
        )


def build_unknown_name(name: str, known: Iterable[str]) -> NotFound:
    """Build the error about a context's name that is not among those of a person."""
    return NotFound(f"There is no context '{name}'. Contexts: {', '.join(known) or 'none yet'}.")
