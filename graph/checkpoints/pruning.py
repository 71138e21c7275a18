"""Removal of a thread's older checkpoints once a turn has ended.

LangGraph writes one checkpoint a step, each with the whole state. The last one is all a thread needs: the turns before
stand in it, and a turn that is under way or waits has the newest checkpoint anyhow.
"""

from __future__ import annotations

from langgraph.types import Checkpointer

_OLDER = (
    "DELETE FROM {table} WHERE thread_id = :thread AND checkpoint_ns = '' AND checkpoint_id < "
    "(SELECT MAX(checkpoint_id) FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = '')"
)


async def keep_latest(checkpointer: Checkpointer, thread: str) -> None:
    """Deletes the thread's older checkpoints. Other kinds of checkpointers keep what they keep."""
    # LangGraph's type allows True and False, too. Only those with a database pay for the import below.
    if checkpointer is None or isinstance(checkpointer, bool) or not hasattr(checkpointer, "conn"):
        return
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    if not isinstance(checkpointer, AsyncSqliteSaver):
        # LangGraph's saver for PostgreSQL can do it itself.
        await checkpointer.aprune([thread], strategy="keep_latest")
        return
    async with checkpointer.lock:
        # Both go by the newest checkpoint, so that what is cut off between the two is made good after the next turn.
        for table in ("writes", "checkpoints"):
            await checkpointer.conn.execute(_OLDER.format(table=table), {"thread": thread})
        await checkpointer.conn.commit()
