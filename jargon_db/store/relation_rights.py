"""Relations to terms and contexts that a principal may not know: they are hidden, as these are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from argot.databases import Connection
from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.store.inputs import SenseInput, normalise_context
from argot.jargon_db.store.rows import Row, encode_list, may_read, select
from argot.jargon_db.store.snapshots import Snapshot
from argot.types import Principal, Relation, Sense

_NAMED = """
SELECT wanted.value AS name, contexts.key AS context, senses.audience, contexts.audience AS context_audience
FROM json_each(:keys) AS wanted JOIN terms ON terms.key = wanted.value JOIN senses ON senses.term = terms.id
     JOIN contexts ON contexts.id = senses.context
WHERE senses.removed = 0
UNION ALL
SELECT wanted.value AS name, contexts.key AS context, senses.audience, contexts.audience AS context_audience
FROM json_each(:keys) AS wanted JOIN aliases ON aliases.key = wanted.value JOIN senses ON senses.id = aliases.sense
     JOIN contexts ON contexts.id = senses.context
WHERE senses.removed = 0
"""
# No index is needed: restricted senses are few, and senses that everybody reads hide nothing.
_EXPANDED = """
SELECT senses.expansion AS name, contexts.key AS context, senses.audience, contexts.audience AS context_audience
FROM senses JOIN contexts ON contexts.id = senses.context
WHERE senses.removed = 0 AND (senses.audience <> '[]' OR contexts.audience <> '[]')
  AND lower(senses.expansion) IN (SELECT wanted.value FROM json_each(:texts) AS wanted)
"""
_CONTEXTS = """
SELECT contexts.key, contexts.audience
FROM json_each(:keys) AS wanted JOIN contexts ON contexts.key = wanted.value
"""
_Place = tuple[Relation, str]
"""A relation, and the context of the sense that has it."""


def hide_relations(connection: Connection, principal: Principal, senses: Iterable[Sense]) -> list[Sense]:
    """Return the senses without the relations that the principal may not see.

    These name a context that the principal may not read; or a term, other name or expansion that only senses have which
    the principal may not read: in the context named, else in that of the sense, else in any. A relation to a term that
    the glossary lacks is the text of the sense that has it, and stays.
    """
    found = list(senses)
    hidden = _find_hidden(
        connection, principal, [(relation, sense.context) for sense in found for relation in sense.relations]
    )
    return [_hide(sense, hidden) for sense in found] if hidden else found


def _hide(sense: Sense, hidden: set[_Place]) -> Sense:
    shown = tuple(one for one in sense.relations if (one, sense.context) not in hidden)
    return sense if len(shown) == len(sense.relations) else replace(sense, relations=shown)


def hide_recorded_relations(
    connection: Connection, principal: Principal, snapshots: Sequence[Snapshot | None]
) -> list[Snapshot | None]:
    """Return snapshots of senses without the relations that the principal may not see now."""
    listed = [[Relation(*one) for one in (kept or {}).get("relations", ())] for kept in snapshots]
    places = [(one, kept["context"]) for kept, of_one in zip(snapshots, listed, strict=True) for one in of_one if kept]
    hidden = _find_hidden(connection, principal, places)
    if not hidden:
        return list(snapshots)
    return [
        kept and _hide_recorded(kept, [(one, kept["context"]) not in hidden for one in of_one])
        for kept, of_one in zip(snapshots, listed, strict=True)
    ]


def _hide_recorded(snapshot: Snapshot, is_shown: Sequence[bool]) -> Snapshot:
    shown = [one for one, keep in zip(snapshot.get("relations", ()), is_shown, strict=True) if keep]
    rest = {name: value for name, value in snapshot.items() if name != "relations"}
    return {**rest, "relations": shown} if shown else rest


def keep_hidden_relations(
    connection: Connection, principal: Principal, found: Sense, sense_input: SenseInput
) -> SenseInput:
    """Return what somebody writes of a stored sense, with its relations that they may not see, and so did not see when
    they wrote the others.
    """
    if sense_input.relations is None or not found.relations:
        return sense_input
    (seen,) = hide_relations(connection, principal, [found])
    if sense_input.relations == seen.relations:
        return replace(sense_input, relations=found.relations)
    unseen = [one for one in found.relations if one not in seen.relations]
    return replace(sense_input, relations=tuple(dict.fromkeys((*sense_input.relations, *unseen))))


def _find_hidden(connection: Connection, principal: Principal, places: Sequence[_Place]) -> set[_Place]:
    if not places or principal.sees_all:
        return set()
    closed = _find_closed_contexts(connection, principal, {normalise_context(one.context) for one, _ in places})
    known = _find_known_names(connection, principal, {one.term for one, _ in places})
    return {place for place in places if _is_hidden(place, closed, known[normalise(place[0].term)])}


def _is_hidden(place: _Place, closed: set[str], known: dict[str, bool]) -> bool:
    """Return whether to hide a relation; `known`: by context, whether the principal may read a sense of this name."""
    relation, own = place
    named = normalise_context(relation.context)
    if named in closed:
        return True
    if named:
        return not known.get(named, True)
    return not known.get(normalise_context(own), any(known.values()) or not known)


def _find_closed_contexts(connection: Connection, principal: Principal, keys: set[str]) -> set[str]:
    """Return those of the contexts that the principal may not read."""
    rows = select(connection, _CONTEXTS, {"keys": encode_list(sorted(keys - {""}))})
    return {row["key"] for row in rows if not may_read(principal, row["audience"])}


def _find_known_names(
    connection: Connection, principal: Principal, names: set[str]
) -> defaultdict[str, dict[str, bool]]:
    """Return, by a name's key and context, whether the principal may read a sense that has the name."""
    known: defaultdict[str, dict[str, bool]] = defaultdict(dict)
    values: list[tuple[str, dict[str, Any]]] = [
        (_NAMED, {"keys": encode_list(sorted(set(map(normalise, names))))}),
        (_EXPANDED, {"texts": encode_list(sorted(set(map(str.lower, names))))}),
    ]
    for statement, sense_id in values:
        for row in select(connection, statement, sense_id):
            of_name = known[normalise(row["name"])]
            of_name[row["context"]] = of_name.get(row["context"], False) or _is_readable(row, principal)
    return known


def _is_readable(row: Row, principal: Principal) -> bool:
    return may_read(principal, row["audience"], row["context_audience"])
