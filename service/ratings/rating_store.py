"""ratings.db: studies, their questions and answers, who is invited, and what raters said.

A rating is one row by question and rater, whatever is sent how often from how many tabs. What is not finished yet is
kept beside it as a draft, so that a browser that closes loses nothing.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from argot.clock import timestamp
from argot.errors import Conflict, NotAllowed, NotFound
from argot.jargon_db.store.privacy import ERASED
from argot.service.ratings.study import Answer, Aspect, Judgement, NewItem, Rating, Sources, Study, StudyItem
from argot.service.storage.shared_database import Database

MIGRATIONS = (
    """
    CREATE TABLE studies (
        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE COLLATE NOCASE, about TEXT NOT NULL,
        aspects TEXT NOT NULL, ranking INTEGER NOT NULL, origin TEXT NOT NULL, profiles TEXT NOT NULL,
        seed TEXT NOT NULL, created_by TEXT NOT NULL, created_at TEXT NOT NULL, closed_at TEXT
    );
    CREATE TABLE items (
        id INTEGER PRIMARY KEY AUTOINCREMENT, study INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
        place INTEGER NOT NULL, question TEXT NOT NULL, reference TEXT NOT NULL,
        thread TEXT NOT NULL, turn INTEGER NOT NULL,
        UNIQUE (study, place)
    );
    CREATE INDEX items_by_thread ON items (thread, turn) WHERE thread != '';
    CREATE TABLE answers (
        item INTEGER NOT NULL REFERENCES items (id) ON DELETE CASCADE,
        system TEXT NOT NULL, text TEXT NOT NULL, sources TEXT NOT NULL,
        PRIMARY KEY (item, system)
    );
    CREATE TABLE raters (
        study INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
        person TEXT NOT NULL, invited_by TEXT NOT NULL, invited_at TEXT NOT NULL,
        PRIMARY KEY (study, person)
    );
    CREATE TABLE ratings (
        item INTEGER NOT NULL REFERENCES items (id) ON DELETE CASCADE,
        rater TEXT NOT NULL, said TEXT, at TEXT NOT NULL, draft TEXT,
        PRIMARY KEY (item, rater)
    );
    CREATE INDEX ratings_by_rater ON ratings (rater)
    """,
    # Judging passages: whether they are relevant, and which sentences of an answer they bear out.
    """
    ALTER TABLE studies ADD COLUMN kind TEXT NOT NULL DEFAULT 'answers';
    ALTER TABLE items ADD COLUMN sentences TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE answers ADD COLUMN label TEXT NOT NULL DEFAULT ''
    """,
)

_ITEMS = "SELECT id, place, question, reference, thread, turn, sentences FROM items"


class RatingStore:
    """Studies and ratings, in ratings.db. Methods block; each is one transaction."""

    def __init__(self, path: Path) -> None:
        self.database = Database(path, MIGRATIONS)

    def close(self) -> None:
        self.database.close()

    def scrub(self) -> bool:
        return self.database.scrub()

    # -- studies -------------------------------------------------------------------------------------------------------

    def create(self, study: Study, items: Sequence[NewItem]) -> Study:
        """Store a study with its questions, all or nothing.

        Raises:
            Conflict: there is one of this name.
        """
        aspects = json.dumps([asdict(one) for one in study.aspects], ensure_ascii=False)
        values = (
            study.name, study.about, aspects, study.ranking, study.origin, json.dumps(study.profiles),
            secrets.token_hex(16), study.created_by, timestamp(), study.kind,
        )  # fmt: skip
        with self.database.transaction() as connection:
            if connection.execute("SELECT 1 FROM studies WHERE name = ?", (study.name,)).fetchone():
                raise Conflict(f"There is a study '{study.name}' already. Give this one another name.")
            sql = "INSERT INTO studies VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)"
            number = connection.execute(sql, values).lastrowid
            for place, item in enumerate(items, 1):
                row = (number, place, item.question, item.reference, item.thread, item.turn, _listed(item.sentences))
                made = connection.execute("INSERT INTO items VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", row).lastrowid
                for answer in item.answers:
                    _insert_answer(connection, made or 0, answer)
        return self.study(study.name)

    def studies(self) -> list[Study]:
        """All of them, the latest first."""
        return [_study(row) for row in self.database.rows("SELECT * FROM studies ORDER BY id DESC")]

    def study(self, name: str) -> Study:
        """
        Raises:
            NotFound
        """
        rows = self.database.rows("SELECT * FROM studies WHERE name = ?", name)
        if not rows:
            raise NotFound(f"There is no study '{name}'. See them with: argot ratings list")
        return _study(rows[0])

    def close_study(self, name: str, *, closed: bool) -> Study:
        """Close a study or open it again; one that is so already stays as it is."""
        study = self.study(name)
        sql = "UPDATE studies SET closed_at = coalesce(closed_at, ?) WHERE id = ?"
        self.database.write(sql if closed else "UPDATE studies SET closed_at = NULL WHERE id = ?",
                            *((timestamp(), study.id) if closed else (study.id,)))  # fmt: skip
        return self.study(name)

    def remove(self, name: str) -> Study:
        """Delete a study with its ratings, for good."""
        study = self.study(name)
        self.database.write("DELETE FROM studies WHERE id = ?", study.id)
        return study

    # -- questions and answers -----------------------------------------------------------------------------------------

    def items(self, study: Study) -> list[StudyItem]:
        """Its questions in order, each with the answers there are so far."""
        with self.database.reader() as connection:
            rows = connection.execute(f"{_ITEMS} WHERE study = ? ORDER BY place", (study.id,)).fetchall()
            sql = "SELECT a.* FROM answers AS a JOIN items AS i ON i.id = a.item WHERE i.study = ? ORDER BY a.rowid"
            answers: dict[int, list[Answer]] = {}
            for row in connection.execute(sql, (study.id,)):
                answers.setdefault(row["item"], []).append(_answer(row))
        return [_item(row, answers.get(row["id"], ())) for row in rows]

    def add_answer(self, item: int, answer: Answer) -> None:
        """Keep what a system answered; where it answered already, that stays. Nothing where the question is gone."""
        with self.database.transaction() as connection:
            if connection.execute("SELECT 1 FROM items WHERE id = ?", (item,)).fetchone():
                _insert_answer(connection, item, answer)

    def add_passages(self, item: int, passages: Sequence[Answer], sentences: Sequence[str] = ()) -> None:
        """Keep what was found for a question, all or nothing; where there is something already, that stays.

        A question for which nothing was found is deleted: there is nothing to judge.
        """
        with self.database.transaction() as connection:
            if not passages:
                connection.execute("DELETE FROM items WHERE id = ?", (item,))
            sql = "SELECT 1 FROM items WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM answers WHERE item = ?1)"
            if connection.execute(sql, (item,)).fetchone():
                connection.execute("UPDATE items SET sentences = ? WHERE id = ?", (_listed(sentences), item))
                for passage in passages:
                    _insert_answer(connection, item, passage)

    def forget_shared(self, thread: str, turn: int | None = None) -> int:
        """Delete the questions that stem from a thread, or from one of its turns; how many there were."""
        if turn is None:
            return self.database.write("DELETE FROM items WHERE thread = ?", thread)
        return self.database.write("DELETE FROM items WHERE thread = ? AND turn = ?", thread, turn)

    # -- raters --------------------------------------------------------------------------------------------------------

    def invite(self, study: Study, people: Iterable[str], by: str) -> None:
        at = timestamp()
        with self.database.transaction() as connection:
            rows = [(study.id, person, by, at) for person in people]
            connection.executemany("INSERT OR IGNORE INTO raters VALUES (?, ?, ?, ?)", rows)

    def uninvite(self, study: Study, people: Iterable[str]) -> None:
        """Take invitations back. What these people saved already stays."""
        with self.database.transaction() as connection:
            rows = [(study.id, person) for person in people]
            connection.executemany("DELETE FROM raters WHERE study = ? AND person = ?", rows)

    def invited(self, study: Study) -> list[str]:
        sql = "SELECT person FROM raters WHERE study = ? ORDER BY person"
        return [str(row["person"]) for row in self.database.rows(sql, study.id)]

    def studies_of(self, person: str) -> list[Study]:
        """The studies this person is invited to, the latest first."""
        sql = "SELECT s.* FROM studies AS s JOIN raters AS r ON r.study = s.id WHERE r.person = ? ORDER BY s.id DESC"
        return [_study(row) for row in self.database.rows(sql, person)]

    # -- ratings -------------------------------------------------------------------------------------------------------

    def ratings(self, study: Study) -> list[Rating]:
        """Of everybody, in the order of questions and raters."""
        sql = "SELECT r.* FROM ratings AS r JOIN items AS i ON i.id = r.item WHERE i.study = ? ORDER BY place, rater"
        return [_rating(row) for row in self.database.rows(sql, study.id)]

    def ratings_by(self, study: Study, rater: str) -> dict[int, Rating]:
        """Those of one person, by the question's id."""
        sql = "SELECT r.* FROM ratings AS r JOIN items AS i ON i.id = r.item WHERE i.study = ? AND r.rater = ?"
        return {row["item"]: _rating(row) for row in self.database.rows(sql, study.id, rater)}

    def save(self, item: int, rater: str, said: Judgement) -> None:
        """Keep a rating in the place of the one before; its draft has served its purpose. Sent twice, it is one.

        Raises:
            Conflict: the study is closed. NotFound: the question is gone. NotAllowed: the rater is not invited.
        """
        with self.database.transaction() as connection:
            _require_open(connection, item, rater)
            connection.execute(
                "INSERT INTO ratings VALUES (?1, ?2, ?3, ?4, NULL) ON CONFLICT (item, rater) DO UPDATE"
                " SET at = iif(said IS excluded.said, at, excluded.at), said = excluded.said, draft = NULL",
                (item, rater, _stored(said), timestamp()),
            )

    def keep_draft(self, item: int, rater: str, draft: Judgement) -> None:
        """Keep what is not finished. One that says what is saved already, or nothing, is none. Raises as `save`."""
        kept = None if draft == Judgement() else _stored(draft)
        with self.database.transaction() as connection:
            _require_open(connection, item, rater)
            connection.execute(
                "INSERT INTO ratings VALUES (?1, ?2, NULL, ?4, ?3) ON CONFLICT (item, rater) DO UPDATE"
                " SET draft = iif(excluded.draft IS said, NULL, excluded.draft)",
                (item, rater, kept, timestamp()),
            )

    # -- people --------------------------------------------------------------------------------------------------------

    def kept_of(self, names: Sequence[str]) -> list[tuple[Study, StudyItem, Rating]]:
        """Every rating of these names, with what it is about."""
        found = []
        for study in self.studies():
            items = {one.id: one for one in self.items(study)}
            found += [(study, items[one.item], one) for one in self.ratings(study) if one.rater in names]
        return found

    def invitations_of(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """To which study each of these names was invited, and when."""
        sql = "SELECT s.name AS study, invited_at FROM raters JOIN studies AS s ON s.id = study WHERE person = ?"
        return [dict(row) for name in names for row in self.database.rows(sql, name)]

    def erase(self, names: Sequence[str]) -> int:
        """Forget who these people are; how many rows named them.

        What they scored stays under a name made up for each study, so that its results stay; their words go.
        """
        gone = 0
        with self.database.transaction() as connection:
            for name in names:
                gone += connection.execute("DELETE FROM raters WHERE person = ?", (name,)).rowcount
                for (study,) in connection.execute("SELECT id FROM studies").fetchall():
                    gone += _anonymise(connection, study, name)
                for table, column in (("raters", "invited_by"), ("studies", "created_by")):
                    sql = f"UPDATE {table} SET {column} = ? WHERE {column} = ?"  # noqa: S608  names of our own
                    gone += connection.execute(sql, (ERASED, name)).rowcount
        return gone


def _anonymise(connection: sqlite3.Connection, study: int, name: str) -> int:
    of_study = "rater = ? AND item IN (SELECT id FROM items WHERE study = ?)"
    gone = connection.execute(f"DELETE FROM ratings WHERE said IS NULL AND {of_study}", (name, study)).rowcount  # noqa: S608
    sql = f"UPDATE ratings SET rater = ?, draft = NULL, said = json_set(said, '$.comment', '') WHERE {of_study}"  # noqa: S608
    return gone + connection.execute(sql, (f"{ERASED} {secrets.token_hex(3)}", name, study)).rowcount


def _require_open(connection: sqlite3.Connection, item: int, rater: str) -> None:
    sql = (
        "SELECT s.closed_at, r.person FROM items AS i JOIN studies AS s ON s.id = i.study"
        " LEFT JOIN raters AS r ON r.study = s.id AND r.person = ? WHERE i.id = ?"
    )
    found = connection.execute(sql, (rater, item)).fetchone()
    if found is None:
        raise NotFound("This question is not in the study any more. Go on with the next one.")
    if found["person"] is None:
        raise NotAllowed("You are not invited to this study any more.")
    if found["closed_at"]:
        raise Conflict("This study is closed: it takes no more ratings. What you saved before is kept.")


def _insert_answer(connection: sqlite3.Connection, item: int, answer: Answer) -> None:
    row = (item, answer.system, answer.text, json.dumps(asdict(answer.sources), ensure_ascii=False), answer.label)
    connection.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)", row)


def _listed(texts: Sequence[str]) -> str:
    return json.dumps(list(texts), ensure_ascii=False)


def _study(row: sqlite3.Row) -> Study:
    aspects = tuple(Aspect(**one) for one in json.loads(row["aspects"]))
    kept = {**dict(row), "aspects": aspects, "ranking": bool(row["ranking"])}
    return Study(**{**kept, "profiles": tuple(json.loads(row["profiles"]))})


def _item(row: sqlite3.Row, answers: Sequence[Answer]) -> StudyItem:
    kept = {**dict(row), "sentences": tuple(json.loads(row["sentences"]))}
    return StudyItem(**kept, answers=tuple(answers))


def _answer(row: sqlite3.Row) -> Answer:
    sources = json.loads(row["sources"])
    kept = Sources(tuple(sources["documents"]), tuple(sources["senses"]))
    return Answer(row["system"], row["text"], kept, row["label"])


def _rating(row: sqlite3.Row) -> Rating:
    return Rating(row["item"], row["rater"], _judgement(row["said"]), row["at"], _judgement(row["draft"]))


def _stored(said: Judgement) -> str:
    # Sorted, so that the same judgement is the same text.
    return json.dumps(asdict(said), ensure_ascii=False, sort_keys=True)


def _judgement(text: str | None) -> Judgement | None:
    return Judgement(**json.loads(text)) if text else None
