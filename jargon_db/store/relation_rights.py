"""Relations to terms that a principal may not know: they are hidden, as the terms are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.inputs import normalise_context
from argot.jargon_db.store.rows import encode_list, may_read
from argot.types import Principal, Relation, Sense

_GUARDS = """
SELECT terms.key, contexts.key AS context, senses.audience, contexts.audience AS context_audience
FROM json_each(:keys) AS wanted JOIN terms ON terms.key = wanted.value JOIN senses ON senses.term = terms.id
     JOIN contexts ON contexts.id = senses.context
WHERE senses.removed = 0
"""


def hide_relations(connections: Connections, principal: Principal, senses: Iterable[Sense]) -> list[Sense]:
    """Return the senses without their relations to senses that the principal may not read.

    A relation to a term that the glossary lacks is the text of the sense that has it, and stays.
    """
    found = list(senses)
    keys = {normalise(relation.term) for sense in found for relation in sense.relations}
    if not keys or principal.sees_all:
        return found
    known: set[tuple[str, str]] = set()
    readable: set[tuple[str, str]] = set()
    for row in connections.select(_GUARDS, keys=encode_list(sorted(keys))):
        at = (row["key"], row["context"])
        known.add(at)
        if may_read(principal, row["audience"], row["context_audience"]):
            readable.add(at)
    hidden = known - readable
    return [_hide(sense, hidden) if sense.relations else sense for sense in found]


def _hide(sense: Sense, hidden: set[tuple[str, str]]) -> Sense:
    def is_shown(relation: Relation) -> bool:
        return (normalise(relation.term), normalise_context(relation.context or sense.context)) not in hidden

    shown = tuple(filter(is_shown, sense.relations))
    return sense if len(shown) == len(sense.relations) else replace(sense, relations=shown)
