"""Tests of `argot doctor` on a knowledge base on PostgreSQL: each fault by name, with its remedy."""

from pathlib import Path
from typing import Any

import pytest

from argot.clock import timestamp
from argot.corpus.corpus_schema import MIGRATIONS
from argot.corpus.postgresql_database import PostgresqlCorpusDatabase
from argot.corpus.store.database_blobs import DatabaseBlobs
from argot.postgresql.stores import PostgresqlStores
from argot.service.maintenance import postgresql_checks
from argot.service.maintenance.findings import Finding
from argot.service.maintenance.postgresql_checks import check_postgresql
from argot.service.storage.unfinished_move import UnfinishedMove, note_move

ROLE = "doctors_user"


@pytest.fixture
def url(postgresql_server: Any, postgresql_url: str) -> str:
    """Provide the address of an ordinary user, to whom row policies apply."""
    if not postgresql_server.execute(f"SELECT 1 FROM pg_roles WHERE rolname = '{ROLE}'"):
        postgresql_server.execute(f"CREATE ROLE {ROLE} LOGIN")
    postgresql_server.execute(f"GRANT CREATE ON DATABASE {postgresql_url.rpartition('/')[2]} TO {ROLE}")
    return postgresql_url.replace("argot:secret-of-tests@", f"{ROLE}@")


def found(url: str) -> dict[str, Finding]:
    return {one["name"].removeprefix("PostgreSQL: "): one for one in check_postgresql(url, "argot", Path("kb"))}


def faults(url: str) -> dict[str, Finding]:
    return {name: one for name, one in found(url).items() if not one["ok"]}


def run(url: str, *statements: str) -> None:
    stores = PostgresqlStores(url)
    with stores.connection() as connection:
        for statement in statements:
            connection.execute(statement)
    stores.close()


def test_doctor_finds_no_fault_in_a_sound_postgresql(url: str) -> None:
    assert list(faults(url)) == ["knowledge base"]
    stores = PostgresqlStores(url)
    PostgresqlCorpusDatabase(stores)
    DatabaseBlobs(stores)
    stores.close()
    said = found(url)
    assert not faults(url) and said["PostgreSQL"]["detail"].startswith("version ")
    assert said["row-level security"]["detail"] == "in force for 6 tables"
    assert "ordinary user" in said["user"]["detail"] and "MB" in said["schema"]["detail"]
    assert said["store corpus"]["detail"] == f"{len(MIGRATIONS)} of {len(MIGRATIONS)} steps of its schema"


def test_doctor_names_each_fault_of_postgresql_with_a_remedy(
    url: str, postgresql_url: str, postgresql_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = PostgresqlStores(url)
    PostgresqlCorpusDatabase(stores)
    DatabaseBlobs(stores)
    note_move(Path("kb"), stores, UnfinishedMove("/srv/kb", "", timestamp()))
    stores.close()
    run(
        url,
        "ALTER TABLE revisions DISABLE ROW LEVEL SECURITY",
        "INSERT INTO blob_pieces (hash, piece, data) VALUES ('ab', 0, 'x')",
        "INSERT INTO store_migrations (store, number, additive, at) VALUES ('corpus', 99, true, '')",
    )
    # The machine's clock is an hour behind.
    real = postgresql_checks.time.time
    monkeypatch.setattr(postgresql_checks.time, "time", lambda: real() - 3600)
    said = faults(url)
    assert set(said) == {"clock", "row-level security", "pieces of originals", "store corpus", "knowledge base"}
    assert "3600.0 s ahead" in said["clock"]["detail"] and "NTP" in said["clock"]["remedy"]
    assert "revisions" in said["row-level security"]["detail"] and "ENABLE ROW" in said["row-level security"]["remedy"]
    assert said["pieces of originals"]["remedy"].startswith("DELETE FROM blob_pieces")
    assert "moved there from /srv/kb" in said["knowledge base"]["detail"]
    monkeypatch.undo()
    assert "superuser" in faults(postgresql_url)["user"]["detail"]
    postgresql_server.execute(f"ALTER ROLE {ROLE} SET default_transaction_read_only = on")
    try:
        assert "default_transaction_read_only" in faults(url)["writing"]["detail"]
    finally:
        postgresql_server.execute(f"ALTER ROLE {ROLE} RESET default_transaction_read_only")


def test_doctor_reports_an_unreachable_postgresql_as_one_finding() -> None:
    (said,) = check_postgresql("postgresql://argot:secret@127.0.0.1:1/argot", "argot", Path("kb"))
    assert not said["ok"] and "Start PostgreSQL" in said["detail"] and "secret" not in str(said)
