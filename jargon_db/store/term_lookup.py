"""A look-up of the terms that a question names, of their senses, and of terms that may have been meant."""

from __future__ import annotations

from collections.abc import Sequence

from argot.jargon_db.lookup.matcher import TermMatcher
from argot.jargon_db.lookup.normalise import list_variants, normalise
from argot.jargon_db.lookup.spelling import is_coded
from argot.jargon_db.lookup.views import Views
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.rows import Row, encode_keys, read_sense, readable
from argot.jargon_db.store.statements import load_statement
from argot.types import Principal, Sense


class TermLookup:
    """Looks terms up, as far as a principal may know them."""

    def __init__(self, connections: Connections, views: Views) -> None:
        self._connections = connections
        self._views = views

    def senses(self, principal: Principal, terms: Sequence[str]) -> dict[str, list[Sense]]:
        """The approved senses of each term, under the term as given; an unknown term has an empty list.

        One statement, whatever their number (`sql/look_up.sql`). A term's own key wins over its plural variants. Terms
        that differ in nothing but case (`mA`, `MA`) are told apart where the spelling asked for is one of them.
        """
        asked = list(dict.fromkeys(terms))
        keys = [
            (number, rank, key) for number, term in enumerate(asked) for rank, key in enumerate(list_variants(term))
        ]
        rows = readable(self._connections.select(load_statement("look_up"), keys=encode_keys(keys)), principal)
        by_term: list[list[Row]] = [[] for _ in asked]
        for row in rows:
            found = by_term[row["asked"]]
            # Rows come best rank first: "dies" as a term of its own hides the plural of "die".
            if not found or found[0]["rank"] == row["rank"]:
                found.append(row)
        return {term: _tell_apart(term, found) for term, found in zip(asked, by_term, strict=True)}

    def matcher(self, principal: Principal) -> TermMatcher:
        """Finds the terms the principal may know in texts; built once per version and set of readable senses.

        Of a large glossary the matcher before is changed in what was changed since, until the new one is made; after
        a large import it serves as it is meanwhile.
        """
        return self._views.of(principal).matcher

    def suggest(self, principal: Principal, term: str, limit: int = 3) -> list[str]:
        """Terms that may have been meant, best first: near in spelling, or abbreviating what was typed.

        Equally near ones are ordered by their number of senses.
        """
        return self._views.of(principal).suggester.suggest(term, limit)


def _tell_apart(term: str, rows: list[Row]) -> list[Sense]:
    """The senses of the rows; where terms differ in case alone (mA, MA), only those of the spelling asked for."""
    spellings = {row["spelling"] for row in rows}
    # Only where case tells terms apart: PUC and Puc are one term typed twice.
    same = term.strip() in spellings and any(is_coded(spelling) for spelling in spellings)
    return [read_sense(row) for row in rows if not same or _is_asked(term.strip(), row)]


def _is_asked(term: str, row: Row) -> bool:
    # A row with another key was found by an alias or a plural, which has a case of its own.
    return bool(row["spelling"] == term or row["key"] != normalise(term))
