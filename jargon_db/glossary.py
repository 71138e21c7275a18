"""The glossary of one knowledge base: what terms mean, in which context, and who may know it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from argot.errors import InvalidInput, NotFound
from argot.jargon_db import csv_format
from argot.jargon_db.changes import SenseInput, Writer, checked, context_key, is_storable, timestamp
from argot.jargon_db.connections import Connections, prepare
from argot.jargon_db.matching import Spelling, TermMatcher
from argot.jargon_db.misses import MissRecord, record, records
from argot.jargon_db.normalise import normalise, variants
from argot.jargon_db.rows import Row, audience_of, keys_json, may_read, readable, select, sense_of
from argot.jargon_db.spelling import Suggester, is_coded
from argot.jargon_db.statements import statement
from argot.types import Audience, Context, Principal, Sense, SenseStatus

_STATUSES = ("draft", "approved", "retired")
_CACHED_VIEWS = 16


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did: senses added, updated and found as they were, and the names of contexts that were made."""

    added: int
    updated: int
    unchanged: int
    contexts_added: tuple[str, ...] = ()


class _View:
    """What principals with the same readable senses share. The suggester is made when a term is first missed."""

    def __init__(self, matcher: TermMatcher, expansions: Callable[[], Iterable[tuple[str, str]]]) -> None:
        self.matcher = matcher
        self._expansions = expansions

    @cached_property
    def suggester(self) -> Suggester:
        return Suggester(self.matcher.near, self._expansions())


class Glossary:
    """Contexts, senses and misses in one SQLite file. May be used by many threads; writers queue, readers never wait.

    A sense is readable for those who may read both its own audience and that of its context; to everyone else it does
    not exist, on any road.
    """

    def __init__(self, path: Path) -> None:
        self._connections = Connections(path)
        self._guard = threading.Lock()
        self._views: dict[tuple[int, frozenset[tuple[str, str]]], _View] = {}
        self._guards: tuple[int, frozenset[tuple[str, str]]] = (-1, frozenset())

    @classmethod
    def open(cls, path: Path) -> Glossary:
        """Opens the glossary, which is made if there is none.

        Raises:
            DamagedStore: the file is corrupt, truncated or of a newer program.
        """
        prepare(path)
        return cls(path)

    def close(self) -> None:
        self._connections.close()

    # -- contexts -------------------------------------------------------------------------------------------------

    def contexts(self, principal: Principal) -> list[Context]:
        """The contexts the principal may know, by name."""
        sql = "SELECT id, name, description, contact, audience FROM contexts ORDER BY key"
        rows = select(self._connections.reader(), sql, {})
        return [_context_of(row) for row in rows if may_read(principal, row["audience"])]

    def add_context(
        self,
        name: str,
        description: str = "",
        contact: str = "",
        audience: Audience | None = None,
        *,
        by: Principal | None = None,
    ) -> Context:
        """Adds a context, or updates one: an argument that is left out (or empty) changes nothing.

        Raises:
            InvalidInput: the name is empty.
            NotAllowed: it is there, and not `by`'s to read.
        """
        if not normalise(name) or not all(map(is_storable, (name, description, contact))):
            raise InvalidInput(f"{name!r} cannot name a context; give the name of a team, product or field.")
        with self._connections.writing() as db:
            writer = Writer(db, by)
            number, _ = writer.put_context(name, description or None, contact or None, audience)
            writer.finish()
            row = next(select(db.conn, "SELECT * FROM contexts WHERE id = :id", {"id": number}))
        return _context_of(row)

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
        by: Principal | None = None,
    ) -> Sense:
        """Adds a sense, or replaces what is said about the one with this term, context and expansion.

        Without an audience a known sense keeps its own, and a new one is for everyone.

        Raises:
            InvalidInput: a field is empty or too long.
            NotAllowed: the sense or its context is there, and not `by`'s to read.
        """
        if status not in _STATUSES:
            raise InvalidInput(f"'{status}' is no status of a sense. Statuses: {', '.join(_STATUSES)}.")
        given = checked(
            SenseInput(term, context, expansion, description, notes, tuple(aliases), owner, status, audience)
        )
        with self._connections.writing() as db:
            writer = Writer(db, by)
            number, _, _ = writer.put_sense(given)
            writer.finish()
            row = next(select(db.conn, "SELECT * FROM sense_rows WHERE id = :id", {"id": number}))
        return sense_of(row)

    def sense(self, principal: Principal, sense_id: int) -> Sense:
        """One sense by its id.

        Raises:
            NotFound: there is none, or not for this principal.
        """
        rows = select(self._connections.reader(), "SELECT * FROM sense_rows WHERE id = :id", {"id": sense_id})
        for row in readable(rows, principal):
            return sense_of(row)
        raise NotFound(f"There is no sense {sense_id}. `argot glossary list` shows those there are.")

    def senses(
        self,
        principal: Principal,
        *,
        query: str | None = None,
        context: str | None = None,
        status: SenseStatus | None = None,
        limit: int | None = None,
    ) -> list[Sense]:
        """The senses the principal may read, by term; `query` is text within term, alias or expansion."""
        values = {"context_key": None if context is None else context_key(context), "status": status}
        rows = readable(select(self._connections.reader(), statement("senses"), values), principal)
        wanted = normalise(query or "")
        found: list[Sense] = []
        for row in rows:
            if limit is not None and len(found) >= limit:
                break
            sense = sense_of(row)
            if not wanted or any(wanted in normalise(text) for text in (sense.term, sense.expansion, *sense.aliases)):
                found.append(sense)
        return found

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
        """Finds the terms the principal may know in texts; built once per version and set of readable senses."""
        return self._view(principal).matcher

    def suggest(self, principal: Principal, term: str, limit: int = 3) -> list[str]:
        """Terms that may have been meant, best first: near in spelling, or abbreviating what was typed.

        Equally near ones are ordered by their number of senses.
        """
        return self._view(principal).suggester.suggest(term, limit)

    def version(self) -> int:
        """Counts up with every change, whoever made it."""
        row = self._connections.reader().execute("SELECT value FROM meta WHERE name = 'version'").fetchone()
        return int(row[0])

    # -- misses ---------------------------------------------------------------------------------------------------

    def record_miss(self, term: str, principal_name: str, question: str, thread: str) -> None:
        """Notes that a question met an unknown term; for the same question of the same thread this happens once."""
        with self._connections.writing() as db:
            record(db.conn, term, principal_name, question, thread=thread, now=timestamp())

    def misses(self, principal: Principal) -> list[MissRecord]:
        """Unknown terms, most asked first, as far as the principal may read the questions: their own, or all."""
        return records(self._connections.reader(), principal)

    # -- files ----------------------------------------------------------------------------------------------------

    def import_csv(self, text: str | bytes, name: str = "glossary.csv", *, by: Principal | None = None) -> ImportReport:
        """Adds and updates the senses of a CSV file (`csv_format` says how it looks), all of them or none.

        Bytes are decoded as whatever program may have saved them: UTF-8, UTF-16 or Windows-1252.

        Raises:
            InvalidGlossary: the file has bad rows; all of them are named, and nothing was changed.
            NotAllowed: a sense or context in it is there, and not `by`'s to read; nothing was changed.
        """
        senses = csv_format.read_senses(csv_format.decode(text) if isinstance(text, bytes) else text, name)
        outcomes: dict[int, str] = {}
        made: list[str] = []
        with self._connections.writing() as db:
            writer = Writer(db, by)
            for given in senses:
                number, outcome, context_outcome = writer.put_sense(given)
                if outcomes.get(number) != "added":
                    outcomes[number] = outcome if outcome != "unchanged" else outcomes.get(number, outcome)
                if context_outcome == "added":
                    made.append(given.context)
            writer.finish()
        counted = list(outcomes.values())
        return ImportReport(counted.count("added"), counted.count("updated"), counted.count("unchanged"), tuple(made))

    def export_csv(self, principal: Principal) -> str:
        """The approved and draft senses the principal may read, as a CSV file that imports as it is."""
        return csv_format.write_senses(sense for sense in self.senses(principal) if sense.status != "retired")

    # -- views ----------------------------------------------------------------------------------------------------

    def _view(self, principal: Principal) -> _View:
        with self._guard:
            version = self.version()
            guards = self._guards_at(version)
            open_to = frozenset(guard for guard in guards if may_read(principal, *guard))
            view = self._views.get((version, open_to))
            if view is None:
                self._views = {key: kept for key, kept in self._views.items() if key[0] == version}
                if len(self._views) >= _CACHED_VIEWS:
                    self._views.pop(next(iter(self._views)))
                view = self._views[(version, open_to)] = self._build_view(open_to)
            return view

    def _guards_at(self, version: int) -> frozenset[tuple[str, str]]:
        """The distinct pairs of audiences (of sense and context) that guard the senses."""
        if self._guards[0] != version:
            sql = (
                "SELECT DISTINCT senses.audience, contexts.audience "
                "FROM senses JOIN contexts ON contexts.id = senses.context"
            )
            pairs = frozenset((row[0], row[1]) for row in self._connections.reader().execute(sql))
            self._guards = (version, pairs)
        return self._guards[1]

    def _build_view(self, open_to: frozenset[tuple[str, str]]) -> _View:
        reader = self._connections.reader()
        spellings = [
            Spelling(term, spelling, key)
            for term, spelling, key, *guard in reader.execute(statement("matchable"))
            if tuple(guard) in open_to
        ]
        return _View(TermMatcher(spellings), lambda: self._expansions(open_to))

    def _expansions(self, open_to: frozenset[tuple[str, str]]) -> list[tuple[str, str]]:
        rows = self._connections.reader().execute(statement("expansions"))
        return [(term, expansion) for term, expansion, *guard in rows if tuple(guard) in open_to]


def _told_apart(term: str, rows: list[Row]) -> list[Sense]:
    """The senses of the rows; where spellings differ in coded case, those of the spelling asked for alone."""
    spellings = {row["spelling"] for row in rows}
    same = term.strip() in spellings and any(is_coded(spelling) for spelling in spellings)
    return [sense_of(row) for row in rows if not same or _is_asked(term.strip(), row)]


def _is_asked(term: str, row: Row) -> bool:
    return bool(row["spelling"] == term or row["key"] != normalise(term))


def _context_of(row: Row) -> Context:
    return Context(row["id"], row["name"], row["description"], row["contact"], audience_of(row["audience"]))
