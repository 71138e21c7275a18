"""Verified answers: answers that an owner of their documents or terms vouches for, by their question.

Questions are found by digests of what they ask, made by the caller. Passages and documents are ids to this store; the
caller checks who may read them, and whether they still say what they said (`argot.graph.verified_answers`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from argot.clock import timestamp
from argot.errors import NotFound
from argot.jargon_db.store.rows import Row, next_number
from argot.languages.catalogues import translate

if TYPE_CHECKING:
    from argot.jargon_db.store.connections import Connections

VERIFIED_ANSWERS = """
-- Answers that an owner of their documents or terms verified. `plain_digest` and `key_digest`: of the question as it
-- stands, and of what it asks; the latter is empty where only the same words match. `content`: sentences, passages,
-- senses, as JSON.
CREATE TABLE verified_answers (
    id INTEGER PRIMARY KEY, question TEXT NOT NULL, plain_digest TEXT NOT NULL, key_digest TEXT NOT NULL,
    content TEXT NOT NULL, owner TEXT NOT NULL, owner_name TEXT NOT NULL, at TEXT NOT NULL
);

CREATE INDEX verified_answers_by_question ON verified_answers (plain_digest);

CREATE INDEX verified_answers_by_key ON verified_answers (key_digest)
"""
"""A migration of glossary.db."""

_COLUMNS = "id, question, content, owner, owner_name, at"
_ADD = f"""
INSERT INTO verified_answers (id, question, plain_digest, key_digest, content, owner, owner_name, at)
SELECT {next_number("verified_answers")}, :question, :plain, :key, :content, :owner, :owner_name, :at
RETURNING id
"""
_CHANGE = """
UPDATE verified_answers SET content = :content, owner = :owner, owner_name = :owner_name, at = :at WHERE id = :id
"""
_FIND = f"""
SELECT {_COLUMNS} FROM verified_answers
WHERE plain_digest = :plain OR (key_digest <> '' AND key_digest = :key) ORDER BY at DESC, id DESC
"""  # noqa: S608
_ALL = f"SELECT {_COLUMNS} FROM verified_answers ORDER BY at DESC, id DESC"  # noqa: S608
_ONE = f"SELECT {_COLUMNS} FROM verified_answers WHERE id = :id"  # noqa: S608
_REMOVE = "DELETE FROM verified_answers WHERE id = ?"


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A passage that a verified answer cites. `digest`: of its text and headings, to recognise it in another revision
    of its document. `start`: in characters of the revision's Markdown. `sections`: start and digest of the document's
    sections that are cited, to recognise them where the rest of the passage changed (`argot.graph.cited_sections`);
    empty in older rows.
    """

    id: str
    document: str
    document_name: str
    start: int
    digest: str
    sections: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class UsedSense:
    """A sense in which a verified answer's question was read. `digest`: of what it said."""

    id: int
    term: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContent:
    """The content of a verified answer.

    `sentences`: as the graph stores them (`argot.graph.state.SentenceRecord`). `defined`: the senses (ids) whose
    meaning the answer states before them.
    """

    sentences: list[dict[str, Any]]
    passages: list[CitedPassage]
    senses: list[UsedSense]
    defined: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedAnswer:
    """A stored answer. `owner`: the user who verified it; `owner_name`: their name for people. `at` is ISO, UTC."""

    id: int
    question: str
    content: AnswerContent
    owner: str
    owner_name: str
    at: str


class VerifiedAnswers:
    """The verified answers of one knowledge base."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def add(self, question: str, keys: tuple[str, str], content: AnswerContent, owner: tuple[str, str]) -> int:
        """Store an answer and return its id.

        Args:
            keys: the question as it stands, and what it asks (empty: only the same words match).
            owner: the user who verified it, and their name for people.
        """
        values = {"question": question, **_digest_keys(keys), **_write_verification(content, owner)}
        with self._connections.writing() as connection:
            return int(connection.execute(_ADD, values).fetchone()[0])

    def renew(self, id_: int, content: AnswerContent, owner: tuple[str, str]) -> None:
        """Store what an answer says now, and who verified it again."""
        values = {"id": id_, **_write_verification(content, owner)}
        with self._connections.writing() as connection:
            connection.execute(_CHANGE, values)

    def find(self, keys: tuple[str, str]) -> list[VerifiedAnswer]:
        """Return the answers to this question, as for `add`, the latest first. The caller checks who may read them."""
        return [_read_answer(row) for row in self._connections.select(_FIND, **_digest_keys(keys))]

    def get(self, id_: int) -> VerifiedAnswer | None:
        return next((_read_answer(row) for row in self._connections.select(_ONE, id=id_)), None)

    def list_all(self) -> list[VerifiedAnswer]:
        """Return all answers, the latest first. The caller checks who may read them."""
        return [_read_answer(row) for row in self._connections.select(_ALL)]

    def remove(self, id_: int) -> None:
        with self._connections.writing() as connection:
            connection.execute(_REMOVE, (id_,))

    def erase(self, is_gone: Callable[[str], bool], is_quoted: Callable[[str, Collection[str]], bool]) -> None:
        """Delete the answers that rest on erased documents, or that quote them and not the documents they cite."""
        for one in self.list_all():
            cited = [id_ for passage in one.content.passages for id_ in (passage.id, passage.document)]
            text = " ".join(str(sentence["text"]) for sentence in one.content.sentences)
            if any(map(is_gone, cited)) or is_quoted(text, cited):
                self.remove(one.id)


def build_missing_error(id_: int) -> NotFound:
    """Build the error for an answer that does not exist or that the caller may not know."""
    return NotFound(translate("There is no verified answer %(number)s. See them: argot answers list", number=id_))


def _digest_keys(keys: tuple[str, str]) -> dict[str, str]:
    # Digests: PostgreSQL indexes no text of more than 2,700 bytes.
    plain, key = (hashlib.sha256(text.encode()).hexdigest() if text else "" for text in keys)
    return {"plain": plain, "key": key}


def _write_verification(content: AnswerContent, owner: tuple[str, str]) -> dict[str, str]:
    """Return the columns of what is verified now, and by whom."""
    text = json.dumps(asdict(content), ensure_ascii=False)
    return {"content": text, "owner": owner[0], "owner_name": owner[1], "at": timestamp()}


def _read_answer(row: Row) -> VerifiedAnswer:
    kept = json.loads(row["content"])
    content = AnswerContent(
        sentences=kept["sentences"],
        passages=[CitedPassage(**one) for one in kept["passages"]],
        senses=[UsedSense(**one) for one in kept["senses"]],
        defined=kept["defined"],
    )
    others = {name: row[name] for name in ("id", "question", "owner", "owner_name", "at")}
    return VerifiedAnswer(content=content, **others)
