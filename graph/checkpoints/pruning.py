"""Removal of a thread's older checkpoints once a turn has ended.

LangGraph writes one checkpoint per step, each with the whole state. A thread needs only the last one: it contains the
earlier turns, and the newest checkpoint also serves a turn that is running or waiting.
"""

from __future__ import annotations

from langgraph.types import Checkpointer

_OLDER = (
    "DELETE FROM {table} WHERE thread_id = :thread AND checkpoint_ns = '' AND checkpoint_id < "
    "(SELECT MAX(checkpoint_id) FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = '')"
)


async def keep_latest(checkpointer: Checkpointer, thread: str) -> None:
    """Delete the thread's older checkpoints. Checkpointers of other kinds keep them."""
    # LangGraph's type also allows True and False. The import below is slow, so it runs only for checkpointers with a
    # database.
    if checkpointer is None or isinstance(checkpointer, bool) or not hasattr(checkpointer, "conn"):
        return
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    if not isinstance(checkpointer, AsyncSqliteSaver):
        # LangGraph's saver for PostgreSQL can do it itself.
        await checkpointer.aprune([thread], strategy="keep_latest")
        return
    async with checkpointer.lock:
        # Both deletions look up the newest checkpoint, so that one that is interrupted is completed after the next
        # turn.
        for table in ("writes", "checkpoints"):
            await checkpointer.conn.execute(_OLDER.format(table=table), {"thread": thread})
        await checkpointer.conn.commit()
