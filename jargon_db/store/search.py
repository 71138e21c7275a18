"""The search box: finds senses while the user types, by term, alias, expansion and description.

Terms and aliases that begin with the typed text come first, by an index over their keys, which keeps every sign. Words
at any position come next, by a full-text index with prefixes, column by column. No step reads more rows than requested,
so that a letter that half of all senses contain costs no more than a rare word.
"""

from __future__ import annotations

from collections.abc import Iterator

from argot.jargon_db.lookup.normalise import normalise
from argot.jargon_db.store.connections import Connections
from argot.jargon_db.store.inputs import normalise_context
from argot.jargon_db.store.relation_rights import hide_relations
from argot.jargon_db.store.rows import Row, list_managed_contexts, read_sense, readable, select
from argot.jargon_db.store.search_index import COLUMNS, build_word_query, index_words
from argot.jargon_db.store.search_words import search_row, search_words
from argot.jargon_db.store.statements import load_statement
from argot.types import Principal, Sense, SenseStatus

MAX_QUERY_CHARS = 500
MAX_QUERY_WORDS = 12
"""Maximum characters of the typed text that are used."""
# The highest character: everything that begins with a key sorts before the key followed by this.
_LAST = "\U0010ffff"
_RANKS: dict[SenseStatus, int] = {"approved": 0, "draft": 1, "retired": 2}


class Search:
    """Finds senses while the user types."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def find(
        self,
        principal: Principal,
        text: str,
        limit: int = 20,
        *,
        status: SenseStatus | None = None,
        context: str | None = None,
    ) -> list[Sense]:
        """Return the senses found by the typed text so far, best first: the term itself, the beginning of a term or
        alias, words in the term, in the expansion, in the description. Any text is accepted; an empty one finds
        nothing.
        """
        text = text[:MAX_QUERY_CHARS]
        if limit <= 0 or not normalise(text):
            return []
        found: dict[int, Sense] = {}
        values = {
            "audiences": self._connections.passable_audiences(principal),
            "managed": list_managed_contexts(principal),
            "person": principal.name,
            "status": status,
            "context_key": None if context is None else normalise_context(context),
        }
        for row in self._candidates(text, limit, values, found):
            # SQL excluded most of the rows they may not read; the final decision is made here.
            if row["id"] not in found and any(readable([row], principal)):
                found[row["id"]] = read_sense(row)
                if len(found) >= limit:
                    break
        return hide_relations(self._connections.reader(), principal, found.values())

    def rebuild(self) -> None:
        """Rebuild the index of all senses, for example after their rows were copied from elsewhere."""
        with self._connections.writing() as connection:
            connection.execute("DELETE FROM sense_search")
            rows = select(connection, "SELECT * FROM sense_rows ORDER BY id", {})
            index_words(connection, [search_row(row["id"], read_sense(row)) for row in rows])

    def _candidates(
        self, text: str, limit: int, values: dict[str, str | None], found: dict[int, Sense]
    ) -> Iterator[Row]:
        key = normalise(text)
        rows = list(
            self._connections.select(load_statement("search_keys"), key=key, end=key + _LAST, limit=limit, **values)
        )
        yield from sorted(rows, key=_rank)
        words = list(dict.fromkeys(search_words(text)))[:MAX_QUERY_WORDS]
        dialect = self._connections.dialect
        template = load_statement("search_words" if dialect.engine == "sqlite" else "search_words_postgresql")
        for columns in COLUMNS if words else ():
            # Up to that many may be among those found before, and are skipped.
            asked = limit + len(found)
            match = build_word_query(dialect, words, columns)
            yield from self._connections.select(template, match=match, limit=asked, **values)


def _rank(row: Row) -> tuple[int, int, int, str, int]:
    return (row["rank"], _RANKS[row["status"]], len(row["key"]), row["key"], row["id"])
