"""A PostgreSQL server for tests: in a temporary folder, on a free local port, stopped at the end of the session.

It is the one that Debian installs (`apt-get install postgresql`). It refuses to run as root: root starts it as
`postgres`.
"""

import contextlib
import os
import pwd
import random
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
from psycopg import sql

MISSING = "PostgreSQL is not installed: apt-get install postgresql"


def programs() -> Path | None:
    """Return the folder of `initdb` and `pg_ctl`: Debian's newest, or the one on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    there = shutil.which("initdb")
    return Path(there).resolve().parent if there else None


class PostgresqlServer:
    """A running server and its databases. It may be stopped and started again."""

    def __init__(self, folder: Path, *, durable: bool = False, memory: str = "32MB") -> None:
        bin_folder = programs()
        assert bin_folder is not None, MISSING
        self.programs, self.folder, self.port = bin_folder, folder, _free_port()
        self.data = folder / "data"
        self.durable, self.memory = durable, memory
        folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            # That user needs access to each folder above it, too.
            shutil.chown(folder, _unprivileged().pw_uid)
        # With a locale that does not sort by bytes, since stores must not depend on it.
        locale = ["--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US"]
        self.run("initdb", "-D", self.data, "-U", "argot", "--auth=trust", "--no-sync", "-E", "UTF8", *locale)

    def start(self) -> None:
        limits = f"-c max_connections=200 -c shared_buffers={self.memory} -c autovacuum=off"
        if not self.durable:
            limits += " -c fsync=off"
        options = f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories='' {limits}"
        try:
            self.run("pg_ctl", "-D", self.data, "-w", "-t", "300", "-l", self.folder / "log", "-o", options, "start")
        except AssertionError as error:
            error.add_note((self.folder / "log").read_text()[-3_000:])
            raise

    def stop(self, manner: str = "immediate") -> None:
        """Stop the server. `immediate` is like a crash: connections are cut, and the next start replays the log."""
        self.run("pg_ctl", "-D", self.data, "-w", "-t", "300", "-m", manner, "stop")

    def url(self, database: str) -> str:
        return f"postgresql://argot:secret-of-tests@127.0.0.1:{self.port}/{database}"

    @contextlib.contextmanager
    def database(self) -> Iterator[str]:
        """Return the address of a new database."""
        name = f"t{secrets.token_hex(6)}"
        self.execute(f"CREATE DATABASE {name}")
        yield self.url(name)
        with contextlib.suppress(psycopg.OperationalError):
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(sql.SQL(statement))  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []

    def run(self, program: str, *arguments: object) -> None:
        command = [str(self.programs / program), *map(str, arguments)]
        if os.geteuid() == 0:
            user = _unprivileged()
            command = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", *command]
        log = self.folder.parent / f"{self.folder.name}.{program}.log"
        # Into a file: a pipe would stay open as long as the server that `pg_ctl` starts.
        with log.open("w") as file:
            done = subprocess.run(
                command, cwd="/", stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False
            )
        assert done.returncode == 0, log.read_text()


@contextlib.contextmanager
def running(folder: Path, *, durable: bool = False, memory: str = "32MB") -> Iterator[PostgresqlServer]:
    server = PostgresqlServer(folder, durable=durable, memory=memory)
    server.start()
    try:
        yield server
    finally:
        if (server.data / "postmaster.pid").exists():
            server.stop()


def end_connections(url: str) -> None:
    """Cut every other connection to this database, as a restart of the server does."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
            " WHERE pid != pg_backend_pid() AND datname = current_database()"
        )


def _unprivileged() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise AssertionError("there is no user 'postgres' and no 'nobody' to run PostgreSQL as")


def _free_port() -> int:
    """Return a port below those that the system gives to clients, which would take it while the server restarts."""
    for port in random.sample(range(20_000, 32_000), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port between 20000 and 32000 is free")
