"""A corpus on PostgreSQL and a Chroma server, opened in this process or in others, as an ordinary user of the database.

python shared_corpus.py STORE CHROMA HOME NAME...   # adds these documents; waits for a line on stdin in the middle
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from argot.corpus.corpus import Corpus, Source
from argot.corpus.ingestion.ingest_job import IngestEvent
from argot.service.storage.opened_stores import open_corpus_store, open_stores
from argot.settings import Settings

ROLE = "librarian"
"""A user as an organisation would have it: what rows it sees depends on the policies, as for no superuser."""


def as_ordinary_user(server: Any, url: str) -> str:
    """Return the address of a test database for that user, who may create schemas in it."""
    if not server.execute(f"SELECT 1 FROM pg_roles WHERE rolname = '{ROLE}'"):
        server.execute(f"CREATE ROLE {ROLE} LOGIN")
    server.execute(f"GRANT CREATE ON DATABASE {url.rpartition('/')[2]} TO {ROLE}")
    return url.replace("argot:secret-of-tests@", f"{ROLE}@")


@contextmanager
def shared_corpus(store: str, chroma: str, home: Path) -> Iterator[Corpus]:
    settings = Settings(home=home, store=store, chroma_url=chroma, chroma_seconds=60, threads=1)
    stores = open_stores(home, settings)
    try:
        corpus = Corpus.open(home, settings, store=open_corpus_store(home, settings, stores))
        try:
            yield corpus
        finally:
            corpus.close()
    finally:
        stores.close()


def put_in(corpus: Corpus, *names: str, **labels: Any) -> list[IngestEvent]:
    return [
        event
        for event in corpus.add([source(name) for name in names], **labels)
        if event.kind not in ("found", "progress", "done")
    ]


def source(name: str) -> Source:
    return Source(f"test:///{name}", name, f"# {name}\n\nThe pump of {name} is checked.\n".encode)


def stop_before(corpus: Corpus) -> None:
    """Let the next group wait for a line on standard input, when its vectors and originals are written and its rows are
    not."""
    write = corpus.vectors.upsert

    def waiting(*given: Any) -> None:
        write(*given)
        print("under way", flush=True)
        sys.stdin.readline()

    corpus.vectors.upsert = waiting  # type: ignore[method-assign]


if __name__ == "__main__":
    with shared_corpus(sys.argv[1], sys.argv[2], Path(sys.argv[3])) as opened:
        stop_before(opened)
        print([event.kind for event in put_in(opened, *sys.argv[4:])][-1], flush=True)
