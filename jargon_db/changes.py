"""Every write to the glossary: each goes through `Writer`, which notes what changed and counts the version up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from sqlite_utils import Database

from argot.errors import InvalidInput, NotAllowed
from argot.jargon_db.normalise import normalise
from argot.jargon_db.rows import aliases_of, may_read, store_audience
from argot.types import EVERYONE, Audience, Principal, SenseStatus

MAX_TERM_CHARS = 200
MAX_EXPANSION_CHARS = 10_000
_LIMITS = {"expansion": MAX_EXPANSION_CHARS, "context": MAX_TERM_CHARS, "owner": MAX_TERM_CHARS}
Outcome = Literal["added", "updated", "unchanged"]

_PUBLIC = store_audience(EVERYONE)
_BLANK = {"description": "", "notes": "", "owner": "", "status": "approved", "audience": _PUBLIC}
_SENSE = "SELECT * FROM sense_rows WHERE spelling = ? AND context_key = ? AND expansion = ?"


def timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Change:
    """One row of a table, before and after. History is kept from these."""

    table: str
    row: int
    before: dict[str, Any] | None
    after: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SenseInput:
    """What a caller or a row of a file says about one sense. `None`: nothing said, an existing value stays."""

    term: str
    context: str
    expansion: str
    description: str | None = None
    notes: str | None = None
    aliases: tuple[str, ...] | None = None
    owner: str | None = None
    status: SenseStatus | None = None
    audience: Audience | None = None


@dataclass(slots=True)
class Writer:
    """Writes within one transaction; `finish` must come last in it.

    With a principal, what is there and not theirs to read is not theirs to change: else naming a hidden context would
    tell of it, or open it.
    """

    db: Database
    principal: Principal | None = None
    changes: list[Change] = field(default_factory=list)
    now: str = field(default_factory=timestamp)
    _contexts: dict[str, int] = field(default_factory=dict)

    def put_context(
        self, name: str, description: str | None, contact: str | None, audience: Audience | None
    ) -> tuple[int, Outcome]:
        """Adds the context, or updates what is given of it; contexts are one when their normalised names are."""
        key = context_key(name)
        given = {
            "description": description,
            "contact": contact,
            "audience": None if audience is None else store_audience(audience),
        }
        found = self._one("SELECT id, name, description, contact, audience FROM contexts WHERE key = ?", (key,))
        if found is None:
            row = {"description": "", "contact": "", "audience": _PUBLIC, **_said(given)}
            number = self._insert("contexts", {"name": name.strip(), "key": key, **row})
            return number, "added"
        self._require_readable(f"context '{name.strip()}'", found["audience"])
        return found["id"], self._update("contexts", found, _said(given))

    def context_for(self, name: str) -> tuple[int, Outcome]:
        """The id of a context, which is made if there is none; remembered for the length of the transaction."""
        key = context_key(name)
        if key in self._contexts:
            return self._contexts[key], "unchanged"
        self._contexts[key], outcome = self.put_context(name, None, None, None)
        return self._contexts[key], outcome

    def put_sense(self, given: SenseInput) -> tuple[int, Outcome, Outcome]:
        """Adds or updates the sense with this (term, context, expansion).

        Returns its id, what happened to it, and what happened to its context.
        """
        context, context_outcome = self.context_for(given.context)
        said = _said(
            {
                "description": given.description,
                "notes": given.notes,
                "aliases": given.aliases,
                "owner": given.owner,
                "status": given.status,
                "audience": None if given.audience is None else store_audience(given.audience),
            }
        )
        found = self._one(_SENSE, (given.term, context_key(given.context), given.expansion))
        if found is None:
            return self._add_sense(given, context, said), "added", context_outcome
        self._require_readable(f"sense of '{given.term}' in '{given.context}'", found["audience"])
        aliases = said.pop("aliases", None)
        outcome = self._update("senses", found, said, updated=self.now)
        if aliases is not None and tuple(aliases) != aliases_of(found["aliases"]):
            self._replace_aliases(found["id"], aliases)
            outcome = "updated"
        return found["id"], outcome, context_outcome

    def finish(self) -> None:
        """Counts the version up once if anything changed. History is appended here, in the same transaction."""
        if self.changes:
            self.db.conn.execute("UPDATE meta SET value = value + 1 WHERE name = 'version'")

    def _require_readable(self, what: str, audience: str) -> None:
        if self.principal is not None and not may_read(self.principal, audience):
            raise NotAllowed(
                f"There is a {what} that is not yours to read, so not yours to change. Choose another name, or ask the"
                " person who runs this machine."
            )

    def _add_sense(self, given: SenseInput, context: int, said: dict[str, Any]) -> int:
        aliases = said.pop("aliases", ())
        row = {**_BLANK, **said, "term": self._term(given.term), "context": context, "expansion": given.expansion}
        number = self._insert("senses", {**row, "created": self.now, "updated": self.now})
        self._insert_aliases(number, aliases)
        return number

    def _term(self, spelling: str) -> int:
        found = self._one("SELECT id FROM terms WHERE spelling = ?", (spelling,))
        return found["id"] if found else self._insert("terms", {"spelling": spelling, "key": normalise(spelling)})

    def _replace_aliases(self, sense: int, aliases: Sequence[str]) -> None:
        before = [
            row[0]
            for row in self.db.conn.execute("SELECT spelling FROM aliases WHERE sense = ? ORDER BY place", (sense,))
        ]
        self.db.conn.execute("DELETE FROM aliases WHERE sense = ?", (sense,))
        self._insert_aliases(sense, aliases)
        self.db.conn.execute("UPDATE senses SET updated = ? WHERE id = ?", (self.now, sense))
        self.changes.append(Change("aliases", sense, {"aliases": before}, {"aliases": list(aliases)}))

    def _insert_aliases(self, sense: int, aliases: Sequence[str]) -> None:
        rows = [(sense, place, spelling, normalise(spelling)) for place, spelling in enumerate(aliases)]
        self.db.conn.executemany("INSERT INTO aliases (sense, place, spelling, key) VALUES (?, ?, ?, ?)", rows)

    def _one(self, sql: str, values: Sequence[object]) -> dict[str, Any] | None:
        cursor = self.db.conn.execute(sql, values)
        row = cursor.fetchone()
        return None if row is None else dict(zip([column[0] for column in cursor.description], row, strict=True))

    def _insert(self, table: str, row: dict[str, Any]) -> int:
        """Table and column names are this module's own words; every value is bound."""
        names = ", ".join(row)
        marks = ", ".join("?" * len(row))
        cursor = self.db.conn.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values()))  # noqa: S608
        number = cursor.lastrowid or 0
        self.changes.append(Change(table, number, None, row))
        return number

    def _update(self, table: str, found: dict[str, Any], said: dict[str, Any], **stamps: str) -> Outcome:
        new = {name: value for name, value in said.items() if found[name] != value}
        if not new:
            return "unchanged"
        setting = ", ".join(f"{name} = ?" for name in (*new, *stamps))
        values = [*new.values(), *stamps.values(), found["id"]]
        self.db.conn.execute(f"UPDATE {table} SET {setting} WHERE id = ?", values)  # noqa: S608
        self.changes.append(Change(table, found["id"], {name: found[name] for name in new}, new))
        return "updated"


def checked(given: SenseInput) -> SenseInput:
    """The input, trimmed.

    Raises:
        InvalidInput: term or expansion is empty, the term is too long, or a text cannot be stored.
    """
    problems = problems_of(given)
    if problems:
        raise InvalidInput(
            f"Nothing was stored for the term {given.term!r}: {'; '.join(text for _, text in problems)}."
        )
    aliases = None if given.aliases is None else clean_aliases(given.aliases)
    return SenseInput(
        given.term.strip(),
        given.context.strip(),
        given.expansion.strip(),
        given.description,
        given.notes,
        aliases,
        given.owner,
        given.status,
        given.audience,
    )


def problems_of(given: SenseInput) -> list[tuple[str, str]]:
    """(column, what is wrong and what to do) for each field that cannot be stored."""
    problems = []
    if not normalise(given.term):
        problems.append(("term", "the term is empty; give the word or abbreviation to be explained"))
    elif len(given.term.strip()) > MAX_TERM_CHARS:
        size = len(given.term.strip())
        problems.append(
            ("term", f"the term has {size} characters; shorten it to {MAX_TERM_CHARS} and describe it instead")
        )
    if not given.expansion.strip():
        problems.append(("expansion", f"the expansion of {given.term.strip()!r} is empty; say what it stands for"))
    if not normalise(given.context):
        problems.append(("context", "the context is empty; name the team or field the term belongs to"))
    for alias in given.aliases or ():
        if len(alias.strip()) > MAX_TERM_CHARS:
            problems.append(("aliases", f"an alias has {len(alias)} characters; shorten it to {MAX_TERM_CHARS}"))
    for name in ("term", "context", "expansion", "description", "notes", "owner"):
        text = getattr(given, name) or ""
        if len(text) > _LIMITS.get(name, len(text)):
            problems.append((name, f"it has {len(text):,} characters; shorten it to {_LIMITS[name]:,}"))
        if not is_storable(text):
            problems.append((name, "it holds half of a surrogate pair, which is no character; type it again"))
    return problems


def clean_aliases(aliases: Sequence[str]) -> tuple[str, ...]:
    """Trimmed, without empty ones and doubles, in their order."""
    return tuple(dict.fromkeys(alias.strip() for alias in aliases if normalise(alias)))


def is_storable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text) if not text.isascii() else True


def context_key(name: str) -> str:
    return normalise(name)


def _said(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}
