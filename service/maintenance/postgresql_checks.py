"""Checks of a knowledge base's PostgreSQL, for `argot doctor`: the server, and Argot's part of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg

from argot.clock import timestamp
from argot.errors import ArgotError
from argot.postgresql.errors import convert_postgresql_errors
from argot.postgresql.stores import MAX_CONNECTIONS, PostgresqlStores
from argot.remedies import UPDATE, init_command
from argot.service.maintenance.findings import Finding, make_bad_finding, make_good_finding
from argot.service.maintenance.wing_checks import HAS_SLACK_PEOPLE, check_wings
from argot.service.moving.moved_stores import STORES
from argot.service.storage.unfinished_move import refuse_unfinished

NAME = "PostgreSQL"
APART_SECONDS = 2.0
"""Clocks that differ by more than this are a problem: sessions, limits and 'since' depend on them."""
BEHIND_SECONDS = 60
GUARDED_TABLES = ("derived", "document_fields", "documents", "passages", "revisions", "triples")
"""Tables whose row policies hide rows from people who may not read them."""

_ROLE = "SELECT rolname, rolsuper OR rolbypassrls AS passes FROM pg_roles WHERE rolname = current_user"
_SIZE = """
    SELECT count(*) AS tables, coalesce(sum(pg_total_relation_size(oid)), 0) AS bytes FROM pg_class
    WHERE relnamespace = CAST(current_schema() AS regnamespace) AND relkind = 'r'
"""
_GUARDED = """
    SELECT CAST(relname AS text) AS name FROM pg_class WHERE relnamespace = CAST(current_schema() AS regnamespace)
        AND relrowsecurity AND relforcerowsecurity
"""
_CONNECTIONS = """
    SELECT CAST(current_setting('max_connections') AS int) AS most,
        (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used
"""
_STANDBYS = """
    SELECT coalesce(nullif(application_name, ''), CAST(client_addr AS text), 'a standby') AS name, state,
        coalesce(extract(epoch FROM replay_lag), 0) AS seconds,
        pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) AS bytes
    FROM pg_stat_replication ORDER BY 1
"""
_ARCHIVER = """
    SELECT current_setting('archive_mode') AS mode, CAST(last_archived_time AS text) AS last,
        last_failed_time IS NOT NULL AND coalesce(last_failed_time > last_archived_time, true) AS failing,
        last_failed_wal AS failed
    FROM pg_stat_archiver
"""
_ORPHANS = {
    "pieces of originals": ("blob_pieces", "SELECT 1 FROM blobs AS b WHERE b.hash = t.hash"),
    "values of checkpoints": (
        "checkpoint_blobs",
        "SELECT 1 FROM checkpoints AS c WHERE c.thread_id = t.thread_id AND c.checkpoint_ns = t.checkpoint_ns",
    ),
    "checkpoints of no conversation": ("checkpoints", "SELECT 1 FROM threads AS h WHERE h.id = t.thread_id"),
}
"""Orphaned large rows: the table, and the row that each of its rows must belong to."""


def check_postgresql(url: str, schema: str, home: Path) -> Iterator[Finding]:
    """Yield one finding for each check; only the first if the server cannot be reached.

    Args:
        home: the folder of this process.
    """
    try:
        stores = PostgresqlStores(url, schema, most_connections=2)
    except ArgotError as error:
        yield make_bad_finding(NAME, str(error), "see the message")
        return
    try:
        for look in _LOOKS:
            yield from _run_check(stores, look)
        yield from _check_knowledge_base(stores, home)
    finally:
        stores.close()


def measure_schema(stores: PostgresqlStores) -> int:
    """Return the size of all tables of a knowledge base, in bytes.

    Raises:
        StoreUnavailable
    """
    with convert_postgresql_errors(stores.name), stores.connection() as connection:
        return int(_fetch_value(connection, _SIZE)["bytes"])


def _check_knowledge_base(stores: PostgresqlStores, home: Path) -> Iterator[Finding]:
    try:
        refuse_unfinished(home, stores, stores.name)
        if not any(stores.holds(store.name) for store in STORES):
            yield make_bad_finding("knowledge base", f"none in {stores.name}", init_command(home))
        yield from check_wings(stores.holds, home, lambda: _has_slack_people(stores))
    except ArgotError as error:
        yield make_bad_finding("knowledge base", str(error), "see the message")


def _has_slack_people(stores: PostgresqlStores) -> bool:
    with convert_postgresql_errors(stores.name), stores.connection() as connection:
        return _is_there(connection, "slack_people") and bool(_fetch_value(connection, HAS_SLACK_PEOPLE))


Connected = psycopg.Connection[Any]


def _run_check(stores: PostgresqlStores, look: Callable[[Connected], Iterator[Finding]]) -> Iterator[Finding]:
    name = look.__name__.removeprefix("_check_").replace("_", " ")
    try:
        with convert_postgresql_errors(stores.name), stores.connection() as connection:
            connection.execute("SELECT set_config('argot.audience', '*', false)")
            yield from look(connection)
    # Every error is a finding: the doctor continues with all other checks.
    except ArgotError as error:
        yield make_bad_finding(f"{NAME}: {name}", str(error), "see the message")
    except psycopg.Error as error:
        yield make_bad_finding(
            f"{NAME}: {name}", f"{type(error).__name__}: {error}", f"look at the server's log; {UPDATE}"
        )


# -- the server -------------------------------------------------------------------------------------------------------


def _check_server(connection: Connected) -> Iterator[Finding]:
    version = _fetch_value(connection, "SHOW server_version")["server_version"]
    where = f"{connection.info.host}:{connection.info.port}, database {connection.info.dbname}"
    yield make_good_finding(NAME, f"version {version} on {where}, by user {connection.info.user}")
    if _fetch_value(connection, "SELECT pg_is_in_recovery() AS standby")["standby"]:
        yield make_bad_finding(
            f"{NAME}: server", "is a standby, which takes no changes", "name the primary in ARGOT_STORE"
        )
    role = _fetch_value(connection, _ROLE)
    if role["passes"]:
        yield make_bad_finding(
            f"{NAME}: user",
            f"{role['rolname']} bypasses row-level security (superuser or BYPASSRLS): the second wall does not hold",
            "give the schema to an ordinary user, and connect as that one: docs/operations.md, PostgreSQL",
        )
    else:
        yield make_good_finding(f"{NAME}: user", f"{role['rolname']} is an ordinary user, bound by row-level security")


def _check_clock(connection: Connected) -> Iterator[Finding]:
    # Asked twice: the first question may have waited for the network.
    apart = min((_measure_clock_gap(connection) for _ in range(2)), key=abs)
    detail = f"{-apart:.1f} s behind the clock of this machine"
    if apart >= 0:
        detail = f"{apart:.1f} s ahead of the clock of this machine"
    if abs(apart) > APART_SECONDS:
        yield make_bad_finding(f"{NAME}: clock", detail, "set both by NTP: timedatectl set-ntp true")
    else:
        yield make_good_finding(f"{NAME}: clock", detail)


def _measure_clock_gap(connection: Connected) -> float:
    before = time.time()
    there = _fetch_value(connection, "SELECT extract(epoch FROM clock_timestamp()) AS now")["now"]
    return float(there) - (before + time.time()) / 2


def _check_writing(connection: Connected) -> Iterator[Finding]:
    """Make a change that is rolled back, which a full disk or a read-only server refuses like any other."""
    row = ("doctor", 1, timestamp())
    connection.execute("BEGIN", prepare=False)
    try:
        connection.execute("INSERT INTO store_migrations (store, number, additive, at) VALUES ($1, $2, true, $3)", row)
    finally:
        connection.execute("ROLLBACK", prepare=False)
    yield make_good_finding(f"{NAME}: writing", "can be written to")


def _check_connections(connection: Connected) -> Iterator[Finding]:
    row = _fetch_value(connection, _CONNECTIONS)
    detail = f"{row['used']} of {row['most']} in use; each process of Argot takes up to {MAX_CONNECTIONS + 2}"
    if row["most"] - row["used"] < MAX_CONNECTIONS + 2:
        yield make_bad_finding(
            f"{NAME}: connections", detail, "raise max_connections in postgresql.conf, and restart the server"
        )
    else:
        yield make_good_finding(f"{NAME}: connections", detail)


def _check_checksums(connection: Connected) -> Iterator[Finding]:
    on = _fetch_value(connection, "SHOW data_checksums")["data_checksums"] == "on"
    off = "off: a page that its disk changed is not noticed; turn them on while the server is stopped (pg_checksums -e)"
    yield make_good_finding(f"{NAME}: checksums", "on" if on else off)


def _check_standbys(connection: Connected) -> Iterator[Finding]:
    for row in connection.execute(_STANDBYS):
        detail = f"{row['state']}, {float(row['seconds']):.0f} s and {float(row['bytes'] or 0) / 1e6:.1f} MB behind"
        if row["state"] != "streaming" or row["seconds"] > BEHIND_SECONDS:
            yield make_bad_finding(
                f"{NAME}: standby {row['name']}", detail, "look at the standby's log, and at the network to it"
            )
        else:
            yield make_good_finding(f"{NAME}: standby {row['name']}", detail)


def _check_archive(connection: Connected) -> Iterator[Finding]:
    row = _fetch_value(connection, _ARCHIVER)
    if row["mode"] == "off":
        yield make_good_finding(f"{NAME}: archive", "off: the database can be brought back as of its last backup alone")
    elif row["failing"]:
        detail = f"{row['failed']} could not be archived; the disk of the server fills up until it can"
        yield make_bad_finding(f"{NAME}: archive", detail, "see archive_command and the server's log")
    else:
        yield make_good_finding(f"{NAME}: archive", f"on, last at {row['last'] or 'no time yet'}")


# -- what it has of ours ----------------------------------------------------------------------------------------------


def _check_schema(connection: Connected) -> Iterator[Finding]:
    row = _fetch_value(connection, _SIZE)
    yield make_good_finding(f"{NAME}: schema", f"{row['tables']} tables, {row['bytes'] / 1e6:.1f} MB")
    rows = connection.execute(
        "SELECT store, count(*) AS seen, bool_and(additive) AS additive FROM store_migrations GROUP BY store"
    )
    seen = {row["store"]: row["seen"] for row in rows}
    for store in STORES:
        known, there = len(store.migrations), seen.get(store.name, 0)
        if there > known:
            yield make_bad_finding(
                f"{NAME}: store {store.name}", f"a newer Argot wrote it ({there} of {known} steps)", UPDATE
            )
        else:
            detail = f"{there} of {known} steps of its schema" if there else "not needed yet"
            yield make_good_finding(f"{NAME}: store {store.name}", detail)


def _check_policies(connection: Connected) -> Iterator[Finding]:
    there = {row["name"] for row in connection.execute(_GUARDED)}
    if not _is_there(connection, "documents"):
        yield make_good_finding(f"{NAME}: row-level security", "no documents yet")
    elif missing := [name for name in GUARDED_TABLES if name not in there]:
        detail = f"off for {', '.join(missing)}: the second wall does not hold"
        commands = "; ".join(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY" for name in missing)
        yield make_bad_finding(f"{NAME}: row-level security", detail, f"{commands}; and FORCE for each")
    else:
        yield make_good_finding(f"{NAME}: row-level security", f"in force for {len(GUARDED_TABLES)} tables")


def _check_large_rows(connection: Connected) -> Iterator[Finding]:
    for what, (table, owner) in _ORPHANS.items():
        if not _is_there(connection, table):
            continue
        sql = f"SELECT count(*) AS lost FROM {table} AS t WHERE NOT EXISTS ({owner})"  # noqa: S608
        if lost := _fetch_value(connection, sql)["lost"]:
            remedy = f"DELETE FROM {table} AS t WHERE NOT EXISTS ({owner})"  # noqa: S608
            yield make_bad_finding(f"{NAME}: {what}", f"{lost:,} orphaned rows in {table}", remedy)
        else:
            yield make_good_finding(f"{NAME}: {what}", "no orphaned rows")


def _is_there(connection: Connected, table: str) -> bool:
    return bool(_fetch_value(connection, f"SELECT to_regclass('{table}') IS NOT NULL AS there")["there"])


def _fetch_value(connection: Connected, sql: str) -> Any:
    return connection.execute(sql).fetchone()


_LOOKS = (
    _check_server,
    _check_clock,
    _check_writing,
    _check_connections,
    _check_checksums,
    _check_standbys,
    _check_archive,
    _check_schema,
    _check_policies,
    _check_large_rows,
)
