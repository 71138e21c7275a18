"""Test of restoring PostgreSQL to a moment from a base backup and the archived log (docs/operations.md)."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgresql_server import MISSING, PostgresqlServer, programs

from argot.postgresql.stores import PostgresqlStores
from argot.service.identity.people import People

pytestmark = pytest.mark.skipif(programs() is None, reason=MISSING)


@pytest.fixture
def server() -> Iterator[PostgresqlServer]:
    with tempfile.TemporaryDirectory(prefix="argot-archived-") as folder:
        Path(folder).chmod(0o777)
        server = PostgresqlServer(Path(folder) / "server")
        configure(server, f"archive_mode = on\narchive_command = 'cp %p {archive(server)}/%f'\n")
        archive(server).mkdir(mode=0o777)
        archive(server).chmod(0o777)
        server.start()
        try:
            yield server
        finally:
            server.stop()


def archive(server: PostgresqlServer) -> Path:
    return server.folder.parent / "archive"


def configure(server: PostgresqlServer, lines: str) -> None:
    with (server.data / "postgresql.conf").open("a") as file:
        file.write(lines)


def now(server: PostgresqlServer) -> str:
    """Return the server's own time, which lies between two commits whatever the machine's clock does."""
    time.sleep(0.05)
    said = str(server.execute("SELECT CAST(clock_timestamp() AS text)")[0][0])
    time.sleep(0.05)
    return said


def put(server: PostgresqlServer, name: str) -> None:
    stores = PostgresqlStores(server.url("postgres"))
    People(stores).add(name)
    stores.close()


def there(server: PostgresqlServer) -> list[str]:
    stores = PostgresqlStores(server.url("postgres"))
    found = [user.name for user in People(stores).users()]
    stores.close()
    return found


def archived(server: PostgresqlServer) -> None:
    """Wait until everything written so far is in the archive."""
    (name,) = server.execute("SELECT pg_walfile_name(pg_switch_wal())")[0]
    for _ in range(600):
        # The server tells when the copy is complete; the file is there as soon as it begins.
        (last,) = server.execute("SELECT last_archived_wal FROM pg_stat_archiver")[0]
        if str(last or "").partition(".")[0] >= str(name):
            return
        time.sleep(0.1)
    raise AssertionError(f"{name} was not archived")


def base_backup(server: PostgresqlServer, name: str) -> Path:
    folder = server.folder.parent / name
    place = ("-h", "127.0.0.1", "-p", server.port, "-U", "argot")
    server.run("pg_basebackup", *place, "-D", folder, "-c", "fast", "--no-sync")
    return folder


def recover(server: PostgresqlServer, base: Path, moment: str) -> None:
    """Replace the lost folder of the server with the base backup, and replay the log up to that moment."""
    server.stop()
    shutil.rmtree(server.data)
    base.rename(server.data)
    configure(
        server,
        f"restore_command = 'cp {archive(server)}/%f %p'\n"
        f"recovery_target_time = '{moment}'\n"
        "recovery_target_timeline = 'current'\n"
        "recovery_target_action = 'promote'\n",
    )
    (server.data / "recovery.signal").touch()
    server.start()


def test_the_database_is_restored_to_before_and_after_a_change(server: PostgresqlServer) -> None:
    put(server, "ann")
    first, second = base_backup(server, "first"), base_backup(server, "second")
    before = now(server)
    put(server, "ben")
    after = now(server)
    stores = PostgresqlStores(server.url("postgres"))
    with stores.connection() as connection:
        connection.execute("DROP SCHEMA argot CASCADE")
    stores.close()
    archived(server)

    recover(server, first, before)
    assert there(server) == ["ann"]

    recover(server, second, after)
    assert there(server) == ["ann", "ben"]
    # The restored server accepts changes.
    put(server, "cyd")
    assert there(server) == ["ann", "ben", "cyd"]
