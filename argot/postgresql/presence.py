"""Record of the processes that have a knowledge base on PostgreSQL open, held by each connection.

It is a session-level advisory lock, shared by all, which a command that needs exclusive access takes exclusively.
"""

from __future__ import annotations

import time
from typing import Any

import psycopg

from argot.errors import KnowledgeBaseBusy

PATIENCE_SECONDS = 2.0
"""PostgreSQL takes a moment to notice that a process was killed."""
ADVISORY_LOCK_SQL = """l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (CAST(l.classid AS bigint) << 32 | CAST(l.objid AS bigint)) ="""
"""Condition on a row `l` of pg_locks: it is the advisory lock with the given number, and is held."""
_HOLDERS = f"""
    SELECT a.application_name AS program, coalesce(host(a.client_addr), 'this machine') AS address,
        CAST(date_trunc('second', min(a.backend_start)) AS text) AS since, count(*) AS connections
    FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
    WHERE {ADVISORY_LOCK_SQL} $1::bigint
    GROUP BY 1, 2 ORDER BY 1, 2
"""  # noqa: S608


def declare_open(connection: psycopg.Connection[Any], number: int, name: str) -> None:
    """Declare that this connection has the knowledge base open, beside others.

    Raises:
        KnowledgeBaseBusy: another process has exclusive access.
    """
    _take(connection, "pg_try_advisory_lock_shared", number, name)


def take_exclusively(connection: psycopg.Connection[Any], number: int, name: str, program: str) -> None:
    """Take exclusive access to the knowledge base for as long as the connection lasts.

    Args:
        program: the name that others see as the holder.

    Raises:
        KnowledgeBaseBusy: it is open elsewhere; the message names the programs and machines.
    """
    connection.execute("SELECT set_config('application_name', $1, false)", (program,))
    _take(connection, "pg_try_advisory_lock", number, name)


def list_holders(connection: psycopg.Connection[Any], number: int) -> list[str]:
    """List the programs that have the knowledge base open, each with its machine, connections and their beginning."""
    return [
        f"'{one['program']}' on {one['address']}, {one['connections']} connection(s) since {one['since']}"
        for one in connection.execute(_HOLDERS, (number,)).fetchall()
    ]


def _take(connection: psycopg.Connection[Any], lock: str, number: int, name: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        row = connection.execute(f"SELECT {lock}($1::bigint) AS taken", (number,)).fetchone()
        if row and row["taken"]:
            return
        if time.monotonic() > deadline:
            break
        time.sleep(0.1)
    who = "; ".join(list_holders(connection, number))
    raise KnowledgeBaseBusy(
        f"The knowledge base in {name} is in use by {who or 'another program'}. Wait until that is done, or stop it "
        "(argot serve, argot work), and try again."
    )
