"""threads.db: the checkpoints of every conversation, its title, its owner, and what people said of its answers.

LangGraph hands any thread to any caller; whose thread it is, is checked here. Everything goes through the saver's
own connection and lock: a second connection that waits for a write lock on the event loop would stop the loop that
has to release it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argot.errors import NotFound
from argot.service.home import now
from argot.service.sqlite import damage_named, open_database

if TYPE_CHECKING:
    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

TITLE_CHARS = 80

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
)


@dataclass(frozen=True, slots=True)
class Thread:
    """One conversation. `title` is the first question, shortened, until somebody renames it."""

    id: str
    owner: str
    title: str
    created_at: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class Feedback:
    """What somebody said of one answer: +1, -1 or 0 (taken back). `turn` counts from 0."""

    thread: str
    turn: int
    user: str
    value: int
    comment: str
    at: str


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
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        open_database(path, MIGRATIONS).close()
        connection = await aiosqlite.connect(path)
        # Said once more, for langgraph reads the variable when it is first imported, by whomever.
        saver = AsyncSqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
        try:
            with damage_named(path):
                await connection.execute("PRAGMA foreign_keys = ON")
                await connection.execute("PRAGMA synchronous = NORMAL")
                await saver.setup()
        except BaseException:
            await connection.close()
            raise
        return cls(saver, path)

    async def close(self) -> None:
        await self.saver.conn.close()

    async def start(self, owner: str, question: str) -> Thread:
        """A new thread, known before anything is asked in it, so that nothing of it is ever without an owner."""
        at = now()
        thread = Thread(f"t{secrets.token_hex(8)}", owner, _title(question), at, at)
        async with self._writing() as connection:
            await connection.execute(
                "INSERT INTO threads (id, owner, title, created_at, updated_at) VALUES (?, ?, ?, ?, ?)",
                (thread.id, thread.owner, thread.title, at, at),
            )
        return thread

    async def own(self, owner: str, thread: str) -> Thread:
        """The thread, if it is this person's.

        Raises:
            NotFound: there is none, or it is somebody else's; the two are never told apart.
        """
        rows = await self._rows("SELECT * FROM threads WHERE id = ? AND owner = ?", (thread, owner))
        if not rows:
            raise NotFound(f"There is no thread '{thread}' of yours. See them with: argot threads list")
        return _thread(rows[0])

    async def of(self, owner: str) -> list[Thread]:
        """This person's threads, the latest first."""
        rows = await self._rows("SELECT * FROM threads WHERE owner = ? ORDER BY updated_at DESC, id", (owner,))
        return [_thread(row) for row in rows]

    async def touch(self, thread: str) -> None:
        async with self._writing() as connection:
            await connection.execute("UPDATE threads SET updated_at = ? WHERE id = ?", (now(), thread))

    async def rename(self, owner: str, thread: str, title: str) -> Thread:
        await self.own(owner, thread)
        async with self._writing() as connection:
            await connection.execute("UPDATE threads SET title = ? WHERE id = ?", (_title(title), thread))
        return await self.own(owner, thread)

    async def delete(self, owner: str, thread: str) -> Thread:
        """Checkpoints first: a crash in between leaves an empty thread of its owner, never one without an owner."""
        found = await self.own(owner, thread)
        await self.saver.adelete_thread(thread)
        async with self._writing() as connection:
            await connection.execute("DELETE FROM threads WHERE id = ?", (thread,))
        return found

    async def give_feedback(self, owner: str, thread: str, turn: int, value: int, comment: str) -> Feedback:
        """Say what an answer was worth; a later word replaces an earlier one."""
        await self.own(owner, thread)
        said = Feedback(thread, turn, owner, value, comment, now())
        async with self._writing() as connection:
            await connection.execute(
                "INSERT OR REPLACE INTO feedback (thread, turn, user, value, comment, at) VALUES (?, ?, ?, ?, ?, ?)",
                (said.thread, said.turn, said.user, said.value, said.comment, said.at),
            )
        return said

    async def feedback(self, owner: str, thread: str) -> list[Feedback]:
        await self.own(owner, thread)
        rows = await self._rows("SELECT * FROM feedback WHERE thread = ? ORDER BY turn", (thread,))
        return [Feedback(*row) for row in rows]

    async def _rows(self, sql: str, parameters: Sequence[Any]) -> list[Any]:
        with damage_named(self.path):
            async with self.saver.lock, self.saver.conn.execute(sql, parameters) as cursor:
                return list(await cursor.fetchall())

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[aiosqlite.Connection]:
        """A transaction that is on the disk when it is left, and with it every checkpoint written before.

        The checkpoints of a question's dozen steps are not flushed one by one: no kill can lose them, and until the
        question is answered nothing has been promised that a loss of power could break.

        An asker who leaves cancels the saver between a statement and its commit. What was cut off so would stay an
        open transaction of this connection, in everybody's way: it is taken back first.
        """
        connection = self.saver.conn
        with damage_named(self.path):
            async with self.saver.lock:
                await connection.rollback()
                await connection.execute("PRAGMA synchronous = FULL")
                try:
                    yield connection
                    await connection.commit()
                except BaseException:
                    await connection.rollback()
                    raise
                finally:
                    await connection.execute("PRAGMA synchronous = NORMAL")


def _thread(row: Sequence[Any]) -> Thread:
    return Thread(*row)


def _title(text: str) -> str:
    title = " ".join(text.split())
    return title if len(title) <= TITLE_CHARS else f"{title[: TITLE_CHARS - 1]}…"
