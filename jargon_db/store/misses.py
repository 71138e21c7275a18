"""Terms that questions used and nobody had defined: the work list of a glossary's managers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from argot.clock import timestamp
from argot.errors import InvalidInput, NotFound
from argot.jargon_db.lookup.normalise import list_variants, normalise
from argot.jargon_db.store.inputs import is_storable
from argot.jargon_db.store.rows import Row, encode_keys, encode_list, next_number, readable
from argot.jargon_db.store.statements import load_statement
from argot.jargon_db.store.usage import format_week
from argot.types import Principal

if TYPE_CHECKING:
    from argot.jargon_db.store.connections import Connections

MissStatus = Literal["open", "dismissed", "defined"]

_TOLD = """
UPDATE miss_questions SET told = :now
WHERE thread = :thread AND told IS NULL
  AND miss IN (SELECT id FROM misses WHERE key IN (SELECT value FROM json_each(:keys) AS wanted))
"""
_UNTOLD = """
SELECT misses.term, miss_questions.principal, miss_questions.thread, miss_questions.question, miss_questions.asked
FROM misses JOIN miss_questions ON miss_questions.miss = misses.id
WHERE miss_questions.told IS NULL AND miss_questions.principal = :principal
  AND (CAST(:thread AS TEXT) IS NULL OR miss_questions.thread = :thread)
ORDER BY miss_questions.asked, miss_questions.id
"""
_SHARED = "SELECT shared FROM miss_questions WHERE principal = :principal AND thread = :thread"
_SHARE = "UPDATE miss_questions SET shared = :shared WHERE principal = :principal AND thread = :thread"
_ADD_TERM = f"""
INSERT INTO misses (id, term, key) SELECT {next_number("misses")}, :term, :key
WHERE NOT EXISTS (SELECT 1 FROM misses WHERE key = :key)
"""  # noqa: S608
_ASKED_AGAIN = """
UPDATE miss_questions SET shared = CASE WHEN shared = 1 THEN 1 ELSE :shared END
WHERE miss = (SELECT id FROM misses WHERE key = :key) AND thread = :thread AND question = :question
"""
_ADD = f"""
INSERT INTO miss_questions (id, miss, question, principal, thread, asked, shared)
SELECT {next_number("miss_questions")}, id, :question, :principal, :thread, :now, :shared FROM misses WHERE key = :key
"""  # noqa: S608
_BY_WEEK = """
SELECT misses.term, miss_questions.asked, miss_questions.principal
FROM misses JOIN miss_questions ON miss_questions.miss = misses.id ORDER BY miss_questions.asked
"""
_COMMONEST = """
SELECT misses.term, count(*) AS number FROM miss_questions JOIN misses ON misses.id = miss_questions.miss
WHERE miss_questions.asked >= :since AND miss_questions.asked < :before AND misses.dismissed IS NULL
GROUP BY misses.id ORDER BY number DESC, misses.term LIMIT :most
"""
_SHARED_QUESTIONS = "SELECT DISTINCT thread, question FROM miss_questions WHERE shared = 1 AND question != ''"
_AMONG = "SELECT key FROM misses WHERE key IN (SELECT value FROM json_each(:keys) AS wanted)"
_DISMISS = "UPDATE misses SET dismissed = ?, dismissed_by = ?, why = ? WHERE key = ? AND dismissed IS NULL"


@dataclass(frozen=True, slots=True)
class MissRecord:
    """An unknown term: how many questions met it, first and last time (ISO, UTC), and the questions that the reader may
    read.

    Questions are listed newest first, before those that do not name the term. `defined`: an approved sense that the
    reader may read was written since it was last missed; a term whose existing senses were not meant is open.
    `dismissed`: a manager decided that it needs none; it is still counted. `waiting`: the number of people who
    asked and have not been notified of a meaning.
    """

    term: str
    count: int
    first: str
    last: str
    questions: tuple[str, ...]
    status: MissStatus = "open"
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class UnansweredMiss:
    """A question that met an unknown term, whose asker has not yet been notified of its meaning. `asked` is ISO,
    UTC.
    """

    term: str
    principal: str
    thread: str
    question: str
    asked: str


@dataclass(frozen=True, slots=True)
class WeekOfMisses:
    """The number of a week's questions in which a term was unknown."""

    week: str
    term: str
    count: int


class Misses:
    """The unknown terms of one glossary, and the questions that met them.

    A question belongs to its asker: others read it only if it was recorded as shared. Managers see every term and its
    count, because these are their work; a principal who sees all sees everything.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def record(
        self, term: str, principal_name: str, question: str, thread: str, *, meant: str = "", shared: bool = False
    ) -> None:
        """Record that a question met an unknown term; once for the same question of the same thread.

        `meant`: the question as it was understood, which is recorded instead if only there the term occurs: "How often
        is it done?" tells managers nothing. `shared`: its asker knows that managers will read it.

        Raises:
            InvalidInput: the term is empty or cannot be stored.
        """
        key = normalise(term)
        # A lone surrogate cannot be written as UTF-8, and would fail in the middle of the transaction.
        if not key or not all(map(is_storable, (term, principal_name, question, meant, thread))):
            raise InvalidInput(f"{term!r} cannot be noted as an unknown term.")
        question = meant if _occurs(key, meant) and not _occurs(key, question) else question
        said = {"question": question, "principal": principal_name, "thread": thread, "shared": int(shared)}
        with self._connections.writing() as connection:
            connection.execute(_ADD_TERM, {"term": term.strip(), "key": key})
            values = {**said, "key": key, "now": timestamp("seconds")}
            if not connection.execute(_ASKED_AGAIN, values).rowcount:
                connection.execute(_ADD, values)

    def open(self, principal: Principal) -> list[MissRecord]:
        """Return the terms that still need a meaning; otherwise as `find`."""
        return self.find(principal, "open")

    def find(self, principal: Principal, status: MissStatus | None = None) -> list[MissRecord]:
        """Return unknown terms, those for which most people wait first, then the most asked: all of them for managers,
        for others those of their own questions.

        `status` None includes those that were defined or dismissed since.
        """
        asked: dict[str, list[Row]] = {}
        for row in self._connections.select(load_statement("misses")):
            if principal.is_manager or row["principal"] == principal.name:
                asked.setdefault(row["key"], []).append(row)
        defined = self._find_defined(principal, list(asked))
        # By time: an existing sense that the asker did not mean leaves the term open.
        found = [
            _record(rows, principal, defined=defined.get(key, "") >= rows[-1]["asked"]) for key, rows in asked.items()
        ]
        wanted = [miss for miss in found if status is None or miss.status == status]
        return sorted(wanted, key=lambda miss: (-miss.waiting, -miss.count, miss.term))

    def dismiss(self, by: Principal, term: str, why: str = "") -> None:
        """Record permanently that the term needs no meaning: further questions are counted, but it stays dismissed.

        Raises:
            NotFound: no question used it.
            NotAllowed: `by` manages no context.
            InvalidInput: the reason cannot be stored.
        """
        with self._connections.changing(by, "edit", why=why) as writer:
            writer.require_manager()
            key = normalise(term)
            if not writer.connection.execute("SELECT 1 FROM misses WHERE key = ?", (key,)).fetchone():
                raise NotFound(f"Nobody has asked for {term!r} in vain.")
            writer.connection.execute(_DISMISS, (writer.now, by.name, why, key))

    def by_week(self, principal: Principal) -> list[WeekOfMisses]:
        """Return how often each unknown term was asked for, by week: for managers by everyone, else by the
        principal.
        """
        counts: Counter[tuple[str, str]] = Counter()
        for row in self._connections.select(_BY_WEEK):
            if principal.is_manager or row["principal"] == principal.name:
                counts[format_week(datetime.fromisoformat(row["asked"])), row["term"]] += 1
        return [WeekOfMisses(week, term, count) for (week, term), count in sorted(counts.items())]

    def list_commonest(self, principal: Principal, since: str, before: str, most: int) -> list[tuple[str, int]]:
        """The terms that questions missed most from `since` on and before `before`, each with their number; without
        those that were dismissed. Empty for a principal who manages nothing.
        """
        if not principal.is_manager:
            return []
        rows = self._connections.select(_COMMONEST, since=since, before=before, most=most)
        return [(row["term"], row["number"]) for row in rows]

    def list_shared_questions(self, principal: Principal) -> set[tuple[str, str]]:
        """Return thread and wording of the questions that their askers let managers read."""
        if not principal.is_manager:
            return set()
        return {(row["thread"], row["question"]) for row in self._connections.select(_SHARED_QUESTIONS)}

    def filter_missed(self, terms: Sequence[str]) -> set[str]:
        """Return those of the terms that some question missed."""
        keys = {term: normalise(term) for term in terms}
        found = {row["key"] for row in self._connections.select(_AMONG, keys=encode_list(list(keys.values())))}
        return {term for term, key in keys.items() if key in found}

    def list_untold(self, principal_name: str, thread: str | None = None) -> list[UnansweredMiss]:
        """Return the questions of one person that met an unknown term and may need a notification of its meaning, first
        to last.
        """
        return [
            UnansweredMiss(**row) for row in self._connections.select(_UNTOLD, principal=principal_name, thread=thread)
        ]

    def share(self, principal_name: str, thread: str, *, shared: bool = True) -> int:
        """Let managers read the questions of this person's thread that met unknown terms, or revoke it; return how
        many.
        """
        values = {"principal": principal_name, "thread": thread, "shared": int(shared)}
        with self._connections.writing() as connection:
            return connection.execute(_SHARE, values).rowcount

    def are_shared(self, principal_name: str, thread: str) -> bool:
        """Return whether managers may read all of this person's questions in this thread that met unknown terms."""
        rows = list(self._connections.select(_SHARED, principal=principal_name, thread=thread))
        return bool(rows) and all(row["shared"] for row in rows)

    def mark_told(self, term: str, thread: str) -> None:
        """Record that the asker was notified in this thread; `list_untold` no longer returns these questions."""
        keys = encode_list(self._find_forms(term))
        with self._connections.writing() as connection:
            connection.execute(_TOLD, {"now": timestamp("seconds"), "thread": thread, "keys": keys})

    def _find_forms(self, term: str) -> list[str]:
        """Return the keys of missed terms that are this one or a form of it, such as its plural."""
        key = normalise(term)
        # Opposite to a look-up: the missed form may be the plural of the term now defined.
        return [
            row["key"] for row in self._connections.select("SELECT key FROM misses") if key in list_variants(row["key"])
        ]

    def _find_defined(self, principal: Principal, keys: list[str]) -> dict[str, str]:
        """Return the time at which each term's senses last changed, by key, leaving out terms without senses."""
        asked = [(number, 0, form) for number, key in enumerate(keys) for form in list_variants(key)]
        rows = readable(self._connections.select(load_statement("look_up"), keys=encode_keys(asked)), principal)
        changed: dict[str, str] = {}
        for row in rows:
            key = keys[row["asked"]]
            changed[key] = max(changed.get(key, ""), row["updated"])
        return changed


def _record(rows: list[Row], principal: Principal, *, defined: bool) -> MissRecord:
    questions = [
        row["question"]
        # Rows are sorted oldest first. Erased questions have no wording, but still count.
        for row in reversed(rows)
        if row["question"] and (principal.sees_all or row["principal"] == principal.name or row["shared"])
    ]
    return MissRecord(
        term=rows[0]["term"],
        count=len(rows),
        first=rows[0]["asked"],
        last=rows[-1]["asked"],
        # A stable order: sorted by whether the term is missing.
        questions=tuple(sorted(dict.fromkeys(questions), key=lambda one: not _occurs(rows[0]["key"], one))),
        status="defined" if defined else "dismissed" if rows[0]["dismissed"] else "open",
        # Erased questions have no asker, whom nobody can notify.
        waiting=len({row["principal"] for row in rows if row["principal"] and not row["told"]}),
    )


def _occurs(key: str, question: str) -> bool:
    """Tell whether a question names the term of this key as words of its own, also in the plural."""
    return re.search(rf"(?<!\w){re.escape(key)}(?:'?e?s)?(?!\w)", normalise(question)) is not None
