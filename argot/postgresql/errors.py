"""PostgreSQL's errors turned into Argot's: each names the remedy, and none contains a password."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors as pg
from psycopg_pool import PoolClosed, PoolTimeout

from argot.errors import ArgotError, DamagedStore, InvalidInput, StoreUnavailable

_RESTORE = "Restore the database from a backup of PostgreSQL's, as its handbook says (pg_restore, or point in time)"
_START = "Start PostgreSQL, or see that this machine reaches it"
_REMEDIES: tuple[tuple[type[psycopg.Error], str], ...] = (
    (pg.DiskFull, "Free some space on the disk of PostgreSQL"),
    (pg.OutOfMemory, "Free some memory on the machine of PostgreSQL"),
    (pg.TooManyConnections, "Raise max_connections of PostgreSQL, or run fewer processes on it"),
    (pg.ReadOnlySqlTransaction, "Name the primary server, or let this user write (default_transaction_read_only)"),
    (pg.InsufficientPrivilege, "Let its user make a schema and tables there (GRANT CREATE ON DATABASE)"),
    (pg.InvalidPassword, "Give the password of its user"),
    (pg.InvalidAuthorizationSpecification, "Let its user in (pg_hba.conf), or name another"),
    (pg.InvalidCatalogName, "Make the database (createdb), or name another"),
    (pg.UndefinedTable, "Restore it from a backup of PostgreSQL's: tables are missing"),
    (pg.LockNotAvailable, "Wait for the program that writes there, or end that one"),
    (pg.QueryCanceled, "Wait for the program that writes there, or see what keeps PostgreSQL busy"),
    (pg.IdleInTransactionSessionTimeout, "See what kept this process busy"),
    (pg.DeadlockDetected, "Wait a moment"),
    (pg.SerializationFailure, "Wait a moment"),
    (pg.FeatureNotSupported, "Wait a moment"),
    (PoolTimeout, _START),
    (psycopg.OperationalError, _START),
)
"""The first that matches; the last one is a connection that is lost, or was never made."""
_DRIVER_MESSAGES: tuple[tuple[str, type[psycopg.Error]], ...] = (
    ("password", pg.InvalidPassword),
    ("pg_hba.conf", pg.InvalidAuthorizationSpecification),
    ('FATAL: role "', pg.InvalidAuthorizationSpecification),
    ('FATAL: database "', pg.InvalidCatalogName),
    ("too many clients", pg.TooManyConnections),
    ("connection slots", pg.TooManyConnections),
)
"""The server's messages when it refuses a connection: libpq passes on its words, and no code."""
_DAMAGE = (pg.DataCorrupted, pg.IndexCorrupted)


def is_lost(error: psycopg.Error, connection: psycopg.Connection[Any]) -> bool:
    """Return whether the connection is unusable, and its statement was not run."""
    # The second concerns a statement prepared before a newer Argot changed the table.
    outdated = isinstance(error, pg.FeatureNotSupported) and "cached plan" in str(error)
    gone = isinstance(error, pg.AdminShutdown | pg.CrashShutdown | pg.CannotConnectNow)
    return connection.closed or gone or outdated


def explain_postgresql_error(name: str, error: psycopg.Error) -> ArgotError | None:
    """Return Argot's error for one of PostgreSQL's; None if one of Argot's statements is at fault.

    Args:
        name: the server and schema, without a password.
    """
    if isinstance(error, _DAMAGE):
        return DamagedStore(f"{name} is damaged: {_join_lines(error)}. {_RESTORE}.")
    # The driver reports the first for texts, the server the second for JSON.
    if isinstance(error, psycopg.DataError) and ("NUL" in str(error) or "\\u0000" in str(error)):
        return InvalidInput("There is a NUL character in the text, so PostgreSQL cannot store it. Take it out.")
    reason = _join_lines(error)
    met = next((kind for words, kind in _DRIVER_MESSAGES if error.sqlstate is None and words in reason), type(error))
    for kind, remedy in _REMEDIES:
        if issubclass(met, kind):
            return StoreUnavailable(f"{name} cannot be used: {_join_lines(error)}. {remedy}, and try again.", remedy)
    return None


@contextmanager
def convert_postgresql_errors(name: str) -> Iterator[None]:
    """Turn PostgreSQL's errors of the server, the disk or the network into ones with a remedy.

    Raises:
        DamagedStore, StoreUnavailable, InvalidInput
    """
    try:
        yield
    except PoolClosed:
        raise StoreUnavailable(f"{name} cannot be used: the store is closed.") from None
    except psycopg.Error as error:
        if found := explain_postgresql_error(name, error):
            raise found from error
        raise


def _join_lines(error: psycopg.Error) -> str:
    # On one line, and without its last stop: libpq writes one line for each address that it tried.
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
