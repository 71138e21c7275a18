"""The glossary of one knowledge base: what terms mean, in which context, and who may know it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from argot.errors import InvalidInput
from argot.jargon_db import csv_format
from argot.jargon_db.base import no_sense
from argot.jargon_db.connections import prepare
from argot.jargon_db.contexts import Contexts
from argot.jargon_db.exchange import Exchange
from argot.jargon_db.governance import Governance
from argot.jargon_db.inputs import STATUSES, SenseInput, checked, context_key
from argot.jargon_db.let_stand import LettingStand, Weighed
from argot.jargon_db.matching import TermMatcher
from argot.jargon_db.mined import MinedSources
from argot.jargon_db.misses import Misses
from argot.jargon_db.normalise import normalise, variants
from argot.jargon_db.persons import Persons
from argot.jargon_db.proposals import Proposals
from argot.jargon_db.rows import Row, keys_json, readable, select, sense_of
from argot.jargon_db.search import Searching
from argot.jargon_db.spelling import is_coded
from argot.jargon_db.statements import statement
from argot.jargon_db.uses import Uses
from argot.jargon_db.views import Guards, Views
from argot.types import Audience, Principal, Sense, SenseStatus


class Glossary(Contexts, Governance, LettingStand, Searching, Proposals, MinedSources, Misses, Persons, Uses, Exchange):
    """Contexts, senses and misses in one SQLite file. May be used by many threads; writers queue, readers never wait.

    A sense is readable for those who may read both its own audience and that of its context; to everyone else it does
    not exist, on any road.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._views = Views(self._connections)
        self._weighed: tuple[tuple[int, Guards, str], Weighed] | None = None

    @classmethod
    def open(cls, path: Path) -> Glossary:
        """Opens the glossary, which is made if there is none.

        Raises:
            DamagedStore: the file is corrupt, truncated or of a newer program.
        """
        prepare(path)
        return cls(path)

    def close(self) -> None:
        self._views.close()
        super().close()

    def weigh(self, principal: Principal, *, today: str | None = None) -> Weighed:
        """All conflicts, those to look at and those that are let stand, and the senses whose review is due.

        Kept until the glossary or the day is another: in a large glossary it takes seconds to find.
        """
        day = today or datetime.now(UTC).date().isoformat()
        standing = (*self._views.standing(principal), day)
        kept = self._weighed
        if kept is None or kept[0] != standing:
            kept = self._weighed = (standing, super().weigh(principal, today=day))
        return kept[1]

    # -- senses ---------------------------------------------------------------------------------------------------

    def add_sense(
        self,
        term: str,
        context: str,
        expansion: str,
        description: str = "",
        notes: str = "",
        *,
        aliases: Sequence[str] = (),
        owner: str = "",
        status: SenseStatus = "approved",
        audience: Audience | None = None,
        review_by: str | None = None,
        by: Principal | None = None,
        why: str = "",
    ) -> Sense:
        """Adds a sense, or replaces what is said about the one with this term, context and expansion.

        Without an audience a known sense keeps its own, and a new one is for everyone.

        Raises:
            InvalidInput: a field is empty or too long.
            NotAllowed: the sense or its context is there, and not `by`'s to read, or the context not theirs to manage.
        """
        if status not in STATUSES:
            raise InvalidInput(f"'{status}' is no status of a sense. Statuses: {', '.join(STATUSES)}.")
        given = checked(
            SenseInput(term, context, expansion, description, notes, tuple(aliases), owner, status, audience, review_by)
        )
        with self._changing(by, "edit", why=why) as writer:
            number, _, _ = writer.put_sense(given)
            added = writer.sense(number)
        assert added is not None
        return added

    def sense(self, principal: Principal, sense_id: int) -> Sense:
        """One sense by its id.

        Raises:
            NotFound: there is none, or not for this principal.
        """
        rows = select(self._connections.reader(), "SELECT * FROM sense_rows WHERE id = :id", {"id": sense_id})
        for row in readable(rows, principal):
            return sense_of(row)
        raise no_sense(sense_id)

    def senses(
        self,
        principal: Principal,
        *,
        query: str | None = None,
        context: str | None = None,
        status: SenseStatus | None = None,
        limit: int | None = None,
        start: int = 0,
    ) -> list[Sense]:
        """The senses the principal may read, by term, without the first `start`; `query` is text within term, alias or
        expansion.
        """
        values = {"context_key": None if context is None else context_key(context), "status": status}
        wanted = normalise(query or "")
        if start and limit is not None and not wanted:
            return self._page(principal, {**values, "limit": limit, "start": start})
        rows = readable(select(self._connections.reader(), statement("senses"), values), principal)
        alike = (sense for sense in map(sense_of, rows) if not wanted or _holds(sense, wanted))
        return list(islice(alike, start, None if limit is None else start + limit))

    def _page(self, principal: Principal, values: dict[str, Any]) -> list[Sense]:
        values["audiences"] = self._passable(principal)
        rows = select(self._connections.reader(), statement("senses_page"), values)
        return [sense_of(row) for row in readable(rows, principal)]

    def look_up(self, principal: Principal, terms: Sequence[str]) -> dict[str, list[Sense]]:
        """The approved senses of each term, under the term as given; an unknown term has an empty list.

        One statement, whatever their number (`sql/look_up.sql`). A term's own key wins over its plural variants. Terms
        that differ in nothing but case (`mA`, `MA`) are told apart where the spelling asked for is one of them.
        """
        asked = list(dict.fromkeys(terms))
        keys = [(number, rank, key) for number, term in enumerate(asked) for rank, key in enumerate(variants(term))]
        rows = readable(select(self._connections.reader(), statement("look_up"), {"keys": keys_json(keys)}), principal)
        by_term: list[list[Row]] = [[] for _ in asked]
        for row in rows:
            found = by_term[row["asked"]]
            if not found or found[0]["rank"] == row["rank"]:
                found.append(row)
        return {term: _told_apart(term, found) for term, found in zip(asked, by_term, strict=True)}

    # -- recognising ----------------------------------------------------------------------------------------------

    def matcher(self, principal: Principal) -> TermMatcher:
        """Finds the terms the principal may know in texts; built once per version and set of readable senses.

        Of a large glossary the matcher before is changed in what was changed since, until the new one is made; after
        a large import it serves as it is meanwhile.
        """
        return self._views.of(principal).matcher

    def warm(self) -> None:
        """Begins to make a large glossary's matcher, which takes seconds, before it is asked for."""
        self._views.warm()

    def suggest(self, principal: Principal, term: str, limit: int = 3) -> list[str]:
        """Terms that may have been meant, best first: near in spelling, or abbreviating what was typed.

        Equally near ones are ordered by their number of senses.
        """
        return self._views.of(principal).suggester.suggest(term, limit)

    def version(self) -> int:
        """Counts up with every change, whoever made it."""
        row = self._connections.reader().execute("SELECT value FROM meta WHERE name = 'version'").fetchone()
        return int(row[0])

    # -- files ----------------------------------------------------------------------------------------------------

    def export_csv(self, principal: Principal) -> str:
        """The senses the principal may read, as a CSV file that imports as it is."""
        return csv_format.write_senses(self.senses(principal))


def _holds(sense: Sense, wanted: str) -> bool:
    return any(wanted in normalise(text) for text in (sense.term, sense.expansion, *sense.aliases))


def _told_apart(term: str, rows: list[Row]) -> list[Sense]:
    """The senses of the rows; where spellings differ in coded case, those of the spelling asked for alone."""
    spellings = {row["spelling"] for row in rows}
    same = term.strip() in spellings and any(is_coded(spelling) for spelling in spellings)
    return [sense_of(row) for row in rows if not same or _is_asked(term.strip(), row)]


def _is_asked(term: str, row: Row) -> bool:
    return bool(row["spelling"] == term or row["key"] != normalise(term))
