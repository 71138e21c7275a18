"""threads.db: the checkpoints of every conversation, its title, its owner, and what people said of its answers.

LangGraph hands any thread to any caller; whose thread it is, is checked here. Everything goes through the saver's
own connection and lock: a second connection that waits for a write lock on the event loop would stop the loop that
has to release it.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argot.clock import timestamp
from argot.errors import NotFound
from argot.results import AskResult
from argot.service.threads.question_schema import SCHEMA as ASKED
from argot.sqlite import damage_named, open_connection, open_database

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

TITLE_CHARS = 80
_ROWS_AT_ONCE = 64
"""Read from the connection's own thread in one go, as `aiosqlite.connect` does."""

MIGRATIONS = (
    """
    CREATE TABLE threads (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, title TEXT NOT NULL,
        created_at TEXT NOT NULL, updated_at TEXT NOT NULL
    );
    CREATE INDEX threads_by_owner ON threads (owner, updated_at);
    CREATE TABLE feedback (
        thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
        turn INTEGER NOT NULL, user TEXT NOT NULL, value INTEGER NOT NULL, comment TEXT NOT NULL, at TEXT NOT NULL,
        PRIMARY KEY (thread, turn, user)
    )
    """,
    """
    ALTER TABLE threads ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
    CREATE TABLE files (
        thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
        document TEXT NOT NULL, name TEXT NOT NULL, bytes INTEGER NOT NULL, at TEXT NOT NULL,
        PRIMARY KEY (thread, document)
    );
    ALTER TABLE feedback ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE feedback ADD COLUMN trace TEXT NOT NULL DEFAULT ''
    """,
    """
    ALTER TABLE threads ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
    UPDATE threads SET used = ranked.place
    FROM (SELECT id, row_number() OVER (ORDER BY updated_at, rowid) AS place FROM threads) AS ranked
    WHERE ranked.id = threads.id;
    DROP INDEX threads_by_owner;
    CREATE INDEX threads_by_owner ON threads (owner, used);
    CREATE INDEX threads_by_use ON threads (used)
    """,
    ASKED,
)
"""`used` orders threads by last use; clocks can be reset."""


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """How a question is answered: by which profile, for whom at home in which context, from which documents.

    `since`, `fields` (name and value): as in `argot.types.QuestionScope`. `documents`: only these (ids) are searched;
    none: all.
    """

    profile: str | None = None
    context: str | None = None
    tags: tuple[str, ...] = ()
    since: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    documents: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str) -> AnswerSettings:
        kept = json.loads(text)
        fields = tuple((name, value) for name, value in kept.get("fields", ()))
        tags, documents = tuple(kept.get("tags", ())), tuple(kept.get("documents", ()))
        return cls(kept.get("profile"), kept.get("context"), tags, kept.get("since", ""), fields, documents)


@dataclass(frozen=True, slots=True)
class Thread:
    """One conversation. `title` is the first question, shortened, until somebody renames it.

    `settings`: how its questions are answered where they do not say so themselves (`AnswerSettings`).
    """

    id: str
    owner: str
    title: str
    created_at: str
    updated_at: str
    settings: AnswerSettings = AnswerSettings()


@dataclass(frozen=True, slots=True)
class Feedback:
    """What somebody said of one answer: +1, -1 or 0 (taken back). `turn` counts from 0.

    `shared`: they agreed that those who look after the documents read their question.
    """

    thread: str
    turn: int
    user: str
    value: int
    comment: str
    at: str
    shared: bool = False


@dataclass(frozen=True, slots=True)
class ThreadFile:
    """A document that was put into one conversation, to be asked about there alone."""

    document: str
    name: str
    bytes: int
    at: str


@dataclass(frozen=True, slots=True)
class JudgedTurn:
    """Feedback with the turn it is about, as the turn stood then: ids and short texts, as a thread keeps them.

    What of it somebody may see is found out when it is read, as for every turn.
    """

    said: Feedback
    turn: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadRead(Thread):
    """A thread with all that its owner may see of it now. `waiting`: the last turn waits for a choice."""

    turns: list[AskResult]
    waiting: bool
    feedback: list[Feedback]
    files: list[ThreadFile]
    shared: bool


class Threads:
    """The conversations of one knowledge base, bound to the event loop it was opened in."""

    def __init__(self, saver: AsyncSqliteSaver, path: Path) -> None:
        self.saver = saver
        self.path = path

    @classmethod
    async def open(cls, path: Path) -> Threads:
        # Checkpoints are data: unpickling or naming classes in them must not run code.
        os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
        import aiosqlite
        from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

        from argot.graph.checkpoints.checkpointer import TurnSaver

        open_database(path, MIGRATIONS).close()
        # "NORMAL" for checkpoints; `_write` makes what has to last durable.
        connection = await aiosqlite.Connection(lambda: open_connection(path, synchronous="NORMAL"), _ROWS_AT_ONCE)
        # Said once more, for langgraph reads the variable when it is first imported, by whomever.
        saver = TurnSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        try:
            with damage_named(path):
                await saver.setup()
        except BaseException:
            await connection.close()
            raise
        return cls(saver, path)

    async def close(self) -> None:
        await self.saver.conn.close()

    async def start(self, owner: str, question: str) -> Thread:
        """A new thread, known before anything is asked in it, so that nothing of it is ever without an owner."""
        at = timestamp()
        thread = Thread(f"t{secrets.token_hex(8)}", owner, _title(question), at, at)
        await self._write(
            f"INSERT INTO threads (id, owner, title, created_at, updated_at, used) VALUES (?, ?, ?, ?, ?, {_NEXT_USE})",  # noqa: S608
            (thread.id, thread.owner, thread.title, at, at),
        )
        return thread

    async def own(self, owner: str, thread: str) -> Thread:
        """The thread, if it is this person's.

        Raises:
            NotFound: there is none, or it is somebody else's; the two are never told apart.
        """
        rows = await self._rows(f"SELECT {_THREAD} FROM threads WHERE id = ? AND owner = ?", (thread, owner))  # noqa: S608
        # Whose it is is part of the query: the answer is the same for none and for somebody else's.
        if not rows:
            raise NotFound(f"There is no thread '{thread}' of yours. See them with: argot threads list")
        return _thread(rows[0])

    async def of(self, owner: str) -> list[Thread]:
        """This person's threads, the latest first."""
        rows = await self._rows(f"SELECT {_THREAD} FROM threads WHERE owner = ? ORDER BY used DESC", (owner,))  # noqa: S608
        return [_thread(row) for row in rows]

    async def touch(self, thread: str) -> None:
        await self._write(f"UPDATE threads SET updated_at = ?, used = {_NEXT_USE} WHERE id = ?", (timestamp(), thread))  # noqa: S608

    async def rename(self, owner: str, thread: str, title: str) -> Thread:
        await self.own(owner, thread)
        await self._write("UPDATE threads SET title = ? WHERE id = ?", (_title(title), thread))
        return await self.own(owner, thread)

    async def delete(self, owner: str, thread: str) -> Thread:
        """Delete a thread with its checkpoints, feedback and list of files."""
        found = await self.own(owner, thread)
        # Checkpoints first: a crash in between leaves an empty thread of its owner, never checkpoints without one.
        await self.saver.adelete_thread(thread)
        await self._write("DELETE FROM threads WHERE id = ?", (thread,))
        return found

    async def settle(self, owner: str, thread: str, manner: AnswerSettings) -> Thread:
        """Keep how the questions of this thread are answered from now on."""
        await self.own(owner, thread)
        await self._write("UPDATE threads SET settings = ? WHERE id = ?", (json.dumps(asdict(manner)), thread))
        return await self.own(owner, thread)

    async def give_feedback(
        self,
        owner: str,
        thread: str,
        turn: int,
        value: int,
        comment: str,
        *,
        shared: bool = False,
        trace: Mapping[str, Any] | None = None,
    ) -> Feedback:
        """Say what an answer was worth; a later word replaces an earlier one.

        Args:
            shared: those who look after the documents may read the question.
            trace: what the thread keeps of the turn that is judged.
        """
        await self.own(owner, thread)
        said = Feedback(thread, turn, owner, value, comment, timestamp(), shared)
        # What was taken back needs no record of its answer.
        kept = json.dumps(trace, ensure_ascii=False) if trace and value else ""
        await self._write(
            f"INSERT OR REPLACE INTO feedback ({_FEEDBACK}, trace) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
            (said.thread, said.turn, said.user, said.value, said.comment, said.at, said.shared, kept),
        )
        return said

    async def forget_feedback(self, owner: str, thread: str, turn: int) -> None:
        """Drop what was said of an answer that is gone."""
        await self.own(owner, thread)
        await self._write("DELETE FROM feedback WHERE thread = ? AND turn = ?", (thread, turn))

    async def feedback(self, owner: str, thread: str) -> list[Feedback]:
        await self.own(owner, thread)
        rows = await self._rows(f"SELECT {_FEEDBACK} FROM feedback WHERE thread = ? ORDER BY turn", (thread,))  # noqa: S608
        return [_said(row) for row in rows]

    async def judged(self, since: str = "") -> list[JudgedTurn]:
        """Everybody's feedback that was not taken back, the oldest first. What may be shown of it is the caller's to
        decide.
        """
        sql = f"SELECT {_FEEDBACK}, trace FROM feedback WHERE value != 0 AND at >= ? ORDER BY at, thread, turn"  # noqa: S608
        rows = await self._rows(sql, (since,))
        return [JudgedTurn(_said(row[:-1]), json.loads(row[-1]) if row[-1] else {}) for row in rows]

    async def attach(self, owner: str, thread: str, file: ThreadFile) -> None:
        """Note that a document was put into a thread of this person's."""
        await self.own(owner, thread)
        await self._write(
            "INSERT OR REPLACE INTO files (thread, document, name, bytes, at) VALUES (?, ?, ?, ?, ?)",
            (thread, file.document, file.name, file.bytes, file.at),
        )

    async def detach(self, thread: str, document: str) -> None:
        await self._write("DELETE FROM files WHERE thread = ? AND document = ?", (thread, document))

    async def files(self, owner: str, thread: str) -> list[ThreadFile]:
        """What was put into a thread of this person's, in the order in which it came."""
        await self.own(owner, thread)
        sql = "SELECT document, name, bytes, at FROM files WHERE thread = ? ORDER BY rowid"
        return [ThreadFile(*row) for row in await self._rows(sql, (thread,))]

    async def unused_since(self, before: str) -> list[Thread]:
        """Everybody's threads that were not used since this moment (ISO, UTC), the oldest first."""
        rows = await self._rows(f"SELECT {_THREAD} FROM threads WHERE updated_at < ? ORDER BY used", (before,))  # noqa: S608
        return [_thread(row) for row in rows]

    async def owners(self) -> list[str]:
        """Whose threads there are."""
        return [str(owner) for (owner,) in await self._rows("SELECT DISTINCT owner FROM threads ORDER BY owner", ())]

    async def scrub(self) -> bool:
        """Take what was deleted out of the write-ahead log as well; False if somebody reads an earlier state now."""
        rows = await self._rows("PRAGMA wal_checkpoint(TRUNCATE)", ())
        # The first column says whether a reader kept the log from being cut.
        return not rows[0][0]

    async def with_files(self, owner: str) -> list[str]:
        """The ids of this person's threads into which something was put."""
        sql = "SELECT DISTINCT t.id FROM threads AS t JOIN files AS f ON f.thread = t.id WHERE t.owner = ?"
        return [id_ for (id_,) in await self._rows(sql, (owner,))]

    async def read(self, sql: str, parameters: Sequence[Any]) -> list[Any]:
        """The rows of a short query."""
        return await self._rows(sql, parameters)

    async def note(self, sql: str, values: Mapping[str, Any]) -> None:
        """One statement that a loss of power may take back."""
        with damage_named(self.path):
            async with self.saver.lock:
                if self.saver.conn.in_transaction:
                    await self.saver.conn.rollback()
                await self.saver.conn.execute(sql, values)

    async def _rows(self, sql: str, parameters: Sequence[Any]) -> list[Any]:
        with damage_named(self.path):
            async with self.saver.lock:
                return list(await self.saver.conn.execute_fetchall(sql, parameters))

    async def _write(self, sql: str, parameters: Sequence[Any]) -> None:
        """One statement that is on the disk when this returns, and with it every checkpoint written before."""
        connection = self.saver.conn
        with damage_named(self.path):
            async with self.saver.lock:
                # Left by a write whose asker went away: it would hold the lock on the file.
                if connection.in_transaction:
                    await connection.rollback()
                # Only here: the checkpoints of a question's dozen steps are not flushed one by one. No kill can lose
                # them, and until the question is answered nothing is promised that a loss of power could break.
                await connection.execute("PRAGMA synchronous = FULL")
                try:
                    await connection.execute(sql, parameters)
                finally:
                    await connection.execute("PRAGMA synchronous = NORMAL")


_THREAD = "id, owner, title, created_at, updated_at, settings"
_NEXT_USE = "(SELECT coalesce(max(used), 0) + 1 FROM threads)"
_FEEDBACK = "thread, turn, user, value, comment, at, shared"


def _said(row: Sequence[Any]) -> Feedback:
    thread, turn, user, value, comment, at, shared = row
    return Feedback(thread, turn, user, value, comment, at, bool(shared))


def _thread(row: Sequence[Any]) -> Thread:
    id_, owner, title, created_at, updated_at, settings = row
    return Thread(id_, owner, title, created_at, updated_at, AnswerSettings.read(settings))


def _title(text: str) -> str:
    title = " ".join(text.split())
    return title if len(title) <= TITLE_CHARS else f"{title[: TITLE_CHARS - 1]}…"
