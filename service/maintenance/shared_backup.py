"""Backup and restore of a knowledge base on PostgreSQL, in the same file format as for a folder: either reads it.

A backup is a copy of all stores as of one moment into a folder, row by row, which is then packed like any other. A
restore unpacks and checks first, then copies into a second schema, and replaces the present one by it in a single
transaction.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from argot.databases import Stores
from argot.errors import Conflict
from argot.postgresql.errors import convert_postgresql_errors
from argot.postgresql.moment import open_moment
from argot.remedies import restore_command
from argot.service.maintenance.backup import COPIES, Backup, refuse_place, unpack_checked, write_stores
from argot.service.moving.base_moving import copy_base
from argot.service.moving.places import MovePlace, lock_folder, make_folder_place, open_place
from argot.service.moving.sides import SchemaSide
from argot.service.storage import restore
from argot.service.storage.missing_wings import require_wings
from argot.service.storage.opened_stores import require_postgresql
from argot.settings import Settings

if TYPE_CHECKING:
    from argot.postgresql.stores import PostgresqlStores

PROGRAM = "argot restore"


def write_shared_backup(home: Path, settings: Settings, stores: Stores, path: Path) -> Backup:
    """Write it; others may go on writing: the packed state is of one moment. The copy takes space in `home` meanwhile.

    Raises:
        InvalidInput: the file cannot be written there.
        MissingWing: a wing that is not installed has a store, which nobody could copy.
        DamagedStore, StoreUnavailable
    """
    refuse_place(home, path)
    require_wings(stores.holds)
    with tempfile.TemporaryDirectory(prefix=COPIES, dir=home) as copies:
        with open_moment(require_postgresql(stores)) as then:
            copy_base(MovePlace(then.name, home, settings, then, SchemaSide(then)), make_folder_place(Path(copies)))
        return write_stores(Path(copies), path)


def restore_shared_backup(home: Path, settings: Settings, path: Path, *, force: bool = False) -> Backup:
    """Restore a knowledge base on PostgreSQL from a backup.

    Raises:
        Conflict: there is a knowledge base, and `force` is not given.
        KnowledgeBaseBusy: somebody has it open.
        InvalidInput: the file is no backup, or not whole. Nothing was changed.
        MissingWing: it has a store of a wing that is not installed. Nothing was changed.
        StoreUnavailable
    """
    home = home.expanduser().absolute()
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with ExitStack() as stack:
        stack.enter_context(lock_folder(home))
        there = stack.enter_context(open_place(home, settings, PROGRAM))
        if there.is_begun and not force:
            raise Conflict(f"There is a knowledge base in {there.name}. To replace it: {restore_command(home)}")
        scratch = restore.make_staging_folder(home)
        stack.callback(restore.remove_path, scratch)
        members = unpack_checked(path, scratch)
        require_wings(make_folder_place(scratch).stores.holds)
        beside = settings.replace(store_schema=f"{settings.storage.schema_name[:36]}_restoring")
        _copy_beside(scratch, home, beside)
        _exchange_schemas(require_postgresql(there.stores), beside.storage.schema_name)
    return Backup(path, len(members), sum(member.size for member in members))


def _copy_beside(scratch: Path, home: Path, settings: Settings) -> None:
    """Copy into a separate schema, which is emptied first."""
    with open_place(home, settings, PROGRAM) as beside:
        name = sql.Identifier(settings.storage.schema_name)
        anew = sql.SQL("DROP SCHEMA {name} CASCADE; CREATE SCHEMA {name}").format(name=name)
        _execute(require_postgresql(beside.stores), anew)
    # Opened again: the records of each store's migrations were deleted with the schema.
    with open_place(home, settings, PROGRAM) as beside:
        copy_base(make_folder_place(scratch), beside)


def _exchange_schemas(there: PostgresqlStores, beside: str) -> None:
    """Put the restored base in place in one transaction, with the id by which a Chroma server identifies it."""
    names = {"old": sql.Identifier(there.schema), "new": sql.Identifier(beside)}
    with (
        convert_postgresql_errors(there.name),
        psycopg.connect(there.conninfo, **there.options) as connection,
        connection.transaction(),
    ):
        known = connection.execute("SELECT to_regclass('meta') IS NOT NULL AS there").fetchone()
        if known and known["there"]:
            keep = "INSERT INTO {new}.meta (key, value) SELECT key, value FROM {old}.meta WHERE key = 'server_id'"
            connection.execute(sql.SQL(keep).format(**names))
        connection.execute(sql.SQL("DROP SCHEMA {old} CASCADE").format(**names))
        connection.execute(sql.SQL("ALTER SCHEMA {new} RENAME TO {old}").format(**names))


def _execute(stores: PostgresqlStores, statement: Any) -> None:
    with convert_postgresql_errors(stores.name), stores.connection() as connection:
        connection.execute(statement, prepare=False)
