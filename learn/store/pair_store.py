"""The store `learning`: sets of training pairs, how each was made, and people's changes.

The text of a passage is read from corpus.db for each reader, and is not stored here: deleted or unreadable text is in
no set either. Only imported passages that are not in the base are stored with their text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from argot.clock import timestamp
from argot.databases import Dialect, PerEngine, StoreMigration, Stores
from argot.errors import Conflict, NotFound
from argot.learn.training_pairs import PARTS, Part

PairState = Literal["kept", "struck"]
SetStatus = Literal["making", "done"]

_TABLES = """
    CREATE TABLE sets (
        name TEXT PRIMARY KEY, created TEXT NOT NULL, created_by TEXT NOT NULL, seed INTEGER NOT NULL,
        made TEXT NOT NULL, readers TEXT NOT NULL, status TEXT NOT NULL, done INTEGER NOT NULL, total INTEGER NOT NULL,
        left_out TEXT NOT NULL
    );
    CREATE TABLE documents (
        of TEXT NOT NULL REFERENCES sets (name) ON DELETE CASCADE, document TEXT NOT NULL, name TEXT NOT NULL,
        readers TEXT NOT NULL, PRIMARY KEY (of, document)
    ) WITHOUT ROWID;
    CREATE TABLE steps (
        of TEXT NOT NULL REFERENCES sets (name) ON DELETE CASCADE, step TEXT NOT NULL, PRIMARY KEY (of, step)
    ) WITHOUT ROWID;
    CREATE TABLE pairs (
        place INTEGER PRIMARY KEY, of TEXT NOT NULL REFERENCES sets (name) ON DELETE CASCADE, id TEXT NOT NULL,
        question TEXT NOT NULL, answer TEXT NOT NULL, passage_id TEXT NOT NULL, passage TEXT NOT NULL,
        document TEXT NOT NULL, kind TEXT NOT NULL, part TEXT NOT NULL, negatives TEXT NOT NULL,
        state TEXT NOT NULL DEFAULT 'kept', asked_by TEXT NOT NULL DEFAULT '', first_question TEXT, first_answer TEXT,
        changed_by TEXT NOT NULL DEFAULT '', changed_at TEXT NOT NULL DEFAULT '', UNIQUE (of, id)
    );
    CREATE INDEX pairs_by_set ON pairs (of, place)
    """
MIGRATIONS: tuple[StoreMigration, ...] = (
    PerEngine(sqlite=_TABLES, postgresql=_TABLES.replace("TABLE documents", "TABLE set_documents")),
    # On PostgreSQL the corpus, with its documents, is in the same schema.
    PerEngine(sqlite="ALTER TABLE documents RENAME TO set_documents", postgresql=""),
)
_ALL = 2**63 - 1
"""A limit that no set reaches: the engines have no common way to state that there is no limit."""


@dataclass(frozen=True, slots=True)
class SetDocument:
    """A document from which pairs were made. `readers`: its readers when they were made; empty: everybody.

    `document` is the id of a document of the base.
    """

    document: str
    name: str
    readers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PairSet:
    """A set of pairs. `made`: the options ("kinds", "limit", "tags", "model"); `readers`: the readers of pairs that are
    not of a document of the base (empty: everybody); `left_out`: how many pairs by reason. `done` of `total` passages
    are gone through.
    """

    name: str
    created: str
    created_by: str
    seed: int
    made: Mapping[str, Any] = field(default_factory=dict)
    readers: tuple[str, ...] = ()
    status: SetStatus = "making"
    done: int = 0
    total: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredPair:
    """A stored pair of a set. `passage` is empty where the passage is one of the base.

    `document` is the document's id, or its name in the import. `first_question`, `first_answer`: as they were made,
    where somebody corrected them. `asked_by`: the asker of the question; empty: nobody.
    """

    id: str
    question: str
    answer: str
    passage_id: str
    document: str
    kind: str
    part: Part
    passage: str = ""
    negatives: tuple[str, ...] = ()
    state: PairState = "kept"
    asked_by: str = ""
    first_question: str | None = None
    first_answer: str | None = None
    changed_by: str = ""
    changed_at: str = ""

    @property
    def is_corrected(self) -> bool:
        return self.first_question is not None


@dataclass(frozen=True, slots=True)
class PairQuery:
    """A query for pairs of a set with these words in question or answer, of this kind, part and state."""

    words: str = ""
    kind: str = ""
    part: str = ""
    state: str = ""


class PairStore:
    """The sets of one knowledge base. Each method may be called in any thread.

    Raises:
        DamagedStore, StoreUnavailable: by every method.
    """

    def __init__(self, stores: Stores) -> None:
        self.database = stores.open("learning", MIGRATIONS)
        self._rows, self._changing = self.database.rows, self.database.transaction

    def close(self) -> None:
        self.database.close()

    def scrub(self) -> bool:
        """Remove deleted data from the write-ahead log; return False if a reader still uses an earlier state."""
        return self.database.scrub()

    # -- sets ---------------------------------------------------------------------------------------------------------

    def sets(self) -> list[PairSet]:
        """List all sets, newest first, without access checks."""
        return [_read_set(row) for row in self._rows(f"SELECT {_SET} FROM sets ORDER BY created DESC, name")]  # noqa: S608

    def get_set(self, name: str) -> PairSet:
        """
        Raises:
            NotFound: there is no set of this name.
        """
        rows = self._rows(f"SELECT {_SET} FROM sets WHERE name = ?", name)  # noqa: S608
        if not rows:
            raise NotFound(f"There is no set of pairs '{name}'. See them with: argot learn data list")
        return _read_set(rows[0])

    def create(self, new: PairSet) -> None:
        """
        Raises:
            Conflict: there is one of this name.
        """
        values = (
            new.name,
            new.created,
            new.created_by,
            new.seed,
            _serialize(new.made),
            _serialize(new.readers),
            new.status,
        )
        sql = f"INSERT INTO sets ({_SET}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"  # noqa: S608
        if not self.database.write(sql, *values, new.done, new.total, _serialize(new.left_out)):
            raise Conflict(f"There is a set of pairs '{new.name}' already. Give another name.")

    def remove(self, name: str) -> int:
        """Remove a set; return the number of its pairs."""
        with self._changing() as db:
            count = db.execute("SELECT count(*) FROM pairs WHERE of = ?", (name,)).fetchone()[0]
            db.execute("DELETE FROM sets WHERE name = ?", (name,))
        return int(count)

    def documents(self, name: str) -> list[SetDocument]:
        rows = self._rows("SELECT document, name, readers FROM set_documents WHERE of = ? ORDER BY name", name)
        return [SetDocument(document, called, tuple(json.loads(readers))) for document, called, readers in rows]

    # -- making -------------------------------------------------------------------------------------------------------

    def list_done_steps(self, name: str) -> set[str]:
        return {step for (step,) in self._rows("SELECT step FROM steps WHERE of = ?", name)}

    def add(
        self,
        name: str,
        pairs: Iterable[StoredPair],
        documents: Iterable[SetDocument] = (),
        *,
        steps: Sequence[str] = (),
        left_out: Mapping[str, int] | None = None,
        total: int | None = None,
    ) -> int:
        """Add the pairs of some steps of the making, with those steps; return the number of new pairs."""
        rows = [
            (
                name,
                one.id,
                one.question,
                one.answer,
                one.passage_id,
                one.passage,
                one.document,
                one.kind,
                one.part,
                _serialize(one.negatives),
                one.state,
                one.asked_by,
            )
            for one in pairs
        ]
        with self._changing() as db:
            added = db.executemany(
                "INSERT INTO pairs (of, id, question, answer, passage_id, passage, document, kind, part, negatives,"
                " state, asked_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                rows,
            ).rowcount
            db.executemany(
                "INSERT INTO set_documents (of, document, name, readers) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (of, document) DO UPDATE SET name = excluded.name, readers = excluded.readers",
                [(name, one.document, one.name, _serialize(one.readers)) for one in documents],
            )
            noted = "INSERT INTO steps (of, step) VALUES (?, ?) ON CONFLICT DO NOTHING"
            db.executemany(noted, [(name, step) for step in steps])
            if left_out is not None:
                db.execute("UPDATE sets SET left_out = ? WHERE name = ?", (_serialize(left_out), name))
            db.execute(
                "UPDATE sets SET done = done + ?, total = coalesce(?, total) WHERE name = ?", (len(steps), total, name)
            )
        return max(added, 0)

    def finish(self, name: str) -> None:
        """Mark a set as made, and delete the record of its steps, which is no longer needed."""
        with self._changing() as db:
            db.execute("UPDATE sets SET status = 'done' WHERE name = ?", (name,))
            db.execute("DELETE FROM steps WHERE of = ?", (name,))

    # -- pairs --------------------------------------------------------------------------------------------------------

    def pairs(
        self,
        name: str,
        query: PairQuery = PairQuery(),
        *,
        limit: int = _ALL,
        offset: int = 0,
    ) -> list[StoredPair]:
        """List pairs in the order in which they were made."""
        where, values = _build_where(name, query, self.database.dialect)
        sql = f"SELECT {_PAIR} FROM pairs WHERE {where} ORDER BY place LIMIT ? OFFSET ?"  # noqa: S608
        return [_read_pair(row) for row in self._rows(sql, *values, limit, offset)]

    def count(self, name: str, query: PairQuery = PairQuery()) -> int:
        where, values = _build_where(name, query, self.database.dialect)
        return int(self._rows(f"SELECT count(*) FROM pairs WHERE {where}", *values)[0][0])  # noqa: S608

    def counts(self, name: str, by: Literal["kind", "part"]) -> dict[str, int]:
        """Count the unstruck pairs of each kind or part."""
        sql = f"SELECT {by}, count(*) FROM pairs WHERE of = ? AND state = 'kept' GROUP BY {by} ORDER BY {by}"  # noqa: S608
        found = {str(one): int(count) for one, count in self._rows(sql, name)}
        return {part: found.get(part, 0) for part in PARTS} if by == "part" else found

    def pair(self, name: str, id_: str) -> StoredPair:
        """
        Raises:
            NotFound: the set has no such pair.
        """
        rows = self._rows(f"SELECT {_PAIR} FROM pairs WHERE of = ? AND id = ?", name, id_)  # noqa: S608
        if not rows:
            raise NotFound(f"The set '{name}' has no pair '{id_}'. See them with: argot learn data show {name}")
        return _read_pair(rows[0])

    def set_state(self, name: str, id_: str, state: PairState, by: str) -> StoredPair:
        self.pair(name, id_)
        with self._changing() as db:
            db.execute(
                "UPDATE pairs SET state = ?, changed_by = ?, changed_at = ? WHERE of = ? AND id = ?",
                (state, by, timestamp(), name, id_),
            )
        return self.pair(name, id_)

    def correct(self, name: str, id_: str, question: str, answer: str, by: str) -> StoredPair:
        """Store a corrected question and answer beside the first ones; the first words again undo the correction."""
        found = self.pair(name, id_)
        first = (found.first_question, found.first_answer) if found.is_corrected else (found.question, found.answer)
        kept = (None, None) if first == (question, answer) else first
        with self._changing() as db:
            db.execute(
                "UPDATE pairs SET question = ?, answer = ?, first_question = ?, first_answer = ?, changed_by = ?,"
                " changed_at = ? WHERE of = ? AND id = ?",
                (question, answer, *kept, by, timestamp(), name, id_),
            )
        return self.pair(name, id_)

    # -- documents ----------------------------------------------------------------------------------------------------

    def erase_documents(
        self, documents: Collection[str], passages: Collection[str], is_quoted: Callable[[str, Collection[str]], bool]
    ) -> int:
        """Remove everything made from these documents or passages (ids), and imported passages that quote them and not
        the passages that they are called; return how many rows.
        """
        called: dict[str, list[str]] = {}
        for text, id_ in self._rows("SELECT DISTINCT passage, passage_id FROM pairs WHERE passage != ''"):
            called.setdefault(text, []).append(id_)
        quoted = [text for text, ids in called.items() if is_quoted(text, ids)]
        changed, listing = 0, self.database.dialect.texts
        with self._changing() as db:
            for table, column, gone in (
                ("pairs", "document", documents),
                ("set_documents", "document", documents),
                ("pairs", "passage_id", passages),
                ("pairs", "passage", quoted),
            ):
                sql = f"DELETE FROM {table} WHERE {column} IN {listing}"  # noqa: S608
                changed += db.execute(sql, (_serialize(sorted(gone)),)).rowcount
        return changed

    # -- people -------------------------------------------------------------------------------------------------------

    def asked_by(self, names: Sequence[str]) -> set[str]:
        """Return the ids of the pairs that are questions of these people."""
        listing = self.database.dialect.texts
        sql = f"SELECT DISTINCT id FROM pairs WHERE asked_by IN {listing}"  # noqa: S608
        return {str(id_) for (id_,) in self._rows(sql, _serialize(names))}

    def erase_person(self, names: Sequence[str], instead: str) -> int:
        """Remove these people's questions, and replace their names on pairs they made or changed; return how many rows.

        A set that was exported and imported again does not record the askers: their ids are the same.
        """
        listed, asked = _serialize(names), _serialize(sorted(self.asked_by(names)))
        with self._changing() as db:
            listing = self.database.dialect.texts
            changed = 0
            for column, values in (("asked_by", listed), ("id", asked)):
                changed += db.execute(f"DELETE FROM pairs WHERE {column} IN {listing}", (values,)).rowcount  # noqa: S608
            for table, column in (("sets", "created_by"), ("pairs", "changed_by")):
                sql = f"UPDATE {table} SET {column} = ? WHERE {column} IN {listing}"  # noqa: S608
                changed += db.execute(sql, (instead, listed)).rowcount
        return changed


_SET = "name, created, created_by, seed, made, readers, status, done, total, left_out"
_PAIR = (
    "id, question, answer, passage_id, document, kind, part, passage, negatives, state, asked_by, first_question,"
    " first_answer, changed_by, changed_at"
)


def _read_set(row: Sequence[Any]) -> PairSet:
    name, created, by, seed, made, readers, status, done, total, left_out = row
    made, left_out = json.loads(made), json.loads(left_out)
    return PairSet(name, created, by, seed, made, tuple(json.loads(readers)), status, done, total, left_out)


def _read_pair(row: Sequence[Any]) -> StoredPair:
    values = dict(zip(_PAIR.split(", "), row, strict=True))
    return StoredPair(**{**values, "negatives": tuple(json.loads(values["negatives"]))})


def _build_where(name: str, query: PairQuery, said: Dialect) -> tuple[str, list[str]]:
    clauses, values = ["of = ?"], [name]
    for word in query.words.split():
        found = (said.holds(said.lower_ascii(column), said.lower_ascii("?")) for column in ("question", "answer"))
        clauses.append(f"({' OR '.join(found)})")
        values += [word, word]
    for column in ("kind", "part"):
        if wanted := getattr(query, column):
            clauses.append(f"{column} = ?")
            values.append(wanted)
    if query.state == "corrected":
        clauses.append("first_question IS NOT NULL")
    elif query.state:
        clauses.append("state = ?")
        values.append(query.state)
    return " AND ".join(clauses), values


def _serialize(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=list)
