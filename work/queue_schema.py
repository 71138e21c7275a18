"""The tables of the queue: procrastinate's own, and Argot's notes on each job beside them.

procrastinate does not record which of its migrations were applied to a database. So each of its migration files is one
of Argot's numbered migrations, in the order of the file names. A new release of procrastinate adds its files.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from argot.databases import AdditiveMigration, PostgresqlMigration, StoreMigration

QUEUE_STORE = "procrastinate"
NOTES_STORE = "jobs"

NOTES: Sequence[StoreMigration] = (
    # Times are PostgreSQL's: the clocks of the workers' machines may differ.
    PostgresqlMigration(
        """
        CREATE TABLE job_notes (
            job BIGINT PRIMARY KEY REFERENCES procrastinate_jobs (id) ON DELETE CASCADE,
            kind TEXT NOT NULL,
            label TEXT NOT NULL,
            key TEXT NOT NULL,
            asked_by TEXT NOT NULL,
            parameters TEXT NOT NULL,
            put_at TIMESTAMPTZ NOT NULL DEFAULT now(),
            started_at TIMESTAMPTZ,
            ended_at TIMESTAMPTZ,
            aside BOOLEAN NOT NULL DEFAULT false,
            tries INTEGER NOT NULL DEFAULT 0,
            put_off INTEGER NOT NULL DEFAULT 0,
            done BIGINT NOT NULL DEFAULT 0,
            total BIGINT NOT NULL DEFAULT 0,
            doing TEXT NOT NULL DEFAULT '',
            error TEXT NOT NULL DEFAULT '',
            error_kind TEXT NOT NULL DEFAULT '',
            worker TEXT NOT NULL DEFAULT '',
            outcome TEXT
        );
        CREATE INDEX job_notes_key ON job_notes (key) WHERE key <> '';
        CREATE TABLE job_data (
            job BIGINT PRIMARY KEY REFERENCES procrastinate_jobs (id) ON DELETE CASCADE,
            data BYTEA NOT NULL
        );
        CREATE TABLE job_workers (
            worker TEXT PRIMARY KEY,
            kinds TEXT[] NOT NULL,
            seen TIMESTAMPTZ NOT NULL DEFAULT now()
        )
        """
    ),
)


def list_queue_migrations() -> list[StoreMigration]:
    """Return the migrations of the installed procrastinate, oldest first. Only its `pre` ones suit older releases."""
    folder = resources.files("procrastinate.sql") / "migrations"
    files = sorted((one for one in folder.iterdir() if one.name.endswith(".sql")), key=lambda one: one.name)
    return [_make_migration(one.name, one.read_text("utf-8")) for one in files]


def _make_migration(name: str, script: str) -> StoreMigration:
    written = PostgresqlMigration(script)
    return AdditiveMigration(written) if "_pre_" in name else written
