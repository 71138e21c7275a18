"""A document store on each engine, for the suites that both must pass."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from argot.corpus.postgresql_database import PostgresqlCorpusDatabase
from argot.corpus.store.blobs import FolderBlobs
from argot.corpus.store.document_store import CorpusStore
from argot.postgresql.stores import PostgresqlStores

ENGINES = ("sqlite", "postgresql")
ROLE = "librarian"
"""A user as an organisation would have it: what rows it sees depends on the policies, as for no superuser."""


@contextlib.contextmanager
def corpus_store(engine: str, folder: Path, request: pytest.FixtureRequest) -> Iterator[CorpusStore]:
    """Open an empty store. `request` gives the server, which is not started for SQLite."""
    if engine == "sqlite":
        opened = CorpusStore.open(folder / "corpus.db")
        yield opened
        opened.close()
        return
    server = request.getfixturevalue("postgresql_server")
    with server.database() as url:
        database = url.rpartition("/")[2]
        if not server.execute(f"SELECT 1 FROM pg_roles WHERE rolname = '{ROLE}'"):
            server.execute(f"CREATE ROLE {ROLE} LOGIN")
        server.execute(f"GRANT CREATE ON DATABASE {database} TO {ROLE}")
        stores = PostgresqlStores(url.replace("argot:secret-of-tests@", f"{ROLE}@"))
        try:
            yield CorpusStore(PostgresqlCorpusDatabase(stores), FolderBlobs(folder / "blobs"))
        finally:
            stores.close()
