"""A look-up of the terms that a question names, of their senses, and of terms that may have been meant."""

from __future__ import annotations

from collections.abc import Sequence

from argot.jargon_db.lookup.matcher import TermMatcher
from argot.jargon_db.lookup.normalise import list_variants, normalise
from argot.jargon_db.lookup.spelling import is_coded
from argot.jargon_db.lookup.views import Views
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.relation_rights import hide_relations
from argot.jargon_db.store.rows import Row, encode_keys, read_sense, readable
from argot.jargon_db.store.statements import load_statement
from argot.types import Principal, Sense


class TermLookup:
    """Looks up terms that the principal may know."""

    def __init__(self, connections: Connections, views: Views) -> None:
        self._connections = connections
        self._views = views

    def senses(self, principal: Principal, terms: Sequence[str]) -> dict[str, list[Sense]]:
        """Return the approved senses of each term, under the term as given; an unknown term has an empty list.

        One statement, whatever their number (`sql/look_up.sql`). A term's own key takes precedence over its plural
        variants. Terms that differ only in case (`mA`, `MA`) are distinguished if the requested spelling is one of
        them.
        """
        asked = list(dict.fromkeys(terms))
        keys = [
            (number, rank, key) for number, term in enumerate(asked) for rank, key in enumerate(list_variants(term))
        ]
        rows = readable(self._connections.select(load_statement("look_up"), keys=encode_keys(keys)), principal)
        by_term: list[list[Row]] = [[] for _ in asked]
        for row in rows:
            found = by_term[row["asked"]]
            # Rows are sorted by rank: the separate term "dies" hides the plural of "die".
            if not found or found[0]["rank"] == row["rank"]:
                found.append(row)
        return {
            term: hide_relations(self._connections.reader(), principal, _tell_apart(term, found))
            for term, found in zip(asked, by_term, strict=True)
        }

    def matcher(self, principal: Principal) -> TermMatcher:
        """Return the matcher for terms the principal may know; built once per version and set of readable senses.

        For a large glossary the previous matcher is patched with the changes since, until the new one is built; after a
        large import it is used unchanged meanwhile.
        """
        return self._views.of(principal).matcher

    def suggest(self, principal: Principal, term: str, limit: int = 3) -> list[str]:
        """Return terms that may have been meant, best first: similar in spelling, or abbreviations of the typed words.

        Equally near ones are ordered by their number of senses.
        """
        return self._views.of(principal).suggester.suggest(term, limit)


def _tell_apart(term: str, rows: list[Row]) -> list[Sense]:
    """Return the senses of the rows; if terms differ only in case (mA, MA), only those of the requested spelling."""
    spellings = {row["spelling"] for row in rows}
    # Only if case distinguishes terms: PUC and Puc are one term typed twice.
    same = term.strip() in spellings and any(is_coded(spelling) for spelling in spellings)
    return [read_sense(row) for row in rows if not same or _is_asked(term.strip(), row)]


def _is_asked(term: str, row: Row) -> bool:
    # A row with another key was found by an alias or a plural, which has its own case.
    return bool(row["spelling"] == term or row["key"] != normalise(term))
